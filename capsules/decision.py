"""What the policy decides about sending one body to one provider: a pure function over few facts.

Allowed only if every rule holds. Each rule that does not hold adds its code, and any one code denies;
nothing is allowed because no rule speaks of it. Nothing is raised or lowered on the way.

    authority.not_yet_valid, authority.expired   not_before <= now < expires_at does not hold
    authority.revoked            the policy revokes the capsule, an evidence capsule or a source
    authority.scope_exceeded     the authority does not cover the operation or a level
    freshness.expired            evidence of the policy ``hard`` is not fresh at ``now``
    label.flow.denied            a level is above what the provider may receive
    label.undetermined           no capsule says how public the body is
    provider.route.unlisted      a hop that no earlier provider of the route lists as its fallback
    provider.unauthorized        the authority or the policy does not list the provider, or the policy
                                 does not list this operation or project for it
    schema.major.unsupported     the policy does not support a schema of the capsules
    scope.project.mismatch       two projects, or one that the policy does not list

* ``local`` is a provider like any other. What has no capsule, and so no label, may go to ``local`` alone,
  under a profile without an endpoint: it does not leave the machine (``exempt_refusals``).
* A route is the providers that were asked before, in order. The next one must be one of them (a retry) or
  a fallback of one of them; so must each of them have been.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from capsules.authority import Authority
from capsules.clock import Clock
from capsules.codes import CODES
from capsules.errors import CapsuleError
from capsules.evidence import EvidenceCapsule
from capsules.policy import Policy
from capsules.prompt import PromptCapsule
from capsules.rules import LEVELS, ContentId, Level, Name, Time, WordRule
from capsules.shape import Record
from capsules.store import Store
from capsules.timestamp import parse_time
from capsules.tokenizer import Tokenizer

SCHEMA_ID = "decision/1"
NOT_EVALUATED = "policy.not_evaluated"
LOCAL = "local"
UNLABELLED = "unlabelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask(Record):
    """One wish to send.

    Attributes:
        capsule: The prompt capsule, by identity; ``None`` for a body that has none.
        body: ContentId of exactly the bytes that would be sent.
        provider: Who would receive them.
        operation: What the provider would do with them.
        project: The project that the caller works for.
        level: The level of what the body holds besides the capsule's evidence (few-shot examples), where
            there is any; it can only add to the levels of the capsule.
        route: The providers that were asked for this body before, in order.
    """

    capsule: ContentId | None
    body: ContentId
    provider: Name
    operation: Name
    project: Name
    level: Level | None = None
    route: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRecord(Record):
    """What was decided, on what; its ContentId is the decision's id.

    Attributes:
        policy: ContentId of the policy's canonical form; ``None`` where it could not be asked.
        endpoint: Where the provider is reached, as the policy says; ``None``: on this machine, or unknown.
        levels: The levels of what would be sent, as far as the capsule could be read, lowest first.
        now: The clock's reading; ``None`` where the clock failed.
        refusals: Failure codes, sorted; empty: allowed.
        exemption: ``unlabelled`` for a body without a capsule.
    """

    schema_id: Annotated[str, WordRule(SCHEMA_ID)]
    policy: ContentId | None
    capsule: ContentId | None
    body: ContentId
    provider: Name
    endpoint: Name | None
    operation: Name
    project: Name
    levels: tuple[Level, ...]
    route: tuple[Name, ...]
    now: Time | None
    refusals: tuple[Name, ...]
    exemption: Annotated[str, WordRule(UNLABELLED)] | None


class DeniedError(CapsuleError):
    """Nothing was sent.

    Attributes:
        codes: Everything that stands against it; ``code`` is the first.
        decision: The id of the decision.
        capsule: The id of the prompt capsule; ``None`` for a body that has none.
        evaluated: Whether every rule was asked.
    """

    def __init__(self, codes: tuple[str, ...], decision: str, capsule: str | None, evaluated: bool) -> None:
        super().__init__(codes[0], f"{', '.join(codes)} (capsule {capsule}, decision {decision})")
        self.codes = codes
        self.decision = decision
        self.capsule = capsule
        self.evaluated = evaluated


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What decisions are made from.

    Attributes:
        store: Holds the capsules and their sources; what is read there is verified.
        tokenizer: With it a capsule must also render without control tokens and fit its window.
    """

    policy: Policy
    store: Store
    clock: Clock
    tokenizer: Tokenizer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a decision needs to know of a capsule that has been validated: ids, names, levels, times.

    Attributes:
        ids: The capsule, its evidence capsules and their sources.
        schemas: Schema ids of the capsules.
        projects: Projects of the prompt and of its evidence.
        levels: Levels of the evidence and of the snippet, lowest first.
        authority: The capsule's authority.
        not_before, expires_at: Its validity, in seconds.
        stale_at: When the first evidence of the policy ``hard`` expires; ``None``: never.
    """

    ids: frozenset[str]
    schemas: frozenset[str]
    projects: frozenset[str]
    levels: tuple[str, ...]
    authority: Authority
    not_before: int
    expires_at: int
    stale_at: int | None


def facts_of(capsule: str, prompt: PromptCapsule, evidence: Sequence[EvidenceCapsule]) -> Facts:
    """The facts of a prompt capsule of this id and of the evidence that its refs lead to."""
    ids = {capsule, *(ref.id for ref in prompt.evidence_capsule_refs)}
    ids.update(ref.source for one in evidence for ref in one.source_refs)
    levels = {one.visibility.level for one in evidence}
    if prompt.surface_snippet is not None:
        levels.add(prompt.surface_snippet.level)
    ages = [one.freshness for one in evidence if one.freshness.policy == "hard"]
    ends = [parse_time(age.expires_at) for age in ages if age.expires_at is not None]
    return Facts(
        ids=frozenset(ids),
        schemas=frozenset({prompt.schema_id, *(one.schema_id for one in evidence)}),
        projects=frozenset({prompt.project, *(one.visibility.project for one in evidence)}),
        levels=_sorted(levels),
        authority=prompt.authority,
        not_before=parse_time(prompt.authority.not_before),
        expires_at=parse_time(prompt.authority.expires_at),
        stale_at=min(ends, default=None),
    )


def refusals(policy: Policy, facts: Facts, ask: Ask, now: int) -> set[str]:
    """Every code against sending, at ``now`` in seconds; empty: allowed."""
    found = _route_refusals(policy, ask) | _authority_refusals(facts, ask, now)
    if not facts.ids.isdisjoint(policy.revoked):
        found.add("authority.revoked")
    if not facts.schemas.issubset(policy.supported_schemas):
        found.add("schema.major.unsupported")
    if facts.projects | {facts.authority.project} != {ask.project} or ask.project not in policy.projects:
        found.add("scope.project.mismatch")
    if facts.stale_at is not None and now >= facts.stale_at:
        found.add("freshness.expired")
    profile = policy.provider(ask.provider)
    if profile is None or ask.operation not in profile.operations or ask.project not in profile.projects:
        found.add("provider.unauthorized")
    if profile is not None and _above(facts, ask, profile.max_level):
        found.add("label.flow.denied")
    return found


def exempt_refusals(policy: Policy, ask: Ask) -> set[str]:
    """Every code against sending a body that has no capsule; empty: allowed, as ``unlabelled``."""
    found = _route_refusals(policy, ask)
    profile = policy.provider(ask.provider)
    if ask.capsule is not None or ask.provider != LOCAL or profile is None or profile.endpoint is not None:
        found.add("label.undetermined")
    if profile is None or ask.operation not in profile.operations or ask.project not in profile.projects:
        found.add("provider.unauthorized")
    if ask.project not in policy.projects:
        found.add("scope.project.mismatch")
    return found


def _authority_refusals(facts: Facts, ask: Ask, now: int) -> set[str]:
    authority, found = facts.authority, set()
    if now < facts.not_before:
        found.add("authority.not_yet_valid")
    if now >= facts.expires_at:
        found.add("authority.expired")
    if ask.operation not in authority.operations or _above(facts, ask, authority.max_level):
        found.add("authority.scope_exceeded")
    if ask.provider not in authority.providers:
        found.add("provider.unauthorized")
    return found


def levels_of(facts: Facts, ask: Ask) -> tuple[str, ...]:
    """The levels of what would be sent, lowest first."""
    return facts.levels if ask.level is None else _sorted({*facts.levels, ask.level})


def _sorted(levels: set[str]) -> tuple[str, ...]:
    return tuple(sorted(levels, key=LEVELS.index))


def _above(facts: Facts, ask: Ask, max_level: str) -> bool:
    """Whether any level of what would be sent is above ``max_level``."""
    levels = levels_of(facts, ask)
    return bool(levels) and LEVELS.index(levels[-1]) > LEVELS.index(max_level)


def _route_refusals(policy: Policy, ask: Ask) -> set[str]:
    hops = (*ask.route, ask.provider)
    reachable = {hops[0]}
    for hop in hops:
        if hop not in reachable:
            return {"provider.route.unlisted"}
        profile = policy.provider(hop)
        reachable.update(() if profile is None else profile.fallbacks)
    return set()


def codes_of(error: Exception) -> set[str]:
    """What an error of a rule, a store or a clock counts as: a failure code, whatever it says of itself."""
    known = isinstance(error, CapsuleError) and CODES.get(error.code) == "failure"
    return {error.code if known and isinstance(error, CapsuleError) else NOT_EVALUATED}
