"""What became of the expected answers: answered, no quote, empty, error, void.

No class leaves the denominator; the five counts sum to the expected samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.records import ScoreRow

EMPTY = "answer.empty"
NO_QUOTE = "answer.no_quote"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCounts:
    """``answered`` holds at least one quote, finished or not."""

    n: int
    answered: int
    no_quote: int
    empty: int
    error: int
    void: int


def count_answers(rows: Sequence[ScoreRow]) -> AnswerCounts:
    """Counts from the ``exact_citation`` rows of one cell."""
    undefined = [row.code for row in rows if row.status == "undefined"]
    return AnswerCounts(
        n=len(rows),
        answered=sum(row.status == "ok" for row in rows),
        no_quote=sum(code != EMPTY for code in undefined),
        empty=sum(code == EMPTY for code in undefined),
        error=sum(row.status == "error" for row in rows),
        void=sum(row.status == "void" for row in rows),
    )
