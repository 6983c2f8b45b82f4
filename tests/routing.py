"""Scenes for the tests of routing: a small valid world, a policy, a clock that can be turned, and no mocks.

Loaded by path (fixture ``routing`` in tests/conftest.py): test modules cannot import each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from beside import load

from capsules.content_id import content_id
from capsules.decision import Ask, Gate
from capsules.delivery import TransportError
from capsules.egress import Decision, Outgoing, authorize, release
from capsules.policy import Policy, read_policy
from capsules.store import MemoryStore
from capsules.timestamp import parse_time

kit: Any = load(Path(__file__).parent / "vectors" / "kit.py", "vectors_kit")
NOW = parse_time(kit.NOW)
BODY = b'{"prompt":"as rendered"}'
ALL = ["cloud", "far", "local", "near"]  # providers that the authority covers


def provider(name: str, level: str = "internal", **changes: Any) -> dict[str, Any]:
    """A provider of a policy."""
    value: dict[str, Any] = kit.provider(name, level)
    return value | changes


def policy_value(*providers: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A policy with these providers."""
    value: dict[str, Any] = kit.policy()
    return value | {"providers": list(providers)} | changes


class Hands:
    """A clock that stands where it is put, and steps on by itself if asked to."""

    def __init__(self, at: int = NOW) -> None:
        self.at = at
        self.step = 0

    def __call__(self) -> int:
        now = self.at
        self.at += self.step
        return now


@dataclass
class Scene:
    """A stored world, its policy and its clock."""

    policy: Policy
    store: MemoryStore
    capsule: str
    clock: Hands = field(default_factory=Hands)
    body: bytes = BODY

    @property
    def gate(self) -> Gate:
        return Gate(policy=self.policy, store=self.store, clock=self.clock)

    def at(self, seconds: int) -> Scene:
        """The same at another time, with a clock of its own."""
        return replace(self, clock=Hands(seconds))

    def ask(self, provider: str = "local", **changes: Any) -> Ask:
        """Wants to send the body to a provider."""
        fields: dict[str, Any] = {
            "capsule": self.capsule,
            "body": content_id(self.body),
            "provider": provider,
            "operation": "generate",
            "project": "demo",
        }
        return Ask(**(fields | changes))

    def outgoing(self, provider: str = "local", **changes: Any) -> Outgoing:
        """The body, let out."""
        request = authorize(self.ask(provider, **changes), self.gate).require()
        return release(request, self.body, self.clock)


class Loopback:
    """A transport that keeps what it was given, and answers or fails as it is told."""

    def __init__(self, *outcomes: str) -> None:
        self.outcomes = list(outcomes)
        self.sent: list[Outgoing] = []

    def send(self, outgoing: Outgoing) -> str:
        self.sent.append(outgoing)
        outcome = self.outcomes.pop(0) if self.outcomes else "ok"
        if outcome != "ok":
            raise TransportError(outcome, "as told")
        return outcome


def codes(made: Decision) -> tuple[str, ...]:
    """The refusals of a decision, which has a permission if and only if there are none."""
    assert (made.request is None) == bool(made.record.refusals)
    return made.record.refusals


def scene(
    providers: Sequence[dict[str, Any]] = (),
    *,
    edit: Callable[[Any], object] | None = None,
    authority: dict[str, Any] | None = None,
    **policy_changes: Any,
) -> Scene:
    """The kit's world, every provider of ``ALL`` covered by the authority.

    Args:
        providers: Those of the policy; by default ``local`` alone.
        edit: Changes the world's values before it is sealed.
        authority: Changes to the authority.
        policy_changes: Changes to the policy.
    """
    world = kit.World()
    world.prompt["authority"] |= {"providers": list(ALL)} | (authority or {})
    if edit is not None:
        edit(world)
    world.seal()
    store = MemoryStore()
    store.put_many(world.objects.values())
    capsule = store.put(kit.stored(world.prompt))
    value = policy_value(*(providers or [provider("local")]), **policy_changes)
    return Scene(policy=read_policy(kit.stored(value)), store=store, capsule=capsule)
