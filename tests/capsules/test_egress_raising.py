"""Whatever raises on the way to a decision, or at the send, denies (threat 51)."""

from __future__ import annotations

import dataclasses
import traceback
from typing import Any

import pytest

from capsules import checks_policy, decision, egress, policy, validation
from capsules.codes import CODES
from capsules.decision import DeniedError, Gate
from capsules.egress import authorize, release, send
from capsules.errors import CapsuleError, SchemaError, StoreError
from capsules.store import MemoryStore


class Boom(RuntimeError):
    """Not one of ours; its text is content."""


def explode(*args: object, **kwargs: object) -> Any:
    raise Boom("CANARY private text")


RULES = [
    (checks_policy, name) for name in vars(checks_policy) if name.startswith("_") and name[1:2].isalpha()
]
RULES += [
    (checks_policy, "provider_problems"),
    (checks_policy, "runtime_problems"),
    (checks_policy, "parse_time"),
]
RULES += [(decision, name) for name in ("_route_refusals", "_authority_refusals", "_above", "parse_time")]
RULES += [(policy, name) for name in ("_unless", "_levels", "LEVELS")]
RULES += [(egress, name) for name in ("validate_prompt", "facts_of", "refusals", "read_stored", "levels_of")]
RULES += [(validation, name) for name in ("build_report", "check_policy", "check_labels", "check_accounts")]
RULES = [(module, name) for module, name in RULES if callable(getattr(module, name)) or name == "LEVELS"]


@pytest.mark.parametrize(("module", "rule"), RULES, ids=lambda value: getattr(value, "__name__", value))
def test_a_rule_that_raises_denies(
    routing: Any, monkeypatch: pytest.MonkeyPatch, module: Any, rule: str
) -> None:
    s = routing.scene()
    transport = routing.Loopback()
    monkeypatch.setattr(module, rule, None if rule == "LEVELS" else explode)
    if module is validation and rule.startswith("check_"):
        monkeypatch.setitem(validation._STAGES, rule.removeprefix("check_"), explode)

    made = authorize(s.ask(), s.gate)

    assert routing.codes(made) == ("policy.not_evaluated",)
    assert not made.evaluated
    with pytest.raises(DeniedError) as caught:
        send(made.require(), s.body, transport, s.clock)
    assert not caught.value.evaluated
    assert "CANARY" not in "".join(traceback.format_exception(caught.value))
    assert transport.sent == []


def test_the_list_of_rules_is_not_empty() -> None:
    assert len(RULES) >= 20


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Boom("CANARY"), "policy.not_evaluated"),
        (MemoryError(), "policy.not_evaluated"),
        (RecursionError(), "policy.not_evaluated"),
        (StoreError("store.io", "disk"), "store.io"),
        (CapsuleError("bytes.digest.match", "a success is no refusal (52)"), "policy.not_evaluated"),
        (CapsuleError("freshness.stale", "an information neither"), "policy.not_evaluated"),
        (CapsuleError("no.such.code", "nor what is not registered"), "policy.not_evaluated"),
    ],
)
@pytest.mark.parametrize("part", ["clock", "store", "policy"])
def test_a_clock_a_store_and_a_policy_that_raise_deny(
    routing: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, code: str, part: str
) -> None:
    s = routing.scene()

    def fail(*args: object, **kwargs: object) -> Any:
        raise error

    class BadStore(MemoryStore):
        get = fail

    changes: dict[str, Any] = {"clock": {"clock": fail}, "store": {"store": BadStore()}, "policy": {}}
    if part == "policy":
        monkeypatch.setattr(policy.Policy, "provider", fail)

    made = authorize(s.ask(), dataclasses.replace(s.gate, **changes[part]))

    assert routing.codes(made) == (code,)
    assert not made.evaluated
    assert made.record.now == (None if part == "clock" else routing.kit.NOW)
    assert kind_of_all(routing.codes(made)) == {"failure"}


def kind_of_all(found: tuple[str, ...]) -> set[str]:
    return {CODES[code] for code in found}


def test_a_clock_or_a_rule_that_raises_at_the_send_denies(
    routing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    s = routing.scene()
    with pytest.raises(DeniedError) as caught:
        release(authorize(s.ask(), s.gate).require(), s.body, explode)
    assert caught.value.codes == ("policy.not_evaluated",)
    assert not caught.value.evaluated

    request = authorize(s.ask(), s.gate).require()
    monkeypatch.setattr(decision, "_authority_refusals", explode)
    with pytest.raises(DeniedError, match=r"^policy\.not_evaluated"):
        release(request, s.body, s.clock)


def test_an_interrupt_is_no_refusal(routing: Any) -> None:
    s = routing.scene()

    def interrupted() -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        authorize(s.ask(), dataclasses.replace(s.gate, clock=interrupted))


def test_a_report_that_does_not_authorize_is_no_permission(
    routing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def undecided(data: bytes, given: Any, **kwargs: Any) -> Any:
        return validation.validate_prompt(data, dataclasses.replace(given, provider=None), **kwargs)

    s = routing.scene()
    monkeypatch.setattr(egress, "validate_prompt", undecided)

    made = authorize(s.ask(), s.gate)

    assert routing.codes(made) == ("policy.not_evaluated",)
    assert not made.evaluated


def test_an_ask_is_checked_when_it_is_made(routing: Any) -> None:
    s = routing.scene()
    for changes in (
        {"capsule": "b3:"},
        {"body": "x\n"},
        {"provider": ""},
        {"level": "secret"},
        {"route": ["a"]},
    ):
        with pytest.raises(SchemaError):
            s.ask(**changes)


def test_the_gate_needs_a_policy_a_store_and_a_clock(routing: Any) -> None:
    s = routing.scene()
    with pytest.raises(TypeError):
        Gate(store=s.store, clock=s.clock)  # type: ignore[call-arg]
    denied = authorize(s.ask(), Gate(policy=None, store=s.store, clock=s.clock))  # type: ignore[arg-type]
    assert routing.codes(denied) == ("policy.not_evaluated",)
