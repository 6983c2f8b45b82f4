"""The decision space of the policy: its points, an obvious verdict on each, and the values it stands for.

Loaded by path (fixture ``space`` in tests/conftest.py). ``CORE`` is everything that interacts, as one
product; ``SIDE`` is what the core leaves out: levels beside the evidence, ages, revocation, schemas.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from capsules.authority import Authority
from capsules.checks_case import Case, Evidence, Given
from capsules.checks_policy import check_policy
from capsules.codec import digest_of, from_value
from capsules.content_id import content_id
from capsules.decision import Ask, Facts, facts_of
from capsules.evidence import EvidenceCapsule
from capsules.policy import Policy, ProviderProfile
from capsules.prompt import PromptCapsule
from capsules.timestamp import format_time, parse_time

LEVELS = ("public", "internal", "confidential", "restricted")
OPENS, ENDS = parse_time("2024-01-01T00:00:00Z"), parse_time("2025-01-01T00:00:00Z")
TIMES = tuple(end + step for end in (OPENS, ENDS) for step in (-1, 0, 1))
YES_NO = (True, False)
BODY = content_id(b"body")


class Point(NamedTuple):
    """A point of the decision space, in words of its own. Every default is on the side of allowing."""

    level: int = 0  # the highest of the evidence
    extra: int = -1  # of what is sent beside it; -1: nothing
    authority_level: int = 0
    provider_level: int = 0
    same_project: bool = True  # the caller's and the evidence's
    project_known: bool = True  # to the policy
    project_served: bool = True  # by the provider
    operation_granted: bool = True  # by the authority
    operation_served: bool = True  # by the provider
    provider_granted: bool = True  # by the authority
    provider_known: bool = True  # to the policy
    hop: str = "first"  # first | retry | fallback | other
    now: int = OPENS
    stale_at: int | None = None
    revoked: bool = False
    schemas: bool = True  # supported by the policy


def verdict(p: Point) -> set[str]:
    """What a careful person would say."""
    says: set[str] = set()
    if not (p.now >= OPENS):
        says |= {"authority.not_yet_valid"}
    if not (p.now < ENDS):
        says |= {"authority.expired"}
    if p.stale_at is not None and not (p.now < p.stale_at):
        says |= {"freshness.expired"}
    sent = [p.level] if p.extra < 0 else [p.level, p.extra]
    if not all(level <= p.authority_level for level in sent):
        says |= {"authority.scope_exceeded"}
    if p.provider_known and not all(level <= p.provider_level for level in sent):
        says |= {"label.flow.denied"}
    if not p.operation_granted:
        says |= {"authority.scope_exceeded"}
    served = p.provider_known and p.project_served and p.operation_served
    if not (served and p.provider_granted):
        says |= {"provider.unauthorized"}
    if not (p.same_project and p.project_known):
        says |= {"scope.project.mismatch"}
    if p.hop == "other":
        says |= {"provider.route.unlisted"}
    if p.revoked:
        says |= {"authority.revoked"}
    if not p.schemas:
        says |= {"schema.major.unsupported"}
    return says


ROUTES = {"first": (), "retry": ("a",), "fallback": ("b",), "other": ("c",)}
SCHEMAS = ("evidence-capsule/1", "prompt-capsule/1")


class Capsules(NamedTuple):
    """What is validated at a point."""

    prompt: PromptCapsule
    prompt_id: str
    evidence: EvidenceCapsule
    evidence_id: str


class World:
    """Makes the values that a point stands for, each once."""

    def __init__(self, kit: Any) -> None:
        world = kit.World().seal()
        self.prompt = from_value(PromptCapsule, world.prompt | {"surface_snippet": None})
        self.evidence = from_value(EvidenceCapsule, world.public)
        self._made: dict[Any, Any] = {}

    def once(self, make: Any, *key: Any) -> Any:
        made = self._made.get((make, *key))
        if made is None:
            made = self._made[(make, *key)] = make(*key)
        return made

    def authority(self, level: int, operation: bool, provider: bool) -> Authority:
        return replace(
            self.prompt.authority,
            max_level=LEVELS[level],
            operations=("generate", "other") if operation else ("other",),
            providers=("a", "z") if provider else ("z",),
        )

    def capsules(self, level: int, stale_at: int | None, same: bool, authority: Authority) -> Capsules:
        evidence = replace(
            self.evidence,
            visibility=replace(
                self.evidence.visibility, level=LEVELS[level], project="demo" if same else "other"
            ),
            freshness=replace(
                self.evidence.freshness, expires_at=None if stale_at is None else format_time(stale_at)
            ),
        )
        ref = replace(self.prompt.evidence_capsule_refs[0], id=digest_of(evidence))
        prompt = replace(self.prompt, evidence_capsule_refs=(ref,), authority=authority)
        return Capsules(prompt, digest_of(prompt), evidence, ref.id)

    def facts(self, *key: Any) -> Facts:
        made = self.once(self.capsules, *key)
        return facts_of(made.prompt_id, made.prompt, [made.evidence])

    def policy(
        self,
        level: int,
        known: bool,
        served: bool,
        operation: bool,
        listed: bool,
        revoked: str,
        schemas: bool,
    ) -> Policy:
        asked = ProviderProfile(
            id="a",
            endpoint=None,
            max_level=LEVELS[level],
            projects=("demo",) if served else ("other",),
            operations=("generate",) if operation else (),
            fallbacks=(),
        )
        other = replace(asked, id="b", max_level="restricted", fallbacks=("a",) if listed else ())
        return Policy(
            schema_id="policy/1",
            projects=("demo", "more") if known else ("more",),
            providers=(other, replace(other, id="c", fallbacks=()), *((asked,) if listed else ())),
            revoked=(revoked,) if revoked else (),
            supported_schemas=SCHEMAS if schemas else SCHEMAS[:1],
            runtime="1.0.0",
        )

    def values(self, p: Point) -> tuple[Policy, Facts, Ask, Capsules]:
        authority = self.once(self.authority, p.authority_level, p.operation_granted, p.provider_granted)
        key = (p.level, p.stale_at, p.same_project, authority)
        facts = self.once(self.facts, *key)
        revoked = min(facts.ids) if p.revoked else ""
        rules = self.once(
            self.policy, p.provider_level, p.project_known, p.project_served, p.operation_served,
            p.provider_known, revoked, p.schemas,
        )  # fmt: skip
        return rules, facts, self.once(self.ask, p.extra, p.hop), self.once(self.capsules, *key)

    def ask(self, extra: int, hop: str) -> Ask:
        return Ask(
            capsule=BODY,
            body=BODY,
            provider="a",
            operation="generate",
            project="demo",
            level=None if extra < 0 else LEVELS[extra],
            route=ROUTES[hop],
        )


def checked(p: Point, world: World) -> set[str]:
    """What the stage ``policy`` of a validation says."""
    rules, _, ask, made = world.values(p)
    given = Given(now=format_time(p.now), policy=rules, provider=ask.provider, operation=ask.operation)
    found = Evidence(id=made.evidence_id, capsule=made.evidence)
    case = Case(given=given, data=b"", expect=None, wanted=None, prompt=made.prompt, evidence=[found])
    case.subject = made.prompt_id
    check_policy(case)
    return {row.code for row in case.ledger.rows if row.result == "fail" and row.code}


# evidence level x authority level x provider level x who lists and grants what x the hop x the time
CORE: dict[str, Any] = {
    "level": range(4), "authority_level": range(4), "provider_level": range(4),
    "same_project": YES_NO, "project_known": YES_NO, "project_served": YES_NO,
    "operation_granted": YES_NO, "operation_served": YES_NO,
    "provider_granted": YES_NO, "provider_known": YES_NO,
    "hop": ("first", "retry", "other"), "now": TIMES,
}  # fmt: skip

SIDE: dict[str, Any] = {
    "level": range(4), "extra": range(-1, 4), "authority_level": range(4), "provider_level": range(4),
    "hop": tuple(ROUTES), "now": TIMES, "stale_at": (None, OPENS, OPENS + 1, ENDS - 1, ENDS),
    "revoked": YES_NO, "schemas": YES_NO, "provider_known": YES_NO,
}  # fmt: skip


def points(axes: dict[str, Any]) -> Iterator[Point]:
    for values in itertools.product(*axes.values()):
        yield Point(**dict(zip(axes, values, strict=True)))
