"""The retriever interface: which passages, in which order.

Rules: a retriever sees passages in source order (then by start) and returns their indexes, best
first, each at most once. Ties keep source order. It sees gold only where it is an upper bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tasks.base import Gold


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk that may be retrieved: a half-open code-point range of a document."""

    doc_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked of a retriever or selector.

    Attributes:
        question: The question's text.
        k: How many passages to keep.
        gold: ``None`` but for upper bounds.
    """

    question: str
    k: int
    gold: Gold | None = None


Retriever = Callable[[Query, Sequence[Passage]], Sequence[int]]


def best_first(scores: Sequence[float]) -> list[int]:
    """Indexes by falling score; ties keep their order.

    Scores are compared to six decimals, so that the last bits of a float sum, which differ between
    processors, never decide an order.
    """
    return sorted(range(len(scores)), key=lambda i: (-round(scores[i], 6), i))
