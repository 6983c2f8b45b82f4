"""The retriever interface: which passages, in which order.

Rules that this module owns:

* A retriever sees passages in source order (then by start) and returns their indexes, best first, each
  at most once. Ties keep source order. It sees gold only where it is an upper bound.
* A corpus is searched by a *ranker*: a retriever that was given the passages once and is asked often. It
  gives what the retriever would give.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
Ranker = Callable[[Query], Sequence[int]]


def best_first(scores: Sequence[float]) -> list[int]:
    """Indexes by falling score; ties keep their order.

    Scores are compared to six decimals, so that the last bits of a float sum, which differ between
    processors, never decide an order.
    """
    return sorted(range(len(scores)), key=lambda i: (-round(scores[i], 6), i))


def best_of(scores: Sequence[float] | NDArray[np.float64], k: int) -> list[int]:
    """``best_first(scores)[:k]``, without sorting all of a long list."""
    found = np.asarray(scores, dtype=np.float64)
    if k >= len(found):
        return best_first(found.tolist())
    least = np.partition(found, len(found) - k)[len(found) - k]
    near = np.flatnonzero(found >= least - 2e-6)  # what rounding could put level with the k-th
    rounded = [(-round(score, 6), i) for score, i in zip(found[near].tolist(), near.tolist(), strict=True)]
    return [i for _, i in sorted(rounded)[:k]]
