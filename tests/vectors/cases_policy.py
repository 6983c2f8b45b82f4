"""Vectors of ``verify`` with authority, a policy file and a provider, and of wrong usage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import kit
from kit import IDS, World, stored
from recipes import Vector
from verify_recipe import both, put, verify

from capsules.content_id import content_id


def cases() -> Iterator[Vector]:
    """All of them."""
    yield from _authority()
    yield from _policy()
    yield from _provider()


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
    public = content_id(stored(World().seal().public))
    subject = content_id(stored(World().seal().prompt))

    def policy(**changes: Any) -> dict[str, Any]:
        return kit.policy() | changes

    yield verify("verify-policy", "a policy, nobody to send to", policy=policy())
    yield verify(
        "verify-policy-pretty",
        "a policy need not be canonical",
        policy=b'{ "schema_id": "policy/1", "projects": ["demo"], "providers": [], "revoked": [],\n'
        b'  "supported_schemas": ["evidence-capsule/1", "prompt-capsule/1"], "runtime": "1.5" }\n',
    )
    yield verify("verify-policy-evidence", "evidence by itself", policy=policy(), of="public")
    for name, revoked, why in (
        ("capsule", subject, "the capsule is revoked"),
        ("evidence", public, "one of its evidence capsules is"),
        ("source", IDS["notes"], "one of its sources is"),
    ):
        yield verify(
            f"verify-policy-revoked-{name}_fail",
            why,
            None,
            ("authority.revoked",),
            policy=policy(revoked=[revoked]),
        )
    yield verify(
        "verify-policy-revoked-alone_fail",
        "evidence by itself from a revoked source",
        None,
        ("authority.revoked",),
        of="public",
        policy=policy(revoked=[IDS["valve"]]),
    )
    yield verify(
        "verify-policy-schema_fail",
        "the policy does not support evidence",
        None,
        ("schema.major.unsupported",),
        policy=policy(supported_schemas=["prompt-capsule/1"]),
    )
    yield verify(
        "verify-policy-runtime_fail",
        "the policy's runtime is too old",
        None,
        ("runtime.unsupported",),
        policy=policy(runtime="0.9.9"),
    )
    yield verify(
        "verify-policy-project_fail",
        "a project that the policy does not list",
        None,
        ("scope.project.mismatch",),
        policy=policy(projects=["other"]),
    )
    yield verify(
        "verify-policy-empty_fail",
        "a policy that lists nothing denies everything",
        None,
        ("schema.major.unsupported", "scope.project.mismatch"),
        policy=policy(projects=[], providers=[], supported_schemas=[]),
    )


def _provider() -> Iterator[Vector]:
    def policy(**changes: Any) -> dict[str, Any]:
        value = kit.policy()
        value["providers"][0].update(changes)
        return value

    both_providers = put("prompt/authority/providers", ["cloud", "local"])
    yield verify(
        "verify-provider", "valid, and authorized for the provider", policy=policy(), provider="local"
    )
    yield verify(
        "verify-provider-level-equal",
        "a provider for exactly this level",
        policy=policy(max_level="internal"),
        provider="local",
    )
    rows: tuple[tuple[str, Any, Any, str, tuple[str, ...], str], ...] = (
        (
            "unlisted",
            both_providers,
            kit.policy() | {"providers": [kit.provider("local", "internal")]},
            "cloud",
            ("provider.unauthorized",),
            "a provider that the policy does not list",
        ),
        (
            "no-grant",
            None,
            policy(),
            "cloud",
            ("provider.unauthorized", "label.flow.denied"),
            "a provider that the capsule's authority does not name, and too low a level",
        ),
        ("unknown", None, policy(), "elsewhere", ("provider.unauthorized",), "a provider nobody knows"),
        ("case", None, policy(), "Local", ("provider.unauthorized",), "names are compared exactly"),
        (
            "level",
            None,
            policy(max_level="public"),
            "local",
            ("label.flow.denied",),
            "internal evidence, a public provider",
        ),
        (
            "fallback",
            both_providers,
            policy(),
            "cloud",
            ("label.flow.denied",),
            "a fallback is decided anew: the cloud may not see internal evidence",
        ),
        (
            "operation",
            None,
            policy(operations=["embed"]),
            "local",
            ("provider.unauthorized",),
            "an operation that the provider does not list",
        ),
        (
            "grant-operation",
            put("prompt/authority/operations", ["inspect"]),
            policy(),
            "local",
            ("authority.scope_exceeded",),
            "an operation that the authority does not grant",
        ),
        (
            "project",
            None,
            policy(projects=["other"]),
            "local",
            ("provider.unauthorized",),
            "a project that the provider does not list",
        ),
        (
            "several",
            None,
            policy(projects=[], operations=[], max_level="public"),
            "local",
            ("provider.unauthorized", "label.flow.denied"),
            "every refusal is reported",
        ),
        (
            "no-operations",
            put("prompt/authority/operations", []),
            policy(),
            "local",
            ("authority.scope_exceeded",),
            "an authority without operations",
        ),
    )
    for name, change, file, provider, codes, why in rows:
        yield verify(f"verify-provider-{name}_fail", why, change, codes, policy=file, provider=provider)
    yield verify(
        "verify-provider-evidence_fail",
        "evidence by itself carries no authority",
        None,
        ("authority.missing",),
        of="public",
        policy=policy(),
        provider="local",
    )
    yield verify(
        "verify-provider-invalid_fail",
        "an invalid capsule is authorized for nobody",
        put("prompt/omissions/0/required", True),
        ("evidence.required.omitted",),
        policy=policy(),
        provider="local",
    )
    yield verify(
        "verify-provider-revoked_fail",
        "a denial overrides every permission",
        None,
        ("authority.revoked",),
        policy=policy() | {"revoked": [IDS["valve"]]},
        provider="local",
    )
