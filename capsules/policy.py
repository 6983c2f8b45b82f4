"""The policy file: who may be sent what. Default deny, and a denial overrides everything.

    {"schema_id": "policy/1", "projects": [str], "providers": [{"id", "endpoint": null|url, "max_level",
     "projects": [str], "operations": [str], "fallbacks": [id]}], "revoked": ["b3:..."],
     "supported_schemas": [str], "runtime": "1.0.0"}

* It is strict JSON with exactly these fields; it need not be canonical (people write it). Its id is
  the ContentId of its canonical form.
* A use is allowed if the provider is listed, its level is not below the highest level of what would
  be sent, and it lists the project and the operation; anything that no rule allows is denied.
* ``local`` is a provider like any other. A provider that is not listed is denied, and so is one that
  could only be reached as a fallback of another: each hop is decided anew.
* Refusals name codes and ids, never content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated

from capsules.arrays import Distinct, itself
from capsules.canonical import parse_strict
from capsules.codec import from_value
from capsules.described import described, described_schema_id
from capsules.errors import SchemaError
from capsules.rules import LEVELS, ContentId, Level, Name, PatternRule, Problem, WordRule
from capsules.runtime import VERSION_PATTERN
from capsules.shape import Record, law

SCHEMA_ID = "policy/1"

Names = Annotated[tuple[Name, ...], Distinct("names", itself)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderProfile(Record):
    """What one provider may receive, and where it is reached."""

    id: Name
    endpoint: Name | None
    max_level: Level
    projects: Names
    operations: Names
    fallbacks: Names


def _id(profile: ProviderProfile) -> str:
    return profile.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Record):
    """A policy file."""

    schema_id: Annotated[str, WordRule(SCHEMA_ID)]
    projects: Names
    providers: Annotated[tuple[ProviderProfile, ...], Distinct("provider ids", _id)]
    revoked: Annotated[tuple[ContentId, ...], Distinct("ids", itself)]
    supported_schemas: Names
    runtime: Annotated[str, PatternRule(VERSION_PATTERN, "schema.word", "a version like 1.0.0")]

    @law("providers")
    def _fallbacks_resolve(self) -> Iterator[Problem]:
        known = {profile.id for profile in self.providers}
        for index, profile in enumerate(self.providers):
            for place, name in enumerate(profile.fallbacks):
                if name not in known or name == profile.id:
                    at = f"/providers/{index}/fallbacks/{place}"
                    yield Problem("schema.reference", at, "the id of another provider", "another")

    def provider(self, name: str) -> ProviderProfile | None:
        """The profile of a provider; ``None`` where the policy does not list it."""
        return next((profile for profile in self.providers if profile.id == name), None)


def read_policy(data: bytes) -> Policy:
    """The policy of a file; ``codec.digest_of`` gives its ContentId.

    Raises:
        ParseError: What the strict reader refuses.
        SchemaError: The first failure of the shape; another schema_id is ``schema.major.unsupported``.
    """
    value = parse_strict(data)
    found = value.get("schema_id") if isinstance(value, dict) else None
    if isinstance(found, str) and found != SCHEMA_ID:
        raise SchemaError(
            "schema.major.unsupported",
            f"expected {SCHEMA_ID}, found {described_schema_id(found)}",
            at="/schema_id",
        )
    return from_value(Policy, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What somebody wants to do: an operation of a project through a provider, with these levels."""

    provider: str
    operation: str
    project: str
    levels: tuple[str, ...]


def provider_problems(policy: Policy, use: Use) -> dict[str, list[Problem]]:
    """What the policy has against a use, by check; allowed if all checks are there and empty.

    Where the provider is not listed there is no profile to hold the use against: only
    ``provider.listed`` is decided.
    """
    profile = policy.provider(use.provider)
    if profile is None:
        return {"provider.listed": _unless(False, "", "a provider of the policy", ascii(use.provider)[:80])}
    return {
        "provider.listed": [],
        "provider.operation": _unless(
            use.operation in profile.operations, "", "an operation of the provider", ascii(use.operation)[:80]
        ),
        "provider.project": _unless(
            use.project in profile.projects, "/project", "a project of the provider", described(use.project)
        ),
        "provider.level": list(_levels(profile, use.levels)),
    }


def _unless(allowed: bool, at: str, what: str, found: str) -> list[Problem]:
    return [] if allowed else [Problem("provider.unauthorized", at, what, found)]


def _levels(profile: ProviderProfile, levels: Iterable[str]) -> Iterator[Problem]:
    highest = LEVELS.index(profile.max_level)
    for level in sorted(set(levels), key=LEVELS.index):
        if LEVELS.index(level) > highest:
            yield Problem(
                "label.flow.denied", "/evidence_capsule_refs", f"at most {profile.max_level}", level
            )
