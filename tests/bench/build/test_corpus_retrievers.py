"""Retrievers of a corpus: given all of it, once a run and view; answers that are none are refused."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from building import Arms, Contexts, Docs, Look, Samples, build

from bench.build.base import BuildError
from bench.build.corpus import Corpus
from bench.build.naive import NaiveBuilder
from bench.retrieval.base import Passage, Query, Ranker
from bench.specs import RetrievalSpec, SelectionSpec
from tasks.base import SourceDoc

build_naive = NaiveBuilder()


ASKED = "When was the ferry built?"


def test_a_naive_arm_searches_all_documents_and_records_nothing(
    docs: list[SourceDoc], doc: Docs, sample_of: Samples, context: Contexts, arm_of: Arms
) -> None:
    arm = arm_of("naive", retrieval=RetrievalSpec(k=1, pool=2), selection=SelectionSpec(k=1))
    hidden = doc("hidden", "When was the ferry built?", level="restricted")
    built = build_naive(sample_of(ASKED), context(arm, corpus=Corpus([*docs, hidden])))
    assert ([s.doc_id for s in built.shown], built.level) == (["hidden"], "restricted")
    assert (built.silent_omissions, built.silent_tokens) == (2, 28 + 1 + 12)  # of the pool alone
    assert [len(stage.items) for stage in built.stages] == [3, 1, 1, 1, 1]


class Counting:
    """Ranks in source order; counts how often it is given the corpus."""

    def __init__(self) -> None:
        self.indexed = 0

    def __call__(self, query: Query, passages: Sequence[Passage]) -> Sequence[int]:
        raise AssertionError("expected the ranker")

    def ranker(self, passages: Sequence[Passage]) -> Ranker:
        self.indexed += 1
        return lambda query: range(len(passages))[: query.k]


counting = Counting()


def reverse(query: Query, passages: Sequence[Passage]) -> Sequence[int]:
    return range(len(passages) - 1, -1, -1)[: query.k]


def wrong(query: Query, passages: Sequence[Passage]) -> Sequence[int]:
    return [0, 0]


def test_a_corpus_is_indexed_once_a_run_and_view(
    docs: list[SourceDoc], sample_of: Samples, context: Contexts, arm_of: Arms
) -> None:
    counting.indexed = 0
    corpus = Corpus(docs)
    retrieval = RetrievalSpec(name=f"{__name__}:counting", pool=8)
    for question in (ASKED, "What is smoked?", "Who nests?"):
        build(sample_of(question), context(arm_of(retrieval=retrieval), corpus=corpus))
    assert counting.indexed == 1
    build_naive(sample_of(ASKED), context(arm_of("naive", retrieval=retrieval), corpus=corpus))
    assert counting.indexed == 2  # other rules: a view of its own


def test_a_retriever_of_ones_own_is_given_the_corpus(
    look: Look, docs: list[SourceDoc], sample_of: Samples, context: Contexts, arm_of: Arms
) -> None:
    retrieval = RetrievalSpec(name=f"{__name__}:reverse", k=1, pool=1)
    built = build(sample_of(ASKED), context(arm_of(retrieval=retrieval), corpus=Corpus(docs)))
    assert look.kept(built) == ["Eel is not.", "Herring is smoked."]
    retrieval = RetrievalSpec(name=f"{__name__}:wrong")
    with pytest.raises(BuildError) as refused:
        build(sample_of(ASKED), context(arm_of(retrieval=retrieval), corpus=Corpus(docs)))
    assert refused.value.code == "stage.indexes"
