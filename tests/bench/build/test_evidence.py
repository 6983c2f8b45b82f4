"""What capsules say of contradictions, of age and of what is missing; and evidence that cannot be had."""

from __future__ import annotations

from typing import Any

import pytest
from building import Arms, Contexts, Docs, Look, Samples, build
from crossings import ASK, GONE, MID, NEW, NEWEST, OLD, RECORD, RULE

from bench.specs import (
    BudgetSpec,
    ContradictionsSpec,
    FreshnessSpec,
    SelectionSpec,
)
from tasks.base import TextRange

# contradictions


def test_three_sources_that_contradict_each_other(
    look: Look, sample_of: Samples, arm_of: Arms, context: Contexts, crossing: Docs
) -> None:
    docs = [crossing(7, OLD), crossing(8, MID), crossing(9, NEW)]
    both = build(sample_of(ASK, *docs), context(arm_of(contradictions=ContradictionsSpec(detector="rule"))))
    assert len(both.evidence[0].contradictions) == 3
    assert {c.kind for c in both.evidence[0].contradictions} == {"numeric"}
    newest = build(sample_of(ASK, *docs), context(arm_of(contradictions=NEWEST, claims=RULE)))
    assert look.kept(newest) == ["The ferry Alma needs 9 minutes."]
    assert look.reasons(newest) == {
        "contradiction.superseded": ["The ferry Alma needs 7 minutes.", "The ferry Alma needs 8 minutes."]
    }
    assert [c.text for c in look.claims(newest)] == ["The ferry Alma needs 9 minutes."]
    assert newest.evidence[0].contradictions == ()
    spec = ContradictionsSpec(policy="drop", detector="rule")
    kept = build(sample_of(ASK, *docs), context(arm_of(contradictions=spec)))
    assert len(look.kept(kept)) == 3  # the best hit is one of them, and required
    assert kept.flags == ("contradiction.required_kept",)
    for built in (both, newest, kept):
        assert all(built.laws.values())
        assert look.failures(built) == []


def test_required_evidence_is_not_superseded(
    look: Look, sample_of: Samples, arm_of: Arms, context: Contexts, crossing: Docs
) -> None:
    old, new = crossing(7, OLD), crossing(9, NEW)
    sample = sample_of(ASK, old, new, required=(TextRange(doc_id="d7", start=0, end=5),))
    built = build(sample, context(arm_of(contradictions=NEWEST)))
    assert len(look.kept(built)) == 2
    assert look.reasons(built) == {}
    assert built.flags == ("contradiction.required_kept",)
    (conflict,) = built.evidence[0].contradictions
    assert conflict.resolution == "newest_wins: the older side is required, both are shown"


def test_a_contradiction_lives_in_the_most_restricted_capsule_that_it_touches(
    look: Look, doc: Docs, sample_of: Samples, arm_of: Arms, context: Contexts, crossing: Docs
) -> None:
    docs = crossing(7, OLD), crossing(9, NEW, level="internal"), doc("fish", "Herring.")
    spec = ContradictionsSpec(detector="rule")
    built = build(sample_of(ASK, *docs), context(arm_of(contradictions=spec)))
    assert [(e.visibility.level, len(e.exact_spans), len(e.contradictions)) for e in built.evidence] == [
        ("public", 1, 0),
        ("internal", 2, 1),
    ]
    assert look.failures(built) == []


def test_what_the_prompt_says_about_contradictions_depends_on_the_arm_alone(
    look: Look, sample_of: Samples, arm_of: Arms, context: Contexts, crossing: Docs
) -> None:
    arm = arm_of(contradictions=ContradictionsSpec(tell=True))
    one = build(sample_of(ASK, crossing(7, OLD)), context(arm))
    two = build(sample_of(ASK, crossing(7, OLD), crossing(9, NEW)), context(arm))
    assert one.stable_ids == two.stable_ids
    assert "Sources may contradict each other." in look.text(one)
    assert [c.id for c in look.prompt(one).constraints] == ["instruction", "disputes"]
    assert "constraints" in look.prompt(one).token_budget.protected


# age


def test_hard_and_soft_age(
    look: Look, doc: Docs, sample_of: Samples, arm_of: Arms, context: Contexts, crossing: Docs
) -> None:
    docs = crossing(7, OLD, expires_at=GONE), doc("bell", "The ferry Alma has a bell.")
    hard = build(sample_of(ASK, *docs), context(arm_of()))
    assert look.reasons(hard) == {"freshness.expired": ["The ferry Alma needs 7 minutes."]}
    assert (hard.flags, look.failures(hard)) == ((), [])
    soft = build(sample_of(ASK, *docs), context(arm_of(freshness=FreshnessSpec(policy="soft"))))
    assert (look.reasons(soft), soft.flags) == ({}, ("freshness.stale",))
    (evidence,) = soft.evidence
    assert (evidence.freshness.policy, evidence.freshness.expires_at) == ("soft", GONE)
    report = look.report(soft)
    assert "freshness.stale" in [row.code for row in report.checks]
    assert [row.code for row in report.checks if row.result == "fail"] == []


def test_an_age_from_the_config_expires_sources_and_capsules(
    look: Look, sample_of: Samples, arm_of: Arms, context: Contexts, crossing: Docs
) -> None:
    docs = crossing(7, MID), crossing(9, "2025-12-01T00:00:00Z")
    built = build(sample_of(ASK, *docs), context(arm_of(freshness=FreshnessSpec(max_age_days=40))))
    assert look.reasons(built) == {"freshness.expired": ["The ferry Alma needs 7 minutes."]}
    assert built.evidence[0].freshness.expires_at == "2026-01-10T00:00:00Z"
    assert look.failures(built, "2026-01-09T23:59:59Z") == []
    assert look.failures(built, "2026-01-10T00:00:00Z") == [
        "freshness.expired"
    ]  # the clock that validates judges


# what is missing


def test_what_was_looked_for_and_not_found(
    look: Look, doc: Docs, sample_of: Samples, arm_of: Arms, context: Contexts, crossing: Docs
) -> None:
    docs = (
        crossing(9, None),
        doc("bell", "A zinc bell.", level="internal"),
        doc("x", "Old.", expires_at=GONE),
    )
    sample = sample_of("Who painted the ferry Alma from 1990 to 1995?", *docs)
    built = build(sample, context(arm_of(missing=RECORD)))
    assert [len(e.missing_evidence) for e in built.evidence] == [0, 3]  # in the most restricted one
    assert {one.query for one in built.evidence[1].missing_evidence} == {sample.question}
    assert look.missing(built) == [
        ("retrieval", "in none of 2 candidates: painted"),
        ("freshness", "expired: 1 candidate"),
        (
            "answerability",
            "the evidence may not answer: score 3333 of 10000, expected 5000; "
            "no year from 1990 to 1995 in it",
        ),
    ]
    assert look.failures(built) == []
    assert look.missing(build(sample, context(arm_of()))) == []


@pytest.mark.parametrize(
    ("bells", "horns", "looked", "expired"),
    [
        (0, 1, "no candidate to look in: painted, zinc", ["expired: 1 candidate"]),
        (1, 2, "not in the only candidate: painted", ["expired: 2 candidates"]),
        (2, 0, "in none of 2 candidates: painted", []),
    ],
)
def test_what_is_missing_is_counted_in_words_that_fit_the_number(
    look: Look, doc: Docs, sample_of: Samples, arm_of: Arms, context: Contexts,
    bells: int, horns: int, looked: str, expired: list[str],
) -> None:  # fmt: skip
    docs = [doc(f"bell{n}", f"A zinc bell number {n}.") for n in range(bells)]
    docs += [doc(f"horn{n}", f"Old horn {n}.", expires_at=GONE) for n in range(horns)]
    built = build(sample_of("Who painted zinc?", *docs), context(arm_of(missing=RECORD)))
    said = dict(look.missing(built))
    assert said["retrieval"] == looked
    assert [said[stage] for stage in ("freshness",) if stage in said] == expired


def test_what_narrowing_gave_up_is_missing(
    look: Look, doc: Docs, sample_of: Samples, arm_of: Arms, context: Contexts
) -> None:
    sample = sample_of(
        "How many minutes needs the ferry Alma of Oslo?",
        doc("d", "The ferry Alma needs 9 minutes."),
        doc("e", "Oslo is a town."),
    )
    arm = arm_of(missing=RECORD, selection=SelectionSpec(k=1))
    assert look.missing(build(sample, context(arm))) == [
        ("selection", "held by candidates, and by none that is kept: oslo")
    ]


def test_a_good_answer_misses_nothing(
    look: Look, doc: Docs, sample_of: Samples, arm_of: Arms, context: Contexts
) -> None:
    sample = sample_of("How many minutes needs the ferry Alma?", doc("d", "The ferry Alma needs 9 minutes."))
    assert look.missing(build(sample, context(arm_of(missing=RECORD)))) == []


@pytest.mark.parametrize(
    ("more", "level", "reasons"),
    [
        ({"expires_at": GONE}, "public", ["freshness", "evidence"]),
        ({"expires_at": GONE, "level": "internal"}, "internal", ["freshness", "evidence"]),
        ({"level": "restricted"}, "public", ["evidence"]),
        ({"project": "other"}, "public", ["evidence"]),
    ],
)
def test_where_nothing_can_be_kept_an_empty_capsule_says_what_is_missing(
    more: dict[str, Any],
    level: str,
    reasons: list[str],
    look: Look,
    doc: Docs,
    sample_of: Samples,
    arm_of: Arms,
    context: Contexts,
) -> None:
    sample = sample_of(ASK, doc("memo", "The zinc memo.", **more))
    bare = build(sample, context(arm_of()))
    assert (bare.evidence, bare.flags) == ((), ("evidence.empty",))
    built = build(sample, context(arm_of(missing=RECORD)))
    (evidence,) = built.evidence
    assert (evidence.exact_spans, evidence.claim_candidates, evidence.source_refs) == ((), (), ())
    assert evidence.visibility.level == level
    assert evidence.confidence.bp == 0
    assert [stage for stage, _ in look.missing(built) if stage != "retrieval"] == reasons
    assert [ref.required for ref in look.prompt(built).evidence_capsule_refs] == [False]
    assert "zinc" not in "".join(map(repr, [built.prompt, *built.evidence]))
    assert (look.failures(built), look.failures(bare)) == ([], [])
    assert all(built.laws.values())


def test_required_evidence_that_cannot_fit_gives_no_capsule(
    look: Look, sample_of: Samples, arm_of: Arms, context: Contexts, crossing: Docs
) -> None:
    sample = sample_of(ASK, crossing(9, None), required=(TextRange(doc_id="d9", start=0, end=5),))
    small = BudgetSpec(window=100_000, evidence_limit=20)
    assert look.refusal(sample, context(arm_of(budget=small, missing=RECORD))) == "budget.required.unfit"


@pytest.mark.parametrize("more", [{"expires_at": GONE}, {"level": "restricted"}])
def test_required_evidence_that_may_not_be_shown_gives_no_capsule(
    look: Look, more: dict[str, Any], sample_of: Samples, arm_of: Arms, context: Contexts, crossing: Docs
) -> None:
    sample = sample_of(ASK, crossing(9, None, **more), required=(TextRange(doc_id="d9", start=0, end=5),))
    assert look.refusal(sample, context(arm_of(missing=RECORD))) == "evidence.required.omitted"
