"""Claims of a build: by rule, by gold, by a stored answer of a model; and bad ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from building import Arms, Contexts, Docs, Look, Samples, build
from crossings import ASK, GONE, RECORD, RULE

from bench.evidence.stored_claims import request_digest
from bench.specs import (
    ClaimsSpec,
    RetrievalSpec,
)
from capsules.canonical import canonical_bytes
from capsules.content_id import content_id
from tasks.base import Gold, SampleInput, TextRange


def test_by_rule_the_required_sentence_is_a_claim_and_the_nearest_others(
    look: Look, doc: Docs, sample_of: Samples, arm_of: Arms, context: Contexts
) -> None:
    text = "The ferry Alma needs nine minutes. Alma is red. Gulls nest. The ferry has a bar and a bell."
    sample = sample_of(ASK, doc("d", text))
    assert look.claims(build(sample, context(arm_of()))) == []
    built = build(sample, context(arm_of(claims=RULE)))
    assert [(c.text, c.status, c.method) for c in look.claims(built)] == [
        ("The ferry Alma needs nine minutes.", "supported", "rule")
    ]
    built = build(sample, context(arm_of(claims=ClaimsSpec(method="rule", limit=2))))
    assert [(c.claim_id, c.text) for c in look.claims(built)] == [
        ("claim-1", "The ferry Alma needs nine minutes."),
        ("claim-2", "Alma is red."),
        ("claim-3", "The ferry has a bar and a bell."),
    ]
    assert [len(c.span_ids) for c in look.claims(built)] == [1, 1, 1]
    assert look.failures(built) == []


def test_by_gold_an_answer_is_judged_and_kept_even_where_nothing_supports_it(
    look: Look, sample_of: Samples, arm_of: Arms, context: Contexts, crossing: Docs
) -> None:
    sample = sample_of(ASK, crossing(9, None))
    gold = Gold(answers=("9 minutes", "a quarter hour"), spans=(TextRange(doc_id="d9", start=4, end=9),))
    arm = arm_of(claims=ClaimsSpec(method="gold"), retrieval=RetrievalSpec(name="gold"))
    built = build(sample, context(arm, gold=gold))
    assert [(c.text, c.status, c.confidence_bp) for c in look.claims(built)] == [
        ("9 minutes", "supported", 10_000),
        ("a quarter hour", "unsupported", 0),
    ]
    assert built.evidence[0].confidence.bp == 0
    assert look.failures(built) == []
    assert look.refusal(sample, context(arm)) == "gold.missing"


def answers(folder: Path, sample: SampleInput, stated: list[dict[str, Any]], **more: Any) -> ClaimsSpec:
    line = {
        "sample": sample.sample_id,
        "model": "m",
        "request": request_digest(
            sample.question,
            {doc.doc_id: content_id(doc.text.encode()) for doc in sample.sources},
            "m",
            more.get("shown"),
        ),
        "claims": stated,
        **more,
    }
    data = canonical_bytes(line)
    path = folder / "answers.jsonl"
    path.write_bytes(data)
    return ClaimsSpec(method="model", answers=str(path), digest=content_id(data))


def span(doc_id: str) -> dict[str, Any]:
    return {"source": doc_id, "start": 0, "end": 5}


def test_claims_of_a_stored_answer_carry_what_they_derive_from(
    look: Look, tmp_path: Path, doc: Docs, sample_of: Samples, arm_of: Arms, context: Contexts, crossing: Docs
) -> None:
    bell = doc("bell", "The ferry Alma has a bell.", level="internal")
    sample = sample_of(ASK, crossing(9, None), bell)
    spec = answers(
        tmp_path,
        sample,
        [
            {"id": "a", "text": "Alma needs 9 minutes.", "spans": [span("d9")]},
            {
                "id": "b",
                "text": "Alma needs 9 minutes and has a bell.",
                "spans": [span("bell")],
                "from": ["a"],
            },
            {"id": "c", "text": "The ferry Alma needs 12 minutes.", "spans": [span("d9")]},
        ],
    )
    built = build(sample, context(arm_of(claims=spec)))
    # the model saw internal text, so all that it says is internal, and so is what it names
    assert [e.visibility.level for e in built.evidence] == ["internal"]
    assert [(c.text, c.status, len(c.span_ids), c.method) for c in look.claims(built)] == [
        ("Alma needs 9 minutes.", "supported", 1, "model"),
        ("Alma needs 9 minutes and has a bell.", "supported", 2, "model"),
        ("The ferry Alma needs 12 minutes.", "contradicted", 1, "model"),
    ]
    ((conflict),) = built.evidence[0].contradictions
    assert conflict.between == ("claim-3", look.claims(built)[2].span_ids[0])
    assert conflict.kind == "numeric"
    assert look.failures(built) == []


def test_a_claim_rises_to_the_level_of_all_that_the_model_saw(
    tmp_path: Path,
    look: Look,
    doc: Docs,
    sample_of: Samples,
    arm_of: Arms,
    context: Contexts,
    crossing: Docs,
) -> None:
    bell = doc("bell", "The ferry Alma has a bell.", level="internal")
    sample = sample_of(ASK, crossing(9, None), bell)
    stated = [{"id": "a", "text": "Alma needs 9 minutes.", "spans": [span("d9")]}]  # of a public span alone
    built = build(sample, context(arm_of(claims=answers(tmp_path, sample, stated))))
    assert [(e.visibility.level, len(e.exact_spans)) for e in built.evidence] == [("internal", 2)]
    assert [c.text for c in look.claims(built)] == ["Alma needs 9 minutes."]
    assert look.failures(built) == []


def test_an_answer_that_saw_only_public_text_stays_public(
    tmp_path: Path, doc: Docs, sample_of: Samples, arm_of: Arms, context: Contexts, crossing: Docs
) -> None:
    bell = doc("bell", "The ferry Alma has a bell.", level="internal")
    sample = sample_of(ASK, crossing(9, None), bell)
    stated = [{"id": "a", "text": "Alma needs 9 minutes.", "spans": [span("d9")]}]
    spec = answers(tmp_path, sample, stated, shown=["d9"])
    built = build(sample, context(arm_of(claims=spec)))
    assert [(e.visibility.level, len(e.claim_candidates)) for e in built.evidence] == [
        ("public", 1),
        ("internal", 0),
    ]


@pytest.mark.parametrize("shown", [None, ["memo", "d9"]])
def test_an_answer_that_saw_denied_text_says_nothing_here(
    look: Look,
    tmp_path: Path,
    shown: list[str] | None,
    doc: Docs,
    sample_of: Samples,
    arm_of: Arms,
    context: Contexts,
    crossing: Docs,
) -> None:
    memo = doc("memo", "The zinc memo.", level="restricted")
    sample = sample_of(ASK, crossing(9, None), memo)
    stated = [{"id": "a", "text": "Alma needs 9 minutes of zinc.", "spans": [span("d9")]}]
    spec = answers(tmp_path, sample, stated, **({"shown": shown} if shown else {}))
    built = build(sample, context(arm_of(claims=spec, missing=RECORD)))
    assert look.claims(built) == []
    assert ("claims", "left out, for a span that they derive from is not shown: 1") in look.missing(built)
    assert "zinc" not in "".join(map(repr, [built.prompt, *built.evidence]))
    assert look.failures(built) == []


def test_a_claim_goes_whole_when_a_part_of_its_derivation_does(
    look: Look, tmp_path: Path, doc: Docs, sample_of: Samples, arm_of: Arms, context: Contexts, crossing: Docs
) -> None:
    stale = doc("bell", "The ferry Alma has a bell.", expires_at=GONE)
    sample = sample_of(ASK, crossing(9, None), stale)
    stated = [
        {"id": "a", "text": "Alma needs 9 minutes.", "spans": [span("d9")]},
        {"id": "b", "text": "Alma needs 9 minutes and has a bell.", "spans": [span("bell"), span("d9")]},
    ]
    built = build(sample, context(arm_of(claims=answers(tmp_path, sample, stated), missing=RECORD)))
    assert [c.text for c in look.claims(built)] == ["Alma needs 9 minutes."]
    assert ("claims", "left out, for a span that they derive from is not shown: 1") in look.missing(built)


def test_a_sample_without_a_stored_answer_says_so(
    look: Look, tmp_path: Path, sample_of: Samples, arm_of: Arms, context: Contexts, crossing: Docs
) -> None:
    sample = sample_of(ASK, crossing(9, None))
    spec = answers(tmp_path, sample_of(ASK, crossing(9, None), sample_id="s-2"), [])
    built = build(sample, context(arm_of(claims=spec, missing=RECORD)))
    assert look.claims(built) == []
    assert ("claims", "no stored answer of the model for this sample") in look.missing(built)


@pytest.mark.parametrize(
    ("stated", "code"),
    [
        ([{"id": "a", "text": "A.", "spans": [], "from": ["a"]}], "claim.cycle"),
        ([{"id": "a", "text": "A.", "spans": [], "from": ["b"]}], "claim.reference"),
        (
            [{"id": "a", "text": "A.", "spans": [{"source": "d9", "start": 900, "end": 901}]}],
            "claim.reference",
        ),
        ([{"id": "a", "text": "A.", "spans": [{"source": "d9", "start": 0, "end": 900}]}], "claim.reference"),
        ([{"id": "a", "text": "A.", "spans": [{"source": "none", "start": 0, "end": 1}]}], "claim.reference"),
        ([{"id": "a", "text": "A.", "spans": []}], "label.undetermined"),
        ([{"id": "a", "text": "A\ufdd0.", "spans": [span("d9")]}], None),  # the file itself is refused
    ],
)
def test_bad_stored_claims_give_no_capsule(
    look: Look,
    tmp_path: Path,
    stated: list[dict[str, Any]],
    code: str | None,
    sample_of: Samples,
    arm_of: Arms,
    context: Contexts,
    crossing: Docs,
) -> None:
    sample = sample_of(ASK, crossing(9, None))
    if code is None:
        with pytest.raises(Exception, match="noncharacter"):
            answers(tmp_path, sample, stated)
        return
    assert look.refusal(sample, context(arm_of(claims=answers(tmp_path, sample, stated)))) == code


def test_an_answer_to_another_question_is_stale(
    look: Look, tmp_path: Path, sample_of: Samples, arm_of: Arms, context: Contexts, crossing: Docs
) -> None:
    sample = sample_of(ASK, crossing(9, None))
    spec = answers(tmp_path, sample_of("Which ferry?", crossing(9, None)), [])
    assert look.refusal(sample, context(arm_of(claims=spec))) == "claim.answer.stale"
    spec = answers(tmp_path, sample_of(ASK, crossing(8, None)), [])
    assert look.refusal(sample, context(arm_of(claims=spec))) == "claim.answer.stale"
