"""The one way out: what is minted, what it pins, what is decided again; refusals hold no content."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import threading
from typing import Any

import pytest

from capsules.codec import digest_of, from_value, preimage
from capsules.content_id import content_id
from capsules.decision import DecisionRecord, DeniedError, facts_of
from capsules.delivery import TransportError
from capsules.egress import AuthorizedRequest, Outgoing, authorize, release, send
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule
from capsules.timestamp import parse_time

OPENS, ENDS = parse_time("2024-01-01T00:00:00Z"), parse_time("2025-01-01T00:00:00Z")
STALE = parse_time("2024-07-01T00:00:00Z")  # the kit's evidence, policy hard


# ---- what is allowed, and what it pins


def test_what_is_allowed_is_sent_as_it_was_pinned(routing: Any) -> None:
    endpoint = "https://llm.example/v1"
    s = routing.scene([routing.provider("cloud", endpoint=endpoint)])
    transport = routing.Loopback()

    made = authorize(s.ask("cloud"), s.gate)
    reply = send(made.require(), s.body, transport, s.clock)

    assert reply == "ok"
    (sent,) = transport.sent
    assert (sent.provider, sent.endpoint, sent.body) == ("cloud", endpoint, s.body)
    assert (sent.decision, sent.sent_at) == (made.id, routing.NOW)
    assert made.evaluated


def test_the_id_of_a_decision_is_that_of_everything_it_was_made_from(routing: Any) -> None:
    s = routing.scene()
    made = authorize(s.ask(), s.gate)

    assert made.id == digest_of(made.record) == content_id(preimage(made.record))
    assert made.record == DecisionRecord(
        schema_id="decision/1",
        policy=digest_of(s.policy),
        capsule=s.capsule,
        body=content_id(s.body),
        provider="local",
        endpoint=None,
        operation="generate",
        project="demo",
        levels=("public", "internal"),
        route=(),
        now=routing.kit.NOW,
        refusals=(),
        exemption=None,
    )
    again = authorize(s.ask(), s.gate)
    assert again.id == made.id
    s.clock.at += 1
    assert authorize(s.ask(), s.gate).id != made.id
    assert authorize(s.ask(level="internal"), s.gate).record.levels == ("public", "internal")


def test_without_evidence_there_is_no_level_and_with_a_snippet_there_is_its_own(routing: Any) -> None:
    def no_evidence(world: Any) -> None:
        world.prompt |= {"surface_snippet": None, "candidates": {"items": 6, "tokens": 120}}
        world.seal = lambda: None

    s = routing.scene(edit=no_evidence)
    made = authorize(s.ask(), s.gate)
    assert routing.codes(made) == ()
    assert made.record.levels == ()

    high = routing.scene(
        [routing.provider("local", "restricted")],
        edit=lambda w: w.prompt["surface_snippet"].update(level="restricted"),
        authority={"max_level": "restricted"},
    )
    assert authorize(high.ask(), high.gate).record.levels == ("public", "internal", "restricted")


def test_the_facts_of_a_capsule_are_its_ids_levels_projects_and_times(routing: Any) -> None:
    kit = routing.kit
    world = kit.World().seal()
    prompt = from_value(PromptCapsule, world.prompt)
    evidence = [from_value(EvidenceCapsule, value) for value in (world.public, world.internal)]

    facts = facts_of(content_id(b"capsule"), prompt, evidence)

    assert facts.ids == {
        content_id(b"capsule"),
        *(ref.id for ref in prompt.evidence_capsule_refs),
        *kit.IDS.values(),
    }
    assert facts.schemas == {"prompt-capsule/1", "evidence-capsule/1"}
    assert (facts.projects, facts.levels) == ({"demo"}, ("public", "internal"))
    assert (facts.not_before, facts.expires_at, facts.stale_at) == (OPENS, ENDS, STALE)


# ---- minting


def forged(made: AuthorizedRequest, **changes: Any) -> AuthorizedRequest:
    fields = {"decision": made.decision, "record": made.record, "issued_at": 0, "rule": made.rule}
    return AuthorizedRequest(**(fields | {"mint": object()} | changes))


def test_nothing_else_makes_a_request(routing: Any) -> None:
    s = routing.scene()
    made = authorize(s.ask(), s.gate).require()

    for mint in (None, object(), True, made.rule):
        with pytest.raises(TypeError, match="only a decision makes a AuthorizedRequest"):
            forged(made, mint=mint)
    with pytest.raises(TypeError, match="only a decision makes a Outgoing"):
        Outgoing(decision="", provider="local", endpoint=None, body=b"", sent_at=0, mint=None)
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'mint'"):
        AuthorizedRequest(decision="", record=made.record, issued_at=0, rule=made.rule)  # type: ignore[call-arg]


@pytest.mark.parametrize("kind", ["request", "outgoing"])
def test_what_was_minted_cannot_be_copied_stored_or_altered(routing: Any, kind: str) -> None:
    s = routing.scene()
    minted = authorize(s.ask(), s.gate).require() if kind == "request" else s.outgoing()

    for act in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied or stored"):
            act(minted)
    with pytest.raises((TypeError, ValueError), match="InitVar 'mint' must be specified"):
        dataclasses.replace(minted, decision="b3:" + "0" * 64)
    with pytest.raises(dataclasses.FrozenInstanceError):
        minted.decision = ""  # type: ignore[misc]


def test_a_stand_in_is_refused_before_anything_is_sent(routing: Any) -> None:
    s = routing.scene()
    made = authorize(s.ask(), s.gate).require()
    transport = routing.Loopback()

    class Cousin(AuthorizedRequest):
        def __post_init__(self, mint: object) -> None:
            pass

    cousin = Cousin(decision=made.decision, record=made.record, issued_at=0, rule=made.rule, mint=None)
    for stand_in in (cousin, made.record, s.ask(), None, "b3:"):
        with pytest.raises(TypeError, match="expected an AuthorizedRequest"):
            send(stand_in, s.body, transport, s.clock)  # type: ignore[arg-type]
    assert transport.sent == []


def test_a_record_that_was_changed_by_force_no_longer_has_its_id(routing: Any) -> None:
    s = routing.scene(
        [routing.provider("local"), routing.provider("cloud", endpoint="https://other.example")]
    )
    made = authorize(s.ask(), s.gate).require()
    object.__setattr__(made.record, "endpoint", "https://other.example")

    with pytest.raises(DeniedError, match=r"bytes\.digest\.mismatch"):
        release(made, s.body, s.clock)


def test_other_bytes_than_those_asked_for_stay_here(routing: Any) -> None:
    s = routing.scene()
    transport = routing.Loopback()
    for body in (b"", s.body + b" ", s.body[:-1]):
        with pytest.raises(DeniedError) as caught:
            send(authorize(s.ask(), s.gate).require(), body, transport, s.clock)
        assert caught.value.codes == ("bytes.digest.mismatch",)
    assert transport.sent == []


# ---- once


def test_a_request_is_good_for_one_attempt_even_a_failed_one(routing: Any) -> None:
    s = routing.scene()
    transport = routing.Loopback("provider.timeout")
    request = authorize(s.ask(), s.gate).require()

    with pytest.raises(TransportError):
        send(request, s.body, transport, s.clock)
    with pytest.raises(DeniedError) as caught:
        send(request, s.body, transport, s.clock)

    assert caught.value.codes == ("decision.spent",)
    assert len(transport.sent) == 1


def test_of_many_threads_one_sends(routing: Any) -> None:
    s = routing.scene()
    request = authorize(s.ask(), s.gate).require()
    transport, denied, start = routing.Loopback(), [], threading.Barrier(8)

    def attempt() -> None:
        start.wait()
        try:
            send(request, s.body, transport, s.clock)
        except DeniedError as error:
            denied.append(error.code)

    threads = [threading.Thread(target=attempt) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(transport.sent), denied) == (1, ["decision.spent"] * 7)
