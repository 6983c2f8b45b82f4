"""What every reader gives: raw rows, one after the other, and what is known of where they come from.

The rules:

- A reader is read once, row by row: nothing here needs the whole of a file in memory. What stays is
  what a form makes of the rows.
- Which bytes were read is known when the last row has been read (:attr:`Rows.revision`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRow:
    """One row as read: where it stands (for people) and its value, faults included."""

    where: str
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of one set: as read, how they are obtained, and which bytes or commit they are.

    Attributes:
        rows: To be read once.
        origin: For people: ``hub``, ``local JSON``, ``local JSON Lines``, ``local Parquet``, ``local Arrow``.
        revision: The commit on the hub; for local files ``file:<ContentId of their bytes>``. To be asked
            after the rows have been read.
    """

    rows: Iterable[RawRow]
    origin: str
    revision: Callable[[], str]

    def split(self, parts: Callable[[RawRow], Iterator[RawRow]]) -> Rows:
        """The same set with every row split into others."""
        return replace(self, rows=(one for raw in self.rows for one in parts(raw)))


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSet:
    """A data set on the hub: the repository, and which of its files (a pattern) hold the rows."""

    repo: str
    files: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Where a data set lies.

    Attributes:
        file: Its file below ``task.data_dir``; a pattern where it has several.
        hub: Its repository on the hub; ``None`` where none is known that holds it.
    """

    file: str
    hub: HubSet | None = None
