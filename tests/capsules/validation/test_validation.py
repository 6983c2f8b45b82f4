"""Staged validation as a function; what the command line shows of it is in tests/vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from capsules.canonical import canonical_bytes
from capsules.content_id import content_id
from capsules.errors import InvalidCapsuleError, SchemaError
from capsules.evidence import EvidenceCapsule
from capsules.policy import read_policy
from capsules.prompt import PromptCapsule
from capsules.report import AUTHORIZATION, CHECKS, STAGES, ValidationReport
from capsules.validation import Given, require_valid, validate, validate_evidence, validate_prompt

NOW = "2024-06-01T12:00:00Z"
Stored = Callable[[Any], Any]


def results(report: ValidationReport, check: str) -> list[tuple[str, str | None, str | None]]:
    return [(row.result, row.code, row.blocked_by) for row in report.checks if row.check == check]


def blocked(report: ValidationReport) -> dict[str, str | None]:
    return {row.check: row.blocked_by for row in report.checks if row.result == "not_evaluated"}


def test_a_valid_prompt_passes_every_check_that_has_its_input(
    kit: Any, world: Any, stored_in: Stored
) -> None:
    report = validate_prompt(kit.wire(world.prompt), Given(now=NOW, store=stored_in(world), project="demo"))

    assert report.valid
    assert report.authorized is None
    assert report.codes() == ()
    assert report.subject == content_id(kit.stored(world.prompt))
    assert report.stage_reached == "policy"
    assert {by for by in blocked(report).values()} == {"input"}
    assert {row.check for row in report.checks} == CHECKS.keys()
    assert [row.check for row in report.checks] == sorted(
        (row.check for row in report.checks), key=list(CHECKS).index
    )


def test_without_a_store_nothing_is_resolved_and_nothing_is_wrong(kit: Any, world: Any) -> None:
    policy = read_policy(kit.stored(kit.policy()))
    given = Given(now=NOW, policy=policy, provider="local")

    report = validate(kit.wire(world.prompt), given)

    assert report.valid
    assert report.authorized is None  # the levels of the evidence are not known
    for check in ("evidence.refs", "span.text", "omission.items", "authority.level", "provider.level"):
        assert results(report, check) == [("not_evaluated", None, "input")]
    assert results(report, "label.derivation") == [("not_evaluated", None, "input")]
    assert results(report, "freshness.expiry") == [("not_evaluated", None, "input")]
    world.prompt["surface_snippet"] = None
    assert validate(kit.wire(world.prompt), given).valid


def test_evidence_without_a_store(kit: Any, world: Any) -> None:
    report = validate_evidence(kit.wire(world.public), Given(now=NOW))

    assert report.valid
    assert results(report, "span.text") == [("not_evaluated", None, "input")]
    assert results(report, "freshness.expiry") == [("pass", "freshness.valid", None)]
    assert results(report, "scope.project") == [("not_evaluated", None, "input")]
    assert results(report, "authority.validity") == [("not_evaluated", None, "input")]


def test_a_provider_without_a_policy_can_be_refused_but_never_authorized(
    kit: Any, world: Any, stored_in: Stored
) -> None:
    store = stored_in(world)

    allowed = validate(kit.wire(world.prompt), Given(now=NOW, store=store, provider="local"))
    refused = validate(kit.wire(world.prompt), Given(now=NOW, store=store, provider="cloud"))
    other = validate(kit.wire(world.prompt), Given(now=NOW, store=store, provider="local", operation="embed"))

    assert (allowed.valid, allowed.authorized) == (True, None)
    assert (refused.valid, refused.authorized, refused.codes()) == (True, False, ("provider.unauthorized",))
    assert (other.authorized, other.codes()) == (False, ("authority.scope_exceeded",))


STAGE_FAULTS: dict[str, Callable[[Any], bytes]] = {
    "bytes": lambda kit: kit.wire(kit.World().seal().prompt).replace(b"When did", b"Then did"),
    "parse": lambda kit: kit.wire(kit.World().seal().prompt) + b" ",
    "schema": lambda kit: kit.wire(kit.World().seal().prompt | {"task": 1}),
    "resolve": lambda kit: kit.wire(kit.World().seal().prompt | {"candidates": {"items": 1, "tokens": 120}}),
    "policy": lambda kit: kit.wire(
        kit.World().seal().prompt
        | {"authority": kit.prompt()["authority"] | {"expires_at": "2024-02-01T00:00:00Z"}}
    ),
}


@pytest.mark.parametrize("stage", STAGE_FAULTS)
def test_the_first_stage_with_a_failure_blocks_the_later_ones(
    kit: Any, stored_in: Stored, tokenizer: Any, stage: str
) -> None:
    policy = read_policy(kit.stored(kit.policy()))
    given = Given(
        now=NOW,
        store=stored_in(kit.World().seal()),
        project="demo",
        policy=policy,
        provider="local",
        tokenizer=tokenizer,
    )

    report = validate(STAGE_FAULTS[stage](kit), given)

    assert not report.valid
    assert report.authorized is False
    assert report.stage_reached == stage
    later = STAGES[STAGES.index(stage) + 1 :]
    for check, (at, _) in CHECKS.items():
        if at in later:
            assert results(report, check) == [("not_evaluated", None, stage)], check
    failed = {CHECKS[row.check][0] for row in report.checks if row.result == "fail"}
    assert failed == {stage}


def test_every_failure_of_a_stage_is_reported_with_its_place(kit: Any, world: Any, stored_in: Stored) -> None:
    world.public["exact_spans"][0]["suffix"] = ""
    world.public["exact_spans"][1]["occurrences"] = 9
    world.internal["visibility"]["project"] = "other"
    world.seal()

    report = validate(kit.wire(world.prompt), Given(now=NOW, store=stored_in(world)))

    public, internal = (ref["id"] for ref in world.prompt["evidence_capsule_refs"])
    assert [(row.code, row.record, row.at) for row in report.checks if row.result == "fail"] == [
        ("span.context.mismatch", public, "/exact_spans/0/suffix"),
        ("span.context.mismatch", public, "/exact_spans/1/occurrences"),
        ("scope.project.mismatch", internal, "/visibility/project"),
    ]


def test_what_hangs_on_missing_evidence_is_blocked_by_resolve(
    kit: Any, world: Any, stored_in: Stored
) -> None:
    store = stored_in(world)
    world.prompt["evidence_capsule_refs"] = [{"id": content_id(b"gone"), "required": True}]

    report = validate(kit.wire(world.prompt), Given(now=NOW, store=store))

    assert report.codes() == ("evidence.ref.missing",)
    for check in (
        "source.bytes",
        "span.text",
        "label.derivation",
        "freshness.expiry",
        "omission.items",
        "rewrite.items",
    ):
        assert results(report, check) == [("not_evaluated", None, "resolve")], check


def test_spans_of_a_lost_source_are_blocked_and_the_others_are_checked(
    kit: Any, world: Any, stored_in: Stored
) -> None:
    world.internal = kit.evidence("internal", "valve", [kit.span("valve", "The crew left at noon.")])
    world.internal["source_refs"].append(kit.source_ref("notes"))
    world.internal["source_refs"].sort(key=lambda ref: ref["source"])
    world.internal["exact_spans"].append(kit.span("notes", "Café"))
    world.internal["exact_spans"].sort(key=lambda span: (span["source"], span["start"]))
    good = next(span for span in world.internal["exact_spans"] if span["source"] == kit.IDS["valve"])
    good["suffix"] = good["suffix"] + "!"
    world.seal()
    del world.objects[kit.IDS["notes"]]

    report = validate_evidence(kit.wire(world.internal), Given(now=NOW, store=stored_in(world)))

    assert report.codes() == ("source.missing", "span.context.mismatch")
    assert results(report, "span.text") == [("not_evaluated", None, "resolve")]
    assert results(report, "span.context") == [
        ("fail", "span.context.mismatch", None),
        ("not_evaluated", None, "resolve"),
    ]


def test_types_are_not_confused(kit: Any, world: Any, stored_in: Stored) -> None:
    given = Given(now=NOW, store=stored_in(world))

    assert validate_prompt(kit.wire(world.public), given).codes() == ("object.type.mismatch",)
    assert validate_evidence(kit.wire(world.prompt), given).codes() == ("object.type.mismatch",)
    assert validate_evidence(kit.wire(world.public), given).valid


def test_stored_json_that_is_no_object(kit: Any) -> None:
    data = canonical_bytes([1])

    report = validate(data, Given(now=NOW), expect=content_id(data))

    assert report.codes() == ("schema.field.type",)


def test_too_many_bytes_are_refused_unread(kit: Any) -> None:
    report = validate(b" " * ((4 << 20) + 1), Given(now=NOW))

    assert report.codes() == ("bytes.size.exceeded",)
    assert results(report, "bytes.digest") == [("not_evaluated", None, "bytes")]


def test_the_clock_and_the_expected_id_must_be_well_formed(kit: Any, world: Any) -> None:
    with pytest.raises(SchemaError, match=r"time\.malformed at /now"):
        Given(now="yesterday")
    with pytest.raises(SchemaError, match=r"id\.malformed at /expect"):
        validate(kit.wire(world.prompt), Given(now=NOW), expect="b3:")


def test_the_raising_form_carries_the_report(kit: Any, world: Any, stored_in: Stored) -> None:
    store = stored_in(world)
    good = require_valid(kit.wire(world.prompt), Given(now=NOW, store=store), record_type=PromptCapsule)
    assert good.valid

    with pytest.raises(InvalidCapsuleError, match=r"authority\.expired at /authority/expires_at") as caught:
        require_valid(kit.wire(world.prompt), Given(now="2025-01-01T00:00:00Z"))
    assert caught.value.code == "authority.expired"
    assert isinstance(caught.value.report, ValidationReport)

    with pytest.raises(InvalidCapsuleError, match=r"provider\.unauthorized"):
        require_valid(kit.wire(world.prompt), Given(now=NOW, store=store, provider="cloud"))
    with pytest.raises(InvalidCapsuleError, match=r"object\.type\.mismatch"):
        require_valid(kit.wire(world.prompt), Given(now=NOW), record_type=EvidenceCapsule)


def test_a_span_that_stands_in_two_capsules_has_the_higher_level(
    kit: Any, world: Any, stored_in: Stored
) -> None:
    twice = kit.span("valve", "The valve shut at 5 bar.")
    world.internal = kit.evidence("internal", "valve", [twice])
    world.seal()

    report = validate(kit.wire(world.prompt), Given(now=NOW, store=stored_in(world)))

    assert report.codes() == ("label.flow.denied", "omission.unaccounted")
    assert [
        row.expected for row in report.checks if row.check == "omission.items" and row.result == "fail"
    ] == [f"span {twice['span_id']} kept once"]


def test_reports_name_ids_and_never_texts(kit: Any, world: Any, stored_in: Stored) -> None:
    from capsules.report_json import report_bytes

    canary = "kanarienvogel"
    world.public["exact_spans"][0].update(prefix="", suffix=canary)
    world.public["claim_candidates"][0].update(text=canary, span_ids=[])
    world.prompt["surface_snippet"].update(text=canary, derived_from=[])
    world.prompt["active_object"]["text"] = canary
    world.prompt["constraints"].append({"id": canary, "kind": "runtime", "text": canary})
    world.seal()

    report = validate(kit.wire(world.prompt), Given(now=NOW, store=stored_in(world)))
    unresolved = validate(
        kit.wire(world.prompt | {"constraints": kit.prompt()["constraints"]}),
        Given(now=NOW, store=stored_in(world)),
    )

    assert set(report.codes()) == {"runtime.unsupported"}
    assert set(unresolved.codes()) == {"span.context.mismatch", "label.undetermined"}
    assert canary.encode() not in report_bytes(report) + report_bytes(unresolved)


def test_authorization_covers_the_whole_list() -> None:
    assert CHECKS.keys() > AUTHORIZATION
    assert {CHECKS[check][0] for check in AUTHORIZATION} == {"policy"}
    assert replace(Given(now=NOW), provider="x").operation == "generate"
