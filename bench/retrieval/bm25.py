"""BM25 (Lucene's variant, k1 = 1.5, b = 0.75) by the bm25s package, over one sample's passages."""

from __future__ import annotations

from collections.abc import Sequence

from bench.retrieval.base import Passage, Query, best_first
from bench.retrieval.terms import terms


def bm25_scores(question: str, texts: Sequence[str]) -> list[float]:
    """One score a text; 0.0 for a text without any term of the question."""
    import bm25s  # heavy: only where it is used

    corpus = [list(terms(text)) for text in texts]
    query = list(terms(question))
    if not query or not any(corpus):  # bm25s divides by the mean length
        return [0.0] * len(texts)
    index = bm25s.BM25(k1=1.5, b=0.75, method="lucene", dtype="float64")
    index.index(corpus, show_progress=False)
    return [float(score) for score in index.get_scores(query)]


def bm25(query: Query, passages: Sequence[Passage]) -> list[int]:
    """The ``k`` best passages by BM25; ties in source order."""
    return best_first(bm25_scores(query.question, [p.text for p in passages]))[: query.k]
