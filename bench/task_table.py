"""What every task holds: rows, gold, repairs and refusals, of whole files and without examples.

Rules that this module owns:

* A task is loaded as its shipped config says, with ``limit=null task.examples=0``.
* A task that cannot be loaded is a line with the reason, never a missing line.
* ``custom`` and ``squad`` are files of the user's own: without one they have nothing to count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.config import to_spec
from bench.data_counts import by_code
from bench.hydra_app import compose_config
from tasks.base import TaskData, TaskError
from tasks.registry import TASKS, load_task

WHOLE = ("limit=null", "task.examples=0")
OF_THE_USER = ("custom", "squad")
HEAD = ("task", "rows", "samples", "with gold", "gold spans", "exact", "repaired", "refused")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """The counts of one task.

    Attributes:
        rows: Rows read; ``None`` where the task does not say (it makes its rows).
        with_gold: Samples with gold spans.
        spans: Their gold spans, each range of a sample once.
        exact: Gold places where the data say; one range may be named by several answers.
        repaired: Gold places found elsewhere, by class; ``left_out``: not found, the row has others.
        refused: Rows by code.
        error: Why there are no counts.
    """

    task: str
    rows: int | None = None
    samples: int = 0
    with_gold: int = 0
    spans: int = 0
    exact: int = 0
    repaired: Mapping[str, int] | None = None
    refused: Mapping[str, int] | None = None
    content_digest: str | None = None
    error: str | None = None

    def to_value(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {name: getattr(self, name) for name in self.__slots__}


def table_names() -> tuple[str, ...]:
    """The tasks of the table."""
    return tuple(name for name in sorted(TASKS) if name not in OF_THE_USER)


def count_tasks(names: Sequence[str], advance: Callable[[int], object]) -> list[TaskRow]:
    """Load every task and count, in the order given."""
    rows = []
    for name in names:
        try:
            spec = to_spec(compose_config([f"task={name}", *WHOLE]))
            rows.append(count_task(name, load_task(spec.task)))
        except TaskError as error:
            rows.append(TaskRow(task=name, error=str(error)))
        advance(1)
    return rows


def count_task(name: str, data: TaskData) -> TaskRow:
    """The counts of loaded data."""
    return TaskRow(
        task=name,
        rows=data.read,
        samples=len(data.samples),
        with_gold=sum(bool(one.gold.spans) for one in data.samples),
        spans=sum(len(one.gold.spans) for one in data.samples),
        exact=data.exact,
        repaired=data.repaired,
        refused=by_code(data.refused),
        content_digest=data.content_digest,
    )


def markdown(rows: Sequence[TaskRow]) -> list[str]:
    """The table for people, as Markdown."""
    lines = [f"| {' | '.join(HEAD)} |", "|---|" + "--:|" * 5 + "---|---|"]
    return lines + [_line(row) for row in rows]


def _line(row: TaskRow) -> str:
    if row.error is not None:
        return f"| `{row.task}` | not loaded: {row.error} | | | | | | |"
    numbers = (row.rows, row.samples, row.with_gold, row.spans, row.exact)
    shown = [f"{n:,}" if n is not None else "-" for n in numbers]
    return f"| `{row.task}` | {' | '.join(shown)} | {_classes(row.repaired)} | {_classes(row.refused)} |"


def _classes(counts: Mapping[str, int] | None) -> str:
    return ", ".join(f"`{name}` {n:,}" for name, n in (counts or {}).items())
