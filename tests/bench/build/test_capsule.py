from __future__ import annotations

from dataclasses import replace

import pytest
from building import Arms, Contexts, Docs, Look, Samples, build

from bench.build.base import BuildError
from bench.specs import (
    ClaimsSpec,
    CompressionSpec,
    ContractSpec,
    RetrievalSpec,
    SelectionSpec,
)
from bench.tokenizers import ByteTokenizer
from capsules.codec import digest_of
from capsules.content_id import content_id
from capsules.rendering import render, unrender
from capsules.tokenized import tokenize
from tasks.base import Gold, Sample, TextRange


def test_the_prompt_is_built_from_its_capsules_only(look: Look, harbour: Sample, context: Contexts) -> None:
    built = build(harbour.input, context())
    rendered = render(look.prompt(built), built.evidence, built.sources)
    assert tokenize(rendered, ByteTokenizer()).ids == built.ids
    assert [ref.id for ref in look.prompt(built).evidence_capsule_refs] == [
        digest_of(e) for e in built.evidence
    ]
    shown = unrender(rendered.text, rendered.tag)
    assert shown.question == harbour.input.question
    texts = {content_id(d.text.encode()): d.text for d in harbour.input.sources}
    # all five chunks are retrieved, four selected: the birds' second paragraph is ranked last
    assert [text for _, text in shown.runs] == [
        text.removesuffix("\n\nNobody has counted them since 2011.") for _, text in sorted(texts.items())
    ]


def test_the_parts_of_a_built_prompt_agree(
    look: Look, harbour: Sample, context: Contexts, examples: tuple[Sample, ...]
) -> None:
    built = build(harbour.input, context(examples=examples))
    assert built.ids[0] == 256
    assert built.ids.count(256) == 1
    assert sum(p.n for p in built.pieces) == len(built.ids)
    stable = sum(p.n for p in built.pieces if p.kind in ("bos", "prefix"))
    assert built.stable_ids == built.ids[:stable]
    assert [p.ref for p in built.pieces if p.kind == "prefix"] == [
        "instruction",
        "example-1",
        "example-2",
    ]
    assert [s.stage for s in built.stages] == [
        "candidates",
        "retrieval",
        "selection",
        "compression",
        "budget",
    ]
    items = [p for p in built.pieces if p.kind == "item"]
    assert sorted(p.ref or "" for p in items) == sorted(built.stages[-1].items)
    assert sum(p.n for p in items) == built.stages[-1].tokens
    assert built.laws == dict.fromkeys(("ids", "tokens", "code_points", "sent_ids"), True)
    assert (built.silent_omissions, built.silent_tokens, built.compressor_us) == (0, 0, 0)
    assert (built.project, built.level, built.flags) == ("p", "public", ())
    assert look.prompt(built).candidates.items == len(built.stages[0].items) + 3
    prefix = sum(p.n for p in built.pieces if p.kind == "prefix")
    assert look.prompt(built).candidates.tokens == built.stages[0].tokens + prefix


def test_shown_ranges_hold_what_stands_under_the_number(
    look: Look, harbour: Sample, context: Contexts
) -> None:
    built = build(harbour.input, context())
    tag = look.text(built).partition("<sources ")[2][:10]
    runs = unrender(look.text(built), tag).runs
    shown = [(s.number, built.sources[s.source][a:b]) for s in built.shown for a, b in s.ranges]
    assert shown == [(n, text.lstrip()) for n, text in runs]
    docs = {d.doc_id: d.text for d in harbour.input.sources}
    assert all(built.sources[s.source] == docs[s.doc_id] for s in built.shown)


def test_the_prefix_is_the_same_over_the_task_and_ends_before_the_evidence(
    harbour: Sample, context: Contexts, examples: tuple[Sample, ...]
) -> None:
    ctx = context(examples=examples)
    one = build(harbour.input, ctx)
    two = build(replace(harbour.input, question="Where do terns nest?", sample_id="s-2"), ctx)
    assert one.stable_ids == two.stable_ids
    assert ByteTokenizer().decode(one.stable_ids).endswith("Answer: <q>blue</q> [1]\n\n")


def test_gold_is_not_looked_at(look: Look, harbour: Sample, context: Contexts) -> None:
    for gold in (None, harbour.gold, Gold(answers=("x",), spans=(TextRange(doc_id="fish", start=0, end=3),))):
        built = build(harbour.input, context(gold=gold))
        assert digest_of(look.prompt(built)) == digest_of(look.prompt(build(harbour.input, context())))


def test_an_upper_bound_sees_gold_and_needs_it(
    look: Look, harbour: Sample, context: Contexts, arm_of: Arms
) -> None:
    arm = arm_of(retrieval=RetrievalSpec(name="gold"))
    built = build(harbour.input, context(arm, gold=harbour.gold))
    assert look.kept(built) == ["She was built in 1931.", "The ferry Alma crosses the sound in nine minutes."]
    with pytest.raises(BuildError, match="retrieval gold needs gold"):
        build(harbour.input, context(arm))


def test_stages_leave_their_reasons(look: Look, harbour: Sample, context: Contexts, arm_of: Arms) -> None:
    arm = arm_of(
        retrieval=RetrievalSpec(k=3),
        selection=SelectionSpec(k=2),
        compression=CompressionSpec(name="extractive", rate_bp=3_000),
    )
    built = build(harbour.input, context(arm))
    assert look.kept(built) == ["The ferry Alma crosses the sound in nine minutes."]
    assert look.reasons(built) == {
        "compression.dropped": [
            "Herring is smoked over alder.",
            "She was built in 1931.",
            "The ferry does not carry fish.",
        ],
        "retrieval.low_rank": [
            "Gulls nest on the east pier.",
            "Nobody has counted them since 2011.",
            "Terns prefer the sandbank.",
        ],
        "selection.not_needed": ["Her engine was changed in 1974.", "It burns 40 litres a day."],
    }
    assert [len(s.items) for s in built.stages] == [9, 6, 4, 1, 1]


def test_the_required_sentence_is_the_best_of_the_first_chunk(
    look: Look, harbour: Sample, context: Contexts, arm_of: Arms
) -> None:
    arm = arm_of(claims=ClaimsSpec(method="rule"))
    built = build(replace(harbour.input, question="Does Alma cross the sound?"), context(arm))
    (evidence,) = built.evidence
    (claim,) = evidence.claim_candidates
    assert claim.text == "The ferry Alma crosses the sound in nine minutes."
    assert (claim.status, claim.method, claim.confidence_bp) == ("supported", "rule", 10_000)
    assert [ref.required for ref in look.prompt(built).evidence_capsule_refs] == [True]


def test_one_capsule_a_level_in_the_order_of_the_levels(
    look: Look, doc: Docs, sample_of: Samples, context: Contexts
) -> None:
    docs = doc("i", "The ferry is grey.", level="internal"), doc("p", "The ferry is old.")
    built = build(sample_of("What is the ferry?", *docs), context())
    assert [e.visibility.level for e in built.evidence] == ["public", "internal"]
    assert [s.doc_id for s in built.shown] == ["p", "i"]
    assert built.level == "internal"
    assert [e.capsule_id for e in built.evidence] == [
        "p:toy:p:evidence-public",
        "p:toy:i:evidence-internal",
    ]
    assert look.prompt(built).capsule_id == "p:toy:s-1:prompt"


def test_nothing_to_show_is_still_a_prompt(
    look: Look, doc: Docs, sample_of: Samples, context: Contexts
) -> None:
    for docs in ((), (doc("q", "Not yours.", project="q"),), (doc("e", " \n\n "),)):
        built = build(sample_of("Why?", *docs), context())
        assert built.evidence == built.shown == ()
        assert unrender(look.text(built), look.text(built).partition("<sources ")[2][:10]).runs == ()


def test_a_pointer_contract_numbers_items(
    look: Look, harbour: Sample, context: Contexts, arm_of: Arms
) -> None:
    built = build(harbour.input, context(arm_of(contract=ContractSpec(name="pointer"))))
    assert [s.number for s in built.shown] == list(range(1, len(look.kept(built)) + 1))
    assert all(len(s.ranges) == 1 for s in built.shown)
    with pytest.raises(BuildError, match="found 'poem'"):
        build(harbour.input, context(arm_of(contract=ContractSpec(name="poem"))))
