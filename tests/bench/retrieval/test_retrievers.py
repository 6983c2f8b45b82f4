from __future__ import annotations

import warnings

import pytest

from bench.build.base import BuildError
from bench.registry import RegistryError
from bench.retrieval.base import Passage, Query, best_first
from bench.retrieval.bm25 import bm25_scores
from bench.retrieval.registry import RETRIEVERS, retriever
from tasks.base import Gold, TextRange

TEXTS = ["Gulls nest on the pier.", "The ferry was built in 1931.", "A ferry, a ferry!", "Herring is smoked."]


def passages(texts: list[str] = TEXTS) -> list[Passage]:
    return [Passage(doc_id=f"d{i}", start=0, end=len(t), text=t) for i, t in enumerate(texts)]


def test_bm25_ranks_by_the_terms_of_the_question() -> None:
    found = retriever("bm25")(Query(question="When was the ferry built?", k=4), passages())
    assert list(found) == [1, 2, 0, 3]
    assert list(retriever("bm25")(Query(question="When was the ferry built?", k=2), passages())) == [1, 2]


def test_bm25_scores_by_hand() -> None:
    # idf(b) = ln(1 + (2 - 1 + 0.5) / (1 + 0.5)) = ln 2; tf part = 1 / (1 + 1.5 * (0.25 + 0.75 * 2 / 1.5))
    scores = bm25_scores("b", ["a b", "c"])
    assert scores == pytest.approx([0.693147 / (1 + 1.5 * 1.25), 0.0], rel=1e-5)


@pytest.mark.parametrize(
    ("question", "texts", "order"),
    [
        ("", ["a", "b"], [0, 1]),
        ("?", ["a", "b"], [0, 1]),
        ("zebra", ["a", "b"], [0, 1]),
        ("a", ["", "—"], [0, 1]),
        ("a", [], []),
        ("同", ["違う", "同じ", "同"], [2, 0, 1]),
        ("ferry", ["x ferry", "y ferry", "z ferry"], [0, 1, 2]),
    ],
)
def test_ties_and_empty_texts_keep_source_order(question: str, texts: list[str], order: list[int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = list(retriever("bm25")(Query(question=question, k=9), passages(texts)))
    assert found == order


def test_the_last_bits_of_a_score_never_decide() -> None:
    assert best_first([0.1 + 0.2, 0.3, 0.30000049]) == [0, 1, 2]
    assert best_first([0.3, 0.4, 0.3]) == [1, 0, 2]


def test_gold_returns_the_passages_with_evidence_and_no_others() -> None:
    gold = Gold(
        answers=("x",),
        spans=(TextRange(doc_id="d3", start=3, end=5), TextRange(doc_id="d1", start=28, end=29)),
    )
    assert list(retriever("gold")(Query(question="?", k=4, gold=gold), passages())) == [3]  # 28 is d1's end
    with pytest.raises(BuildError, match=r"retrieval gold needs gold") as refused:
        retriever("gold")(Query(question="?", k=4), passages())
    assert refused.value.code == "gold.missing"


def test_full_context_returns_everything_in_order() -> None:
    assert list(retriever("full_context")(Query(question="?", k=1), passages())) == [0, 1, 2, 3]


def test_names() -> None:
    assert sorted(RETRIEVERS) == ["bm25", "dense", "full_context", "gold", "hybrid"]
    listed = "bm25, dense, full_context, gold, hybrid, or module:attribute"
    with pytest.raises(RegistryError, match=f"unknown retrieval 'bm52': expected one of {listed}"):
        retriever("bm52")
