"""Reports: complete or malformed, and a verdict that follows from the rows."""

from __future__ import annotations

from typing import Any

import pytest

from capsules.canonical import canonical_bytes, parse_strict
from capsules.codes import CODES, kind_of
from capsules.content_id import content_id
from capsules.errors import SchemaError
from capsules.report import AUTHORIZATION, CHECKS, STAGES, Check, Ledger, ValidationReport, build_report
from capsules.report_json import read_report, registry_id, report_bytes, report_value
from capsules.rules import Problem

NOW = "2024-06-01T12:00:00Z"
SUBJECT = content_id(b"subject")
FAULT = Problem("span.range", "/exact_spans/0/end", "at most 3 code points", "4")


def report(ledger: Ledger) -> ValidationReport:
    return build_report(ledger.rows, subject=SUBJECT, now=NOW, policy_id=None)


def ledger_of(*, failing: str | None = None, absent: tuple[str, ...] = (), by: str = "input") -> Ledger:
    ledger = Ledger()
    for check in CHECKS:
        if check in absent:
            ledger.skip((check,), by)
        else:
            ledger.judge(check, SUBJECT, [FAULT] if check == failing else [])
    return ledger


def test_every_check_belongs_to_a_stage_and_has_a_success_of_its_own() -> None:
    codes = [code for _, code in CHECKS.values()]
    stages = [STAGES.index(stage) for stage, _ in CHECKS.values()]

    assert stages == sorted(stages)
    assert {stage for stage, _ in CHECKS.values()} == set(STAGES)
    assert all(kind_of(code) == "success" for code in codes)
    assert len(set(codes)) == len(codes)


def test_all_passed() -> None:
    found = report(ledger_of())

    assert (found.valid, found.authorized, found.stage_reached) == (True, True, "render")
    assert found.codes() == ()


@pytest.mark.parametrize("check", CHECKS)
def test_one_failure_decides(check: str) -> None:
    found = report(ledger_of(failing=check))

    assert found.valid is (check in AUTHORIZATION)
    assert found.authorized is False
    assert found.codes() == ("span.range",)


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_without_input_makes_nothing_invalid(check: str) -> None:
    found = report(ledger_of(absent=(check,)))

    assert found.valid
    assert found.authorized is (None if check in AUTHORIZATION else True)


def test_a_check_that_was_not_reached_authorizes_nobody() -> None:
    found = report(ledger_of(absent=("provider.level",), by="policy"))

    assert (found.valid, found.authorized) == (True, False)


def test_a_refusal_counts_more_than_a_missing_input() -> None:
    found = report(ledger_of(failing="authority.provider", absent=("provider.level",)))

    assert (found.valid, found.authorized) == (True, False)


@pytest.mark.parametrize("check", CHECKS)
def test_a_report_without_a_row_for_every_check_is_malformed(check: str) -> None:
    rows = [row for row in ledger_of().rows if row.check != check]

    with pytest.raises(SchemaError, match=r"report\.incomplete"):
        build_report(rows, subject=SUBJECT, now=NOW, policy_id=None)


@pytest.mark.parametrize(
    "row",
    [
        {"check": "span.text", "result": "pass", "code": "span.range"},
        {"check": "span.text", "result": "pass"},
        {"check": "span.text", "result": "fail", "code": "span.exact.match"},
        {"check": "span.text", "result": "fail", "code": "freshness.stale"},
        {"check": "span.text", "result": "info", "code": "span.range"},
        {"check": "span.text", "result": "not_evaluated", "code": "span.range", "blocked_by": "input"},
        {"check": "span.text", "result": "not_evaluated"},
        {"check": "span.text", "result": "not_evaluated", "blocked_by": "somebody"},
        {"check": "span.text", "result": "pass", "code": "span.exact.match", "blocked_by": "input"},
        {"check": "span.colour", "result": "pass", "code": "span.exact.match"},
    ],
)
def test_a_row_with_a_code_of_the_wrong_kind_is_malformed(row: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match=r"report\.incomplete"):
        Check(**row)


def test_a_row_with_an_unregistered_code_is_a_bug() -> None:
    with pytest.raises(KeyError, match="not registered"):
        Check(check="span.text", result="fail", code="span.wrong")


def test_reports_are_written_and_read_back() -> None:
    ledger = ledger_of(failing="span.text", absent=("provider.level",))
    ledger.inform("render.fidelity", SUBJECT, "render.lossy", "task")
    found = report(ledger)
    data = report_bytes(found)

    assert read_report(data) == found
    assert canonical_bytes(parse_strict(data)) == data
    value = report_value(found)
    assert value["schema_id"] == "validation-report/1"
    assert value["registry_id"] == content_id(canonical_bytes(dict(CODES)))
    failed = {
        "check": "span.text",
        "result": "fail",
        "code": "span.range",
        "record": SUBJECT,
        "at": "/exact_spans/0/end",
        "expected": "at most 3 code points",
        "actual": "4",
    }
    assert failed in value["checks"]


def changed(**changes: Any) -> bytes:
    return canonical_bytes(report_value(report(ledger_of())) | changes)


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b"7",
        b'"text"',
        b"{}",
        changed(valid=False),
        changed(authorized=None),
        changed(stage_reached="parse"),
        changed(schema_id="validation-report/2"),
        changed(registry_id=content_id(b"another registry")),
        changed(checks=[]),
        changed(checks=[7]),
        changed(checks=[{"check": "span.text", "result": "pass", "code": 7}]),
        changed(checks=[{"check": "span.text", "verdict": "pass"}]),
        changed(note="x"),
    ],
)
def test_anything_else_is_no_report(data: bytes) -> None:
    with pytest.raises(SchemaError, match=r"report\.incomplete"):
        read_report(data)


def test_the_registry_is_pinned_by_every_code_in_it() -> None:
    assert registry_id() == content_id(canonical_bytes(dict(CODES)))
    assert registry_id() != content_id(canonical_bytes({**CODES, "one.more": "info"}))
