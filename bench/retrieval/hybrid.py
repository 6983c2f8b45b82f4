"""Hybrid retrieval: BM25 and dense rankings, joined by reciprocal rank fusion.

Rules that this module owns: a passage's score is the sum of 1 / (60 + rank) over the rankings that hold it,
ranks from 1 (Cormack, Clarke and Buettcher, SIGIR 2009; k = 60 is theirs). Sums are exact fractions; ties
keep source order. BM25 ranks only what shares a term with the question: a passage that it did not find has
no rank there, instead of one that its place in the source would decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from bench.retrieval.base import Passage, Query, Ranker, Retriever, best_first
from bench.retrieval.bm25 import Bm25Index, bm25_scores
from bench.retrieval.dense import dense_retriever

K = 60


def fuse(rankings: Sequence[Sequence[int]], count: int) -> list[int]:
    """Indexes below ``count``, best first, by reciprocal rank fusion.

    Args:
        rankings: Each holds indexes, best first, each at most once.
        count: How many passages there are.
    """
    scores = [Fraction(0)] * count
    for ranking in rankings:
        for rank, index in enumerate(ranking, start=1):
            scores[index] += Fraction(1, K + rank)
    return sorted(range(count), key=lambda i: (-scores[i], i))


def hybrid_of(dense: Retriever) -> Retriever:
    """BM25 fused with another retriever that ranks every passage."""

    def hybrid(query: Query, passages: Sequence[Passage]) -> list[int]:
        scores = bm25_scores(query.question, [p.text for p in passages])
        lexical = [i for i in best_first(scores) if scores[i] > 0]
        everything = Query(question=query.question, k=len(passages))
        return fuse([lexical, dense(everything, passages)], len(passages))[: query.k]

    return hybrid


def hybrid_ranker(dense: Ranker, passages: Sequence[Passage]) -> Ranker:
    """The same over a corpus: ``dense`` ranks every passage of it."""
    index = Bm25Index([p.text for p in passages])

    def rank(query: Query) -> list[int]:
        scores = index.scores(query.question)
        found: list[int] = np.flatnonzero(scores > 0).tolist()
        lexical = [found[i] for i in best_first(scores[found].tolist())]
        everything = Query(question=query.question, k=len(passages))
        return fuse([lexical, dense(everything)], len(passages))[: query.k]

    return rank


def hybrid_retriever(model: str = "") -> Retriever:
    """The hybrid retriever with this embedding model (see ``dense_retriever``).

    Raises:
        DenseError: The extra is missing, or the model is.
    """
    return hybrid_of(dense_retriever(model))


def hybrid(query: Query, passages: Sequence[Passage]) -> Sequence[int]:
    """The ``k`` best passages by BM25 and the packaged embedding model together."""
    return hybrid_retriever()(query, passages)
