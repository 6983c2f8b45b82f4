"""A ranker gives what its retriever gives: the same order, whoever indexes, ties and empty texts included."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.retrieval.base import Passage, Query, best_first, best_of
from bench.retrieval.bm25 import Bm25Index, bm25_scores
from bench.retrieval.dense import Dense
from bench.retrieval.hybrid import hybrid_of, hybrid_ranker
from bench.retrieval.registry import ranker, retriever
from tasks.base import Gold, TextRange

_WORDS = st.lists(st.sampled_from(["ferry", "gull", "old", "1931", "\u540c\u3058"]), max_size=8).map(" ".join)
_TEXTS = st.lists(_WORDS, max_size=12)


def passages(texts: Sequence[str]) -> list[Passage]:
    return [Passage(doc_id=f"d{i % 3}", start=10 * i, end=10 * i + 10, text=t) for i, t in enumerate(texts)]


def encode(kind: str, text: str) -> list[float]:
    """Few directions, so that there are ties."""
    return [float(text.count("ferry")), float(text.count("old")), 0.0]


@given(_TEXTS, _WORDS)
def test_a_samples_scores_are_those_of_the_index(texts: list[str], question: str) -> None:
    assert bm25_scores(question, texts) == pytest.approx(list(Bm25Index(texts).scores(question)), abs=1e-12)


@given(
    st.lists(st.sampled_from([0.0, 1.0, 1.0000004, 1.0000006, 2.0000001]), max_size=30), st.integers(1, 40)
)
def test_the_best_of_many_are_the_first_of_all(scores: list[float], k: int) -> None:
    assert best_of(scores, k) == best_first(scores)[:k]


@given(_TEXTS, _WORDS, st.integers(1, 14), st.sets(st.integers(0, 2)))
def test_a_ranker_gives_what_its_retriever_gives(
    texts: list[str], question: str, k: int, docs: set[int]
) -> None:
    found = passages(texts)
    spans = tuple(TextRange(doc_id=f"d{n}", start=15 * n, end=15 * n + 20) for n in sorted(docs))
    query = Query(question=question, k=k, gold=Gold(answers=(), spans=spans))
    for name in ("bm25", "gold", "full_context"):
        assert list(ranker(name, found)(query)) == list(retriever(name)(query, found)), name
    dense = Dense(encode)
    assert list(dense.ranker(found)(query)) == dense(query, found)
    hybrid = hybrid_ranker(dense.ranker(found), found)
    assert list(hybrid(query)) == list(hybrid_of(dense)(query, found))


def test_a_corpus_is_embedded_once() -> None:
    asked: list[tuple[str, str]] = []

    def remember(kind: str, text: str) -> list[float]:
        asked.append((kind, text))
        return encode(kind, text)

    rank = Dense(remember, kept=1).ranker(passages(["ferry", "old ferry"]))
    assert [list(rank(Query(question=q, k=2))) for q in ("old", "ferry", "old")] == [[1, 0], [0, 1], [1, 0]]
    assert [text for kind, text in asked if kind == "document"] == ["ferry", "old ferry"]
