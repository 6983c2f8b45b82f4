"""BM25 (Lucene's variant, k1 = 1.5, b = 0.75): over one sample's passages, or over a corpus by bm25s.

Rules that this module owns:

* A corpus is indexed once, by the bm25s package. A sample's few passages are scored directly by the same
  formula: to build an index for one question costs more than to answer it. Both give the same scores.
* A term that stands twice in the question counts twice. Statistics are of the passages that are ranked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log

import numpy as np
from numpy.typing import NDArray

from bench.retrieval.base import Passage, Query, Ranker, best_first, best_of
from bench.retrieval.terms import terms

K1, B = 1.5, 0.75


def bm25_scores(question: str, texts: Sequence[str]) -> list[float]:
    """One score a text; 0.0 for a text without any term of the question."""
    counted = [_counted(text) for text in texts]
    words = sum(length for _, length in counted)
    scores = [0.0] * len(texts)
    if not words:
        return scores
    average = words / len(texts)
    norms = [K1 * (1 - B + B * length / average) for _, length in counted]
    for term in terms(question):
        held = [(i, found) for i, (counts, _) in enumerate(counted) if (found := counts.get(term))]
        idf = log(1 + (len(texts) - len(held) + 0.5) / (len(held) + 0.5))
        for i, found in held:
            scores[i] += idf * found / (norms[i] + found)
    return scores


def bm25(query: Query, passages: Sequence[Passage]) -> list[int]:
    """The ``k`` best passages by BM25; ties in source order."""
    return best_first(bm25_scores(query.question, [p.text for p in passages]))[: query.k]


class Bm25Index:
    """BM25 over a corpus, indexed once.

    Args:
        texts: The corpus.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        import bm25s  # heavy: only where it is used

        corpus = [list(terms(text)) for text in texts]
        self._count = len(corpus)
        self._index = None
        if any(corpus):  # bm25s divides by the mean length
            self._index = bm25s.BM25(k1=K1, b=B, method="lucene", dtype="float64")
            self._index.index(corpus, show_progress=False)

    def scores(self, question: str) -> NDArray[np.float64]:
        """One score a text, as :func:`bm25_scores` gives it."""
        asked = list(terms(question))
        if self._index is None or not asked:
            return np.zeros(self._count)
        found: NDArray[np.float64] = self._index.get_scores(asked)
        return found


def bm25_ranker(passages: Sequence[Passage]) -> Ranker:
    """The ``k`` best passages of a corpus by BM25; ties in source order."""
    index = Bm25Index([p.text for p in passages])
    return lambda query: best_of(index.scores(query.question), query.k)


@lru_cache(maxsize=16_384)
def _counted(text: str) -> tuple[Counter[str], int]:
    """How often a text has each of its terms, and how many it has."""
    found = terms(text)
    return Counter(found), len(found)
