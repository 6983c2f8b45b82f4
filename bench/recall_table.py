"""Recall of several tasks side by side: what a command prints as JSON, and the table of it.

Rules that this module owns: a row of the table is a task at one k; where all retrievers find everything, the
row is left out and the caption of the table has to say so. ``None`` stands where no interval can be had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.recall import RecallRow

ALL_BP = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecall:
    """Recall of some retrievers on one task.

    Attributes:
        samples: Evaluated samples.
        asked: Those with gold spans.
        passages: Passages of all asked samples together.
        corpus: Documents that the samples share; 0 where they bring their own.
        refused: Rows that did not become samples.
    """

    task: str
    content_digest: str
    chunk: str
    corpus: int
    samples: int
    asked: int
    passages: int
    refused: int
    bootstrap: int
    rows: tuple[RecallRow, ...]

    def to_value(self) -> dict[str, Any]:
        """Plain JSON data."""
        value: dict[str, Any] = {
            name: getattr(self, name) for name in self.__slots__ if name not in ("asked", "rows")
        }
        return {**value, "recall": [row.to_value() for row in self.rows]}


def recall_markdown(tasks: Sequence[TaskRecall], retrievers: Sequence[str]) -> list[str]:
    """The table for people, as Markdown; percent with 95 % interval."""
    head = ("task", "n", "spans", "passages a sample", "k", *retrievers)
    lines = [f"| {' | '.join(head)} |", "|---|" + "--:|" * 4 + "---|" * len(retrievers)]
    for task in tasks:
        told = False
        for k in dict.fromkeys(row.k for row in task.rows):
            cells = {row.retriever: row for row in task.rows if row.k == k}
            if all(row.mean_bp == ALL_BP for row in cells.values()):
                continue
            spans = next(iter(cells.values())).spans
            about = (f"`{task.task}`", f"{task.asked:,}", f"{spans:,}", f"{task.passages / task.asked:.1f}")
            shown = ("", "", "", "") if told else about
            told = True
            lines.append(f"| {' | '.join((*shown, str(k), *(_cell(cells[name]) for name in retrievers)))} |")
    return lines


def _cell(row: RecallRow) -> str:
    mean = "none" if row.mean_bp is None else f"{row.mean_bp / 100:.1f}"
    if row.low_bp is None or row.high_bp is None:
        return mean
    return f"{mean} ({row.low_bp / 100:.1f} to {row.high_bp / 100:.1f})"
