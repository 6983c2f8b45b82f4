"""The one way out and the clock: what is decided again at the send (threats 8, 9, 10)."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from capsules.clock import ClockError, Watch
from capsules.decision import DeniedError
from capsules.egress import authorize, exempt, release, send
from capsules.timestamp import parse_time

OPENS, ENDS = parse_time("2024-01-01T00:00:00Z"), parse_time("2025-01-01T00:00:00Z")
STALE = parse_time("2024-07-01T00:00:00Z")  # the kit's evidence, policy hard


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (OPENS - 1, ("authority.not_yet_valid",)),
        (OPENS, ()),
        (OPENS + 1, ()),
        (ENDS - 1, ()),
        (ENDS, ("authority.expired",)),
        (ENDS + 1, ("authority.expired",)),
    ],
)
def test_validity_is_half_open_at_the_decision_and_at_the_send(
    routing: Any, now: int, expected: tuple[str, ...]
) -> None:
    def ageless(world: Any) -> None:
        world.public["freshness"]["expires_at"] = world.internal["freshness"]["expires_at"] = None

    s = routing.scene(edit=ageless)
    request = authorize(s.ask(), s.gate).require()
    s.clock.at = now
    assert routing.codes(authorize(s.ask(), s.gate)) == expected

    if now < routing.NOW:  # the request was made in June
        expected = ("clock.rollback",)
    try:
        found: tuple[str, ...] = release(request, s.body, s.clock) and ()
    except DeniedError as error:
        found = error.codes
    assert found == expected


@pytest.mark.parametrize("rule", ["hard", "soft"])
@pytest.mark.parametrize("now", [STALE - 1, STALE, STALE + 1])
def test_evidence_that_grows_old_between_check_and_send_stays(routing: Any, rule: str, now: int) -> None:
    def ages(world: Any) -> None:
        world.internal["freshness"].update(policy=rule)
        world.public["freshness"].update(expires_at=None)

    s = routing.scene(edit=ages)
    request = authorize(s.ask(), s.gate).require()
    s.clock.at = now

    if rule == "hard" and now >= STALE:
        with pytest.raises(DeniedError, match=r"^freshness\.expired"):
            release(request, s.body, s.clock)
    else:
        assert release(request, s.body, s.clock).sent_at == now


def test_what_expires_between_check_and_send_is_not_sent(routing: Any) -> None:
    s = routing.scene(authority={"expires_at": "2024-06-01T12:00:01Z"})
    s.clock.step = 1  # one second from the decision to the send
    transport = routing.Loopback()

    with pytest.raises(DeniedError) as caught:
        send(authorize(s.ask(), s.gate).require(), s.body, transport, s.clock)

    assert caught.value.codes == ("authority.expired",)
    assert transport.sent == []


def test_a_clock_that_goes_back_denies_and_what_had_expired_stays_expired(routing: Any) -> None:
    s = routing.scene()
    request = authorize(s.ask(), s.gate).require()
    s.clock.at -= 1
    with pytest.raises(DeniedError) as caught:
        release(request, s.body, s.clock)
    assert caught.value.codes == ("clock.rollback",)
    assert caught.value.evaluated


def test_a_watch_refuses_to_go_back_over_a_whole_run(routing: Any) -> None:
    s = routing.scene()
    watch = Watch(s.clock, routing.NOW)
    gate = dataclasses.replace(s.gate, clock=watch)
    assert routing.codes(authorize(s.ask(), gate)) == ()
    s.clock.at += 60
    request = authorize(s.ask(), gate).require()
    s.clock.at -= 1

    assert routing.codes(authorize(s.ask(), gate)) == ("clock.rollback",)
    assert routing.codes(exempt(s.ask(capsule=None), gate)) == ("clock.rollback",)
    with pytest.raises(DeniedError, match=r"^clock\.rollback"):
        release(request, s.body, watch)
    with pytest.raises(
        ClockError, match="expected 2024-06-01T12:01:00Z or later, found 2024-06-01T12:00:59Z"
    ):
        watch()
    s.clock.at += 1
    assert watch() == routing.NOW + 60
    with pytest.raises(ClockError):
        Watch(s.clock, routing.NOW + 61)()
