"""A corpus: what the retriever's pool offers, and the rest as one omission apart from all sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from building import Arms, Contexts, Docs, Look, Samples, build
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bench.build.base import BuildError
from bench.build.chunking import chunk_text
from bench.build.corpus import Corpus
from bench.specs import ArmSpec, Chunking, RetrievalSpec, SelectionSpec
from bench.tokenizers import ByteTokenizer
from capsules.canonical import canonical_bytes
from capsules.codec import digest_of
from capsules.content_id import content_id
from tasks.base import Gold, SourceDoc, TextRange

ASKED = "When was the ferry built?"


def ids_of(docs: Sequence[SourceDoc]) -> list[str]:
    """The ids of all items, one by one."""
    cuts = [chunk_text(doc.text, Chunking(), ByteTokenizer()) for doc in docs]
    return [f"{cut.source}:{i.start}-{i.end}" for cut in cuts for i in cut.items]


def digest_of_rest(every: Sequence[str], candidates: Sequence[str]) -> str:
    return content_id(canonical_bytes(sorted(set(every) - set(candidates))))


@pytest.fixture
def arm(arm_of: Arms) -> ArmSpec:
    """One chunk of a pool of two."""
    return arm_of(retrieval=RetrievalSpec(k=1, pool=2), selection=SelectionSpec(k=1))


def test_candidates_are_the_pool_and_the_rest_is_one_omission(
    look: Look, docs: list[SourceDoc], sample_of: Samples, context: Contexts, arm: ArmSpec
) -> None:
    built = build(sample_of(ASKED), context(arm, corpus=Corpus(docs)))
    # The pool: the paragraph that was built, and that of the old ferry.
    assert look.kept(built) == ["She is grey.", "The ferry was built in 1931."]
    record = look.prompt(built)
    *low, rest = record.omissions
    other = content_id(docs[2].text.encode())
    assert [(o.reason, o.item, o.tokens) for o in low] == [
        ("retrieval.low_rank", f"{other}:0-23", 23),  # not ranked, but of a document that is
        ("retrieval.low_rank", f"{other}:25-42", 2 + 17),
    ]
    assert (rest.reason, rest.stage, rest.count, rest.tokens) == (
        "retrieval.outside_pool",
        "retrieval",
        4,
        None,
    )
    candidates = built.stages[0].items
    assert rest.item == digest_of_rest(ids_of(docs), candidates)
    assert len(candidates) == 4
    assert record.candidates.items == 4 + len(record.constraints)
    assert all(built.laws.values())
    assert sorted(built.sources) == sorted(content_id(docs[n].text.encode()) for n in (1, 2))


def test_what_may_not_be_shown_says_nothing_but_its_sum(
    look: Look, docs: list[SourceDoc], doc: Docs, sample_of: Samples, context: Contexts, arm: ArmSpec
) -> None:
    secret = [
        doc("foreign", "The ferry was built in secret.", project="q"),
        doc("private", "The ferry was built when? In 1900.", level="restricted"),
    ]
    plain = build(sample_of(ASKED), context(arm, corpus=Corpus(docs)))
    built = build(sample_of(ASKED), context(arm, corpus=Corpus([*secret, *docs])))
    assert built.ids == plain.ids
    *same, denied = look.prompt(built).omissions
    assert tuple(same) == look.prompt(plain).omissions  # the digest of the rest holds no hidden id
    assert (denied.reason, denied.item, denied.count) == ("visibility.denied", None, 3)
    assert denied.tokens == 30 + 25 + 1 + 8
    other = build(sample_of("What is smoked?"), context(arm, corpus=Corpus([*secret, *docs])))
    assert look.prompt(other).omissions[-1] == denied  # the same whatever is asked


def test_an_expired_document_is_named_in_the_pool_and_counted_outside(
    look: Look, docs: list[SourceDoc], doc: Docs, sample_of: Samples, context: Contexts, arm: ArmSpec
) -> None:
    old = doc("old", "The ferry was built in 1929.", expires_at="2026-01-01T00:00:00Z")
    built = build(sample_of(ASKED), context(arm, corpus=Corpus([*docs, old])))
    assert look.reasons(built)["freshness.expired"] == [old.text]
    assert "She is grey." in look.kept(built)  # the first of the pool that may be used
    away = build(sample_of("What is smoked?"), context(arm, corpus=Corpus([*docs, old])))
    assert "freshness.expired" not in {o.reason for o in look.prompt(away).omissions}
    (rest,) = [o for o in look.prompt(away).omissions if o.reason == "retrieval.outside_pool"]
    assert rest.item == digest_of_rest(ids_of([*docs, old]), away.stages[0].items)


def test_documents_of_the_same_bytes_are_one_source_and_the_valid_one_stands(
    look: Look, docs: list[SourceDoc], doc: Docs, sample_of: Samples, context: Contexts, arm: ArmSpec
) -> None:
    copies = [
        doc("dead", docs[1].text, expires_at="2025-01-01T00:00:00Z"),
        *docs,
        doc("copy", docs[1].text),
        doc("hidden", docs[1].text, project="q"),
    ]
    built = build(sample_of(ASKED), context(arm, corpus=Corpus(copies)))
    assert [s.doc_id for s in built.shown] == ["d1"]
    (rest,) = [o for o in look.prompt(built).omissions if o.reason == "retrieval.outside_pool"]
    assert (rest.item, rest.count) == (digest_of_rest(ids_of(docs), built.stages[0].items), 4)
    required = (TextRange(doc_id="copy", start=0, end=3),)
    assert (
        build(sample_of(ASKED, required=required), context(arm, corpus=Corpus(copies))).shown == built.shown
    )


def test_what_the_users_data_requires_is_in_the_pool_whatever_its_rank(
    look: Look, docs: list[SourceDoc], doc: Docs, sample_of: Samples, context: Contexts, arm: ArmSpec
) -> None:
    required = (TextRange(doc_id="d3", start=19, end=22),)
    built = build(sample_of(ASKED, required=required), context(arm, corpus=Corpus(docs)))
    assert "Eel is not." in look.kept(built)
    assert len(built.stages[0].items) == 6
    hidden = [*docs, doc("hidden", "Eel.", project="q")]
    required = (TextRange(doc_id="hidden", start=0, end=3),)
    with pytest.raises(BuildError) as refused:
        build(sample_of(ASKED, required=required), context(arm, corpus=Corpus(hidden)))
    assert refused.value.code == "evidence.required.omitted"


def test_a_pool_that_holds_everything_leaves_nothing_outside(
    look: Look, docs: list[SourceDoc], sample_of: Samples, context: Contexts, arm_of: Arms
) -> None:
    for retrieval in (RetrievalSpec(k=1, pool=5), RetrievalSpec(name="full_context", k=1, pool=1)):
        built = build(sample_of(ASKED), context(arm_of(retrieval=retrieval), corpus=Corpus(docs)))
        assert "retrieval.outside_pool" not in {o.reason for o in look.prompt(built).omissions}
        assert len(built.stages[0].items) == 8
    assert len(built.stages[1].items) == 8  # full_context keeps every passage, whatever k is


def test_the_upper_bound_finds_gold_in_the_corpus(
    look: Look, docs: list[SourceDoc], sample_of: Samples, context: Contexts, arm_of: Arms
) -> None:
    arm = arm_of(retrieval=RetrievalSpec(name="gold", k=2, pool=2))
    gold = Gold(answers=("Eel",), spans=(TextRange(doc_id="d3", start=19, end=22),))
    built = build(sample_of(ASKED), context(arm, corpus=Corpus(docs), gold=gold))
    assert look.kept(built) == ["Eel is not.", "Herring is smoked."]
    with pytest.raises(BuildError, match="needs gold"):
        build(sample_of(ASKED), context(arm, corpus=Corpus(docs)))


_SENTENCE = st.lists(st.sampled_from(["ferry", "gull", "old", "1931", "is"]), min_size=1, max_size=5).map(
    lambda words: " ".join(words).capitalize() + "."
)
_TEXT = st.lists(st.lists(_SENTENCE, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=3).map(
    "\n\n".join
)
_MORE = st.sampled_from([{}, {}, {"level": "restricted"}, {"expires_at": "2025-01-01T00:00:00Z"}])
_CHUNKS = st.sampled_from(
    [
        {},
        {"chunk": "document"},
        {"chunk": "sentence"},
        {"chunk": "window", "window_size": 3, "window_stride": 1},
        {"chunk": "window", "window_size": 40, "window_stride": 15, "window_unit": "tokens"},
    ]
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.tuples(_TEXT, _MORE), min_size=1, max_size=6),
    chunk=_CHUNKS,
    pool=st.integers(1, 6),
    k=st.integers(1, 3),
)
def test_pool_and_rest_are_all_that_may_be_shown(
    look: Look,
    doc: Docs,
    sample_of: Samples,
    context: Contexts,
    arm_of: Arms,
    texts: list[tuple[str, dict[str, str]]],
    chunk: dict[str, Any],
    pool: int,
    k: int,
) -> None:
    retrieval = RetrievalSpec(pool=max(pool, k), k=k, **chunk)
    docs = [doc(f"d{i}", text, **more) for i, (text, more) in enumerate(texts)]
    open_texts = {d.text for d in docs if d.level == "public"}
    assume(
        open_texts.isdisjoint(d.text for d in docs if d.level != "public")
    )  # one id for both: the next test
    built = build(sample_of("Is the ferry old?"), context(arm_of(retrieval=retrieval), corpus=Corpus(docs)))
    assert all(built.laws.values())
    every = set(ids_of([d for d in docs if d.level == "public"]))
    denied = set(ids_of([d for d in docs if d.level != "public"])) - every
    candidates = set(built.stages[0].items)
    assert candidates - denied <= every
    rest = [o for o in look.prompt(built).omissions if o.reason == "retrieval.outside_pool"]
    left = sorted(every - candidates)
    assert [o.count for o in rest] == ([len(left)] if left else [])
    assert [o.item for o in rest] == ([content_id(canonical_bytes(left))] if left else [])
    again = build(sample_of("Is the ferry old?"), context(arm_of(retrieval=retrieval), corpus=Corpus(docs)))
    assert digest_of(look.prompt(again)) == digest_of(look.prompt(built))


def test_a_text_that_is_open_and_denied_is_outside_the_pool_too(
    look: Look, doc: Docs, sample_of: Samples, context: Contexts, arm_of: Arms
) -> None:
    docs = [doc("d0", "Ferry."), doc("d1", "Ferry.", level="restricted"), doc("d2", "Ferry ferry.")]
    retrieval = RetrievalSpec(pool=1, k=1)
    built = build(sample_of("Is the ferry old?"), context(arm_of(retrieval=retrieval), corpus=Corpus(docs)))
    shown = {item for stage in built.stages[1:] for item in stage.items}
    outside = sorted({*ids_of([docs[0]]), *ids_of([docs[2]])} - shown)
    (rest,) = [o for o in look.prompt(built).omissions if o.reason == "retrieval.outside_pool"]
    assert (rest.count, rest.item) == (1, content_id(canonical_bytes(outside)))
    assert all(built.laws.values())


def test_a_corpus_is_no_business_of_a_sample_with_sources(
    docs: list[SourceDoc], sample_of: Samples, context: Contexts, arm: ArmSpec
) -> None:
    own = sample_of(ASKED, *docs)
    assert build(own, context(replace(arm, retrieval=RetrievalSpec(pool=1, k=1)))).stages[0].items != ()
