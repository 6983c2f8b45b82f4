from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from building import Arms, Contexts, Docs, Look, Samples, build

from bench.build import candidates
from bench.build.base import BuildError
from bench.build.corpus import Corpus
from bench.build.naive import NaiveBuilder
from bench.specs import (
    AuthoritySpec,
    BudgetSpec,
    ClaimsSpec,
    CompressionSpec,
    RetrievalSpec,
    SelectionSpec,
)
from bench.tokenizers import ByteTokenizer
from capsules.codec import digest_of
from capsules.content_id import content_id
from capsules.strict_json import MAX_ITEMS
from tasks.base import LabelledContradiction, Sample, TextRange


def test_the_users_required_ranges_pass_every_stage(
    look: Look, harbour: Sample, context: Contexts, arm_of: Arms
) -> None:
    required = (TextRange(doc_id="birds", start=57, end=60),)
    arm = arm_of(
        retrieval=RetrievalSpec(k=1),
        selection=SelectionSpec(k=1),
        compression=CompressionSpec(name="extractive", rate_bp=1),
        claims=ClaimsSpec(method="rule"),
    )
    built = build(replace(harbour.input, required=required), context(arm))
    assert look.kept(built) == ["Nobody has counted them since 2011."]
    assert [c.text for e in built.evidence for c in e.claim_candidates] == look.kept(built)


def test_denied_documents_are_a_sum_without_names(
    look: Look, harbour: Sample, doc: Docs, context: Contexts
) -> None:
    secret = (
        doc("foreign", "The ferry Alma was built in secret.", project="q"),
        doc("private", "The ferry Alma was built in 1900. Really.", level="confidential"),
        doc("odd", "The ferry Alma is odd.", level="cosmic"),
    )
    sample = replace(harbour.input, sources=(*harbour.input.sources, *secret))
    built = build(sample, context())
    (denied,) = [o for o in look.prompt(built).omissions if o.reason == "visibility.denied"]
    assert (denied.item, denied.count, denied.tokens) == (None, 4, 35 + 33 + 8 + 22)
    stored = repr((built.prompt, built.evidence, built.sources))
    assert "secret" not in stored
    assert content_id(secret[1].text.encode()) not in stored
    assert digest_of(look.prompt(built)) != digest_of(look.prompt(build(harbour.input, context())))


def test_expired_sources_are_out_from_their_second_on(
    look: Look, harbour: Sample, doc: Docs, context: Contexts
) -> None:
    old = doc("old", "The ferry Alma was built in 1929.", expires_at="2026-01-01T00:00:00Z")
    sample = replace(harbour.input, sources=(old, *harbour.input.sources))
    assert look.reasons(build(sample, context()))["freshness.expired"] == [old.text]
    alive = replace(old, expires_at="2026-01-01T00:00:01Z")
    built = build(replace(sample, sources=(alive, *harbour.input.sources)), context())
    assert old.text in look.kept(built)
    assert [e.freshness.expires_at for e in built.evidence] == ["2026-01-01T00:00:01Z"]


def test_documents_of_the_same_bytes_are_one_source(
    look: Look, doc: Docs, sample_of: Samples, context: Contexts
) -> None:
    text = "The ferry was built in 1931."
    docs = (
        doc("expired", text, expires_at="2025-01-01T00:00:00Z"),
        doc("first", text),
        doc("second", text),
        doc("denied", text, project="q"),
    )
    built = build(sample_of("When was it built?", *docs), context())
    assert [(s.number, s.doc_id) for s in built.shown] == [(1, "first")]
    assert look.reasons(built) == {"visibility.denied": ["?"]}


class Underscored(ByteTokenizer):
    def encode(self, text: str) -> list[int]:
        return super().encode(text.replace("\u2581", " "))


def test_equal_sentences_of_two_sources_are_shown_once(
    look: Look, doc: Docs, sample_of: Samples, context: Contexts
) -> None:
    docs = doc("a", "The ferry is old. Alpha."), doc("b", "Beta. The ferry is old.")
    built = build(sample_of("How old is the ferry?", *docs), context())
    assert look.reasons(built) == {"duplicate.same_text": ["The ferry is old."]}
    (gone,) = look.prompt(built).omissions
    assert (gone.item or "").startswith(content_id(docs[1].text.encode()))
    wanted = (TextRange(doc_id="b", start=6, end=9),)  # a required item is never the one that goes
    built = build(sample_of("How old is the ferry?", *docs, required=wanted), context())
    (gone,) = look.prompt(built).omissions
    assert (gone.item or "").startswith(content_id(docs[0].text.encode()))


def test_what_the_tokenizer_cannot_show_is_flagged_and_omitted(
    look: Look, doc: Docs, sample_of: Samples, context: Contexts
) -> None:
    docs = (doc("a", "The ferry\u2581is old. It floats."),)
    ctx = context(tokenizer=Underscored())
    built = build(sample_of("Is the ferry old?", *docs), ctx)
    assert look.reasons(built) == {"quote_policy.not_quotable": ["The ferry\u2581is old."]}
    assert built.flags == ("render.lossy",)
    wanted = (TextRange(doc_id="a", start=0, end=3),)
    with pytest.raises(BuildError) as refused:
        build(sample_of("?", *docs, required=wanted), ctx)
    assert refused.value.code == "evidence.required.omitted"


@pytest.mark.parametrize(
    ("more", "place", "code"),
    [
        ({"project": "q"}, ("x", 0, 3), "evidence.required.omitted"),
        ({"level": "restricted"}, ("x", 0, 3), "evidence.required.omitted"),
        ({"expires_at": "2025-01-01T00:00:00Z"}, ("x", 0, 3), "evidence.required.omitted"),
        ({}, ("x", 90, 93), "source.missing"),
        ({}, ("y", 0, 3), "source.missing"),
    ],
)
def test_a_required_range_that_cannot_be_shown_means_no_prompt(
    doc: Docs, sample_of: Samples, context: Contexts, more: Any, place: tuple[str, int, int], code: str
) -> None:
    required = (TextRange(doc_id=place[0], start=place[1], end=place[2]),)
    with pytest.raises(BuildError) as refused:
        build(sample_of("?", doc("x", "It is so.", **more), required=required), context())
    assert refused.value.code == code


def test_labelled_contradictions_live_in_the_most_restricted_capsule(
    doc: Docs, sample_of: Samples, context: Contexts, arm_of: Arms
) -> None:
    docs = (
        doc("a", "The ferry has 40 seats. It is red."),
        doc("b", "The ferry has 50 seats.", level="internal"),
        doc("c", "The ferry has a bell."),
    )
    label = LabelledContradiction(
        left=TextRange(doc_id="a", start=0, end=23),
        right=TextRange(doc_id="b", start=4, end=9),
        kind="numeric",
    )
    sample = sample_of("How many seats has the ferry?", *docs, contradictions=(label, label))
    built = build(sample, context())
    public, internal = built.evidence
    assert [s.exact for s in public.exact_spans] == ["The ferry has a bell."]
    (found,) = internal.contradictions
    ids = {s.exact: s.span_id for s in internal.exact_spans}
    assert found.between == (ids["The ferry has 40 seats."], ids["The ferry has 50 seats."])
    assert (found.kind, found.resolution) == ("numeric", None)
    only_public = arm_of(authority=AuthoritySpec(max_level="public"))
    assert [e.contradictions for e in build(sample, context(only_public)).evidence] == [()]


def piers(count: int) -> str:
    return "\n\n".join(f"Pier {number} is old." for number in range(count))


def test_a_document_that_no_capsule_can_list_is_refused_before_it_is_counted(
    look: Look,
    doc: Docs,
    sample_of: Samples,
    context: Contexts,
    arm_of: Arms,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(candidates, "MOST_LISTED", 5)
    ctx = context(arm_of())
    long, secret = doc("long", piers(6)), doc("secret", piers(6), level="restricted")
    for docs in ([long], [doc("short", piers(5)), long], [secret, long]):
        with pytest.raises(BuildError, match=r"document long: expected at most 5 .* found more") as caught:
            build(sample_of("Which pier?", *docs), ctx)
        assert caught.value.code == "schema.limit"
    assert look.failures(build(sample_of("Which pier?", doc("short", piers(5)), secret), ctx)) == []
    assert NaiveBuilder()(sample_of("Which pier?", long), ctx).shown  # lists nothing
    corpus = context(arm_of(), corpus=Corpus([long, doc("short", "A ferry. It is red.")]))
    assert look.failures(build(sample_of("Which ferry?"), corpus)) == []


@pytest.mark.soak
def test_what_two_arrays_can_hold_is_not_refused_early(
    look: Look, doc: Docs, sample_of: Samples, context: Contexts, arm_of: Arms
) -> None:
    """Of 20,000 the kept half would not fit into the bytes of a capsule."""
    kept, omitted = MAX_ITEMS * 4 // 5, MAX_ITEMS
    arm = arm_of(
        budget=BudgetSpec(window=10_000_000, evidence_limit=5_000_000),
        retrieval=RetrievalSpec(k=kept),
        selection=SelectionSpec(k=kept),
    )
    built = build(sample_of("Which pier?", doc("d", piers(kept + omitted))), context(arm))
    assert (len(built.evidence[0].exact_spans), len(look.prompt(built).omissions)) == (kept, omitted)
    with pytest.raises(BuildError, match="at most 20,000 sentences"):
        build(sample_of("Which pier?", doc("d", piers(2 * MAX_ITEMS + 1))), context(arm))
