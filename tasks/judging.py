"""Judging rows one by one: what becomes of each, with none lost.

The rules:

- Every row is judged, whatever the limit, in the order of the file.
- A row that cannot be used is refused with its place, a code and a reason; the others go on.
- Of two rows with one id the first stays.
- rows read = rows kept + rows refused; the count of rows read is the reader's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from tasks.base import RefusedRow
from tasks.fields import RowRefused
from tasks.rows import RawRow

K = TypeVar("K")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts(Generic[K]):
    """What became of the rows of a set.

    Attributes:
        kept: The rows that can be used, with their numbers and their places.
        refused: The others, by their numbers.
        read: How many rows there were.
    """

    kept: tuple[tuple[int, str, K], ...]
    refused: Mapping[int, RefusedRow]
    read: int

    def all_refused(self, later: Mapping[int, RefusedRow] | None = None) -> tuple[RefusedRow, ...]:
        """The refused rows in the order of the file, with those that were refused later."""
        together = {**self.refused, **(later or {})}
        return tuple(together[number] for number in sorted(together))


def judge_all(
    raw_rows: Iterable[RawRow], make: Callable[[RawRow], K], name_of: Callable[[K], str]
) -> Verdicts[K]:
    """Judge all rows.

    Args:
        raw_rows: The rows.
        make: Makes the row to keep, or raises ``RowRefused``.
        name_of: Its id.
    """
    kept: list[tuple[int, str, K]] = []
    refused: dict[int, RefusedRow] = {}
    seen: set[str] = set()
    read = 0
    for number, raw in enumerate(raw_rows):
        read += 1
        try:
            one = make(raw)
            name = name_of(one)
            if name in seen:
                raise RowRefused("row.id.duplicate", "/id", f"the id {name!r} again; the first row stays")
        except RowRefused as error:
            refused[number] = error.as_row(raw.where)
            continue
        seen.add(name)
        kept.append((number, raw.where, one))
    return Verdicts(kept=tuple(kept), refused=refused, read=read)
