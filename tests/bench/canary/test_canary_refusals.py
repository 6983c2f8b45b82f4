"""A canary in every field: refusals, decisions and validation reports name codes and ids, none of it."""

from __future__ import annotations

import logging
import traceback
from typing import Any

import pytest

from capsules import checks_policy
from capsules.codec import preimage
from capsules.decision import DeniedError
from capsules.egress import authorize
from capsules.report_json import report_bytes
from capsules.timestamp import format_time
from capsules.validation import Given, validate

YEAR = 366 * 86_400
REASONS: dict[str, tuple[int, dict[str, Any]]] = {
    "expired": (YEAR, {}),
    "not yet valid": (-YEAR, {}),
    "level": (0, {"provider": "cloud"}),
    "unknown provider": (0, {"provider": "gone"}),
    "operation": (0, {"operation": "train"}),
    "project": (0, {"project": "other"}),
    "route": (0, {"provider": "near", "route": ("far",)}),
    "a rule that raises": (0, {}),
}


def told_by(error: BaseException | None) -> str:
    """Everything that an error says, and what it came from."""
    text = "" if error is None else "".join(traceback.format_exception(error))
    while error is not None:
        text += repr(error) + repr(error.args) + repr(vars(error))
        error = error.__context__
    return text


@pytest.mark.parametrize("reason", REASONS)
def test_a_refusal_says_nothing_of_what_it_keeps(
    canary: str, routing: Any, servers: tuple[Any, Any], everywhere: dict[str, Any], reason: str,
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    def explode(*args: object) -> Any:
        raise RuntimeError(canary)

    caplog.set_level(logging.DEBUG)
    shift, changes = REASONS[reason]
    near, other = servers
    sent, told = near.received, ""
    if reason == "a rule that raises":
        monkeypatch.setattr(checks_policy, "_levels", explode)
    for name, built in everywhere.items():
        s = built.at(routing.NOW + shift)

        made = authorize(s.ask(**({"provider": "near"} | changes)), s.gate)

        assert made.request is None, name
        with pytest.raises(DeniedError) as caught:
            made.require()
        told += told_by(caught.value) + repr(made) + preimage(made.record).decode()
    assert canary not in told + caplog.text
    assert (near.received, other.received) == (sent, b"")


@pytest.mark.parametrize("reason", [reason for reason in REASONS if reason != "a rule that raises"])
def test_a_report_on_texts_and_names_holds_none_of_them(
    canary: str, routing: Any, sendable: dict[str, Any], reason: str
) -> None:
    shift, changes = REASONS[reason]
    for name, s in sendable.items():
        given = Given(
            now=format_time(routing.NOW + shift),
            store=s.store,
            project=changes.get("project", "demo"),
            policy=s.policy,
            provider=changes.get("provider", "near"),
            operation=changes.get("operation", "generate"),
        )
        report = validate(s.store.get(s.capsule).data, given, expect=s.capsule)
        assert canary.encode() not in report_bytes(report), name
