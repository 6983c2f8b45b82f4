"""Vectors of ``verify`` with authority, a policy file and a provider."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import kit
from kit import IDS, World, stored
from recipes import Vector
from verify_recipe import Change, both, put, verify

from capsules.content_id import content_id

_cloud_too = put("prompt/authority/providers", ["cloud", "local"])


def cases() -> Iterator[Vector]:
    """All of them."""
    yield from _authority()
    yield from _policy()
    yield from _revoked()
    yield from _unlisted()
    yield from _authorized()
    yield from _another_provider()
    yield from _too_low()
    yield from _too_much()
    yield from _denied_anyway()


def _authority() -> Iterator[Vector]:
    fresh = both(put("public/freshness/expires_at", None), put("internal/freshness/expires_at", None))
    yield verify(
        "verify-authority-early_fail",
        "one second before not_before",
        None,
        ("authority.not_yet_valid",),
        now="2023-12-31T23:59:59Z",
    )
    yield verify("verify-authority-last", "the last valid second", fresh, now="2024-12-31T23:59:59Z")
    yield verify(
        "verify-authority-expired_fail",
        "expires_at itself is outside",
        fresh,
        ("authority.expired",),
        now="2025-01-01T00:00:00Z",
    )
    yield verify(
        "verify-authority-long-expired_fail",
        "a year later",
        fresh,
        ("authority.expired",),
        now="2026-01-01T00:00:01Z",
    )
    yield verify(
        "verify-authority-empty_fail",
        "a period of no length is never valid",
        put("prompt/authority/expires_at", "2024-01-01T00:00:00Z"),
        ("authority.expired",),
        now="2024-01-01T00:00:00Z",
    )
    yield verify(
        "verify-authority-backwards_fail",
        "a period that ends before it begins: both codes",
        both(
            put("prompt/authority/not_before", "2024-12-01T00:00:00Z"),
            put("prompt/authority/expires_at", "2024-02-01T00:00:00Z"),
        ),
        ("authority.not_yet_valid", "authority.expired"),
    )
    yield verify(
        "verify-authority-level_fail",
        "internal evidence under an authority for public",
        put("prompt/authority/max_level", "public"),
        ("authority.scope_exceeded",),
    )
    yield verify(
        "verify-authority-snippet_fail",
        "a snippet above the authority's level",
        put("prompt/surface_snippet/level", "restricted"),
        ("authority.scope_exceeded",),
    )


def _policy() -> Iterator[Vector]:
    yield verify("verify-policy", "a policy, nobody to send to", policy=kit.policy())
    yield verify(
        "verify-policy-pretty",
        "a policy need not be canonical",
        policy=b'{ "schema_id": "policy/1", "projects": ["demo"], "providers": [], "revoked": [],\n'
        b'  "supported_schemas": ["evidence-capsule/1", "prompt-capsule/1"], "runtime": "1.5" }\n',
    )
    yield verify("verify-policy-evidence", "evidence by itself", policy=kit.policy(), of="public")


def _revoked() -> Iterator[Vector]:
    public = content_id(stored(World().seal().public))
    subject = content_id(stored(World().seal().prompt))
    for name, revoked, why, of in (
        ("capsule", subject, "the capsule is revoked", "prompt"),
        ("evidence", public, "one of its evidence capsules is", "prompt"),
        ("source", IDS["notes"], "one of its sources is", "prompt"),
        ("alone", IDS["valve"], "evidence by itself from a revoked source", "public"),
    ):
        yield verify(
            f"verify-policy-revoked-{name}_fail",
            why,
            None,
            ("authority.revoked",),
            policy=kit.policy() | {"revoked": [revoked]},
            of=of,
        )


def _unlisted() -> Iterator[Vector]:
    """What the policy does not list, it denies."""
    schema, project = "schema.major.unsupported", "scope.project.mismatch"
    nothing: dict[str, Any] = {"projects": [], "providers": [], "supported_schemas": []}
    rows: tuple[tuple[str, str, tuple[str, ...], dict[str, Any]], ...] = (
        (
            "schema",
            "the policy does not support evidence",
            (schema,),
            {"supported_schemas": ["prompt-capsule/1"]},
        ),
        ("runtime", "the policy's runtime is too old", ("runtime.unsupported",), {"runtime": "0.9.9"}),
        ("project", "a project that the policy does not list", (project,), {"projects": ["other"]}),
        ("empty", "a policy that lists nothing denies everything", (schema, project), nothing),
    )
    for name, why, codes, changes in rows:
        yield verify(f"verify-policy-{name}_fail", why, None, codes, policy=kit.policy() | changes)


def _profile(**changes: Any) -> dict[str, Any]:
    """The policy with another profile of ``local``."""
    value = kit.policy()
    value["providers"][0].update(changes)
    return value


def _refused(
    name: str,
    why: str,
    *codes: str,
    change: Change | None = None,
    policy: dict[str, Any] | None = None,
    provider: str = "local",
) -> Vector:
    """A capsule that may not be sent to a provider."""
    return verify(
        f"verify-provider-{name}_fail",
        why,
        change,
        codes,
        policy=kit.policy() if policy is None else policy,
        provider=provider,
    )


def _authorized() -> Iterator[Vector]:
    why = "valid, and authorized for the provider"
    yield verify("verify-provider", why, policy=kit.policy(), provider="local")
    yield verify(
        "verify-provider-level-equal",
        "a provider for exactly this level",
        policy=_profile(max_level="internal"),
        provider="local",
    )


def _another_provider() -> Iterator[Vector]:
    """Somebody whom the policy or the authority does not name."""
    unauthorized = "provider.unauthorized"
    yield _refused(
        "unlisted",
        "a provider that the policy does not list",
        unauthorized,
        change=_cloud_too,
        policy=kit.policy() | {"providers": [kit.provider("local", "internal")]},
        provider="cloud",
    )
    yield _refused(
        "no-grant",
        "a provider that the capsule's authority does not name, and too low a level",
        unauthorized,
        "label.flow.denied",
        provider="cloud",
    )
    yield _refused("unknown", "a provider nobody knows", unauthorized, provider="elsewhere")
    yield _refused("case", "names are compared exactly", unauthorized, provider="Local")


def _too_low() -> Iterator[Vector]:
    """A provider below the level of the evidence."""
    code, public = "label.flow.denied", _profile(max_level="public")
    yield _refused("level", "internal evidence, a public provider", code, policy=public)
    yield _refused(
        "fallback",
        "a fallback is decided anew: the cloud may not see internal evidence",
        code,
        change=_cloud_too,
        provider="cloud",
    )


def _too_much() -> Iterator[Vector]:
    """More than the provider's profile or the authority grants."""
    unauthorized, exceeded = "provider.unauthorized", "authority.scope_exceeded"
    operations = "prompt/authority/operations"
    yield _refused(
        "operation",
        "an operation that the provider does not list",
        unauthorized,
        policy=_profile(operations=["embed"]),
    )
    yield _refused(
        "grant-operation",
        "an operation that the authority does not grant",
        exceeded,
        change=put(operations, ["inspect"]),
    )
    yield _refused(
        "project",
        "a project that the provider does not list",
        unauthorized,
        policy=_profile(projects=["other"]),
    )
    yield _refused(
        "several",
        "every refusal is reported",
        unauthorized,
        "label.flow.denied",
        policy=_profile(projects=[], operations=[], max_level="public"),
    )
    yield _refused("no-operations", "an authority without operations", exceeded, change=put(operations, []))


def _denied_anyway() -> Iterator[Vector]:
    """Whatever the profile of the provider says."""
    yield verify(
        "verify-provider-evidence_fail",
        "evidence by itself carries no authority",
        None,
        ("authority.missing",),
        of="public",
        policy=kit.policy(),
        provider="local",
    )
    yield _refused(
        "invalid",
        "an invalid capsule is authorized for nobody",
        "evidence.required.omitted",
        change=put("prompt/omissions/0/required", True),
    )
    yield _refused(
        "revoked",
        "a denial overrides every permission",
        "authority.revoked",
        policy=kit.policy() | {"revoked": [IDS["valve"]]},
    )
