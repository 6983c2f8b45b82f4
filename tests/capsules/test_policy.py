"""The policy: default deny, deny overrides; compared with a second formulation over its whole space."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from capsules.canonical import canonical_bytes
from capsules.codec import digest_of
from capsules.content_id import content_id
from capsules.errors import ParseError, SchemaError
from capsules.policy import Policy, ProviderProfile, Use, provider_problems, read_policy

LEVELS = ("public", "internal", "confidential", "restricted")


def profile(name: str, **changes: Any) -> ProviderProfile:
    fields: dict[str, Any] = {
        "endpoint": None,
        "max_level": "internal",
        "projects": ("p",),
        "operations": ("generate",),
        "fallbacks": (),
    }
    return ProviderProfile(id=name, **{**fields, **changes})


def policy_of(*providers: ProviderProfile) -> Policy:
    return Policy(
        schema_id="policy/1",
        projects=("p",),
        providers=providers,
        revoked=(),
        supported_schemas=("prompt-capsule/1",),
        runtime="1.0.0",
    )


def allowed(policy: Policy, use: Use) -> bool:
    found = provider_problems(policy, use)
    return len(found) == 4 and not any(found.values())


def obvious(policy: Policy, use: Use) -> bool:
    """The same rules the other way round: a use is allowed because one profile says so in full."""
    for one in policy.providers:
        if one.id == use.provider and use.project in one.projects and use.operation in one.operations:
            below = LEVELS[: LEVELS.index(one.max_level) + 1]
            if set(use.levels) <= set(below):
                return True
    return False


def test_both_formulations_agree_on_every_point() -> None:
    subsets = [tuple(c) for n in range(3) for c in itertools.combinations(("p", "q"), n)]
    operations = [(), ("generate",), ("embed",), ("embed", "generate")]
    level_sets = [tuple(c) for n in range(5) for c in itertools.combinations(LEVELS, n)]
    points = agreed = granted = 0
    for max_level, projects, names in itertools.product(LEVELS, subsets, operations):
        policy = policy_of(
            profile("a", max_level=max_level, projects=projects, operations=names, fallbacks=("b",)),
            profile("b", max_level="restricted", projects=("p", "q"), operations=("generate",)),
        )
        for provider, project, operation, levels in itertools.product(
            ("a", "b", "c"), ("p", "q", "r"), ("generate", "embed", "send"), level_sets
        ):
            use = Use(provider=provider, operation=operation, project=project, levels=levels)
            points += 1
            verdict = allowed(policy, use)
            granted += verdict
            agreed += verdict == obvious(policy, use)

    assert points == 4 * 4 * 4 * 3 * 3 * 3 * 16
    assert agreed == points
    assert 0 < granted < points


def test_each_refusal_has_its_code() -> None:
    policy = policy_of(profile("a"))
    use = Use(provider="a", operation="embed", project="q", levels=("restricted", "public", "confidential"))

    found = provider_problems(policy, use)

    assert [(check, problem.code, problem.actual) for check, all_ in found.items() for problem in all_] == [
        ("provider.operation", "provider.unauthorized", "'embed'"),
        ("provider.project", "provider.unauthorized", "text of 1 characters"),
        ("provider.level", "label.flow.denied", "confidential"),
        ("provider.level", "label.flow.denied", "restricted"),
    ]


def test_no_providers_means_no_provider() -> None:
    assert not allowed(policy_of(), Use(provider="local", operation="generate", project="p", levels=()))


VALUE: dict[str, Any] = {
    "schema_id": "policy/1",
    "projects": ["p"],
    "providers": [
        {
            "id": "a",
            "endpoint": None,
            "max_level": "public",
            "projects": [],
            "operations": [],
            "fallbacks": ["b"],
        },
        {
            "id": "b",
            "endpoint": "https://b.example",
            "max_level": "public",
            "projects": [],
            "operations": [],
            "fallbacks": [],
        },
    ],
    "revoked": [],
    "supported_schemas": [],
    "runtime": "1",
}


LOOP = VALUE["providers"][0] | {"fallbacks": ["a"]}


def test_a_policy_is_read_whatever_its_white_space_and_has_one_id() -> None:
    pretty = canonical_bytes(VALUE).replace(b",", b" ,\n")

    assert digest_of(read_policy(pretty)) == content_id(canonical_bytes(VALUE))
    assert read_policy(pretty).provider("b") == read_policy(pretty).providers[1]
    assert read_policy(pretty).provider("B") is None


@pytest.mark.parametrize(
    ("change", "code", "at"),
    [
        ({"schema_id": "policy/2"}, "schema.major.unsupported", "/schema_id"),
        ({"schema_id": 1}, "schema.field.type", "/schema_id"),
        ({"extra": 1}, "schema.field.unknown", "/extra"),
        ({"revoked": ["b3:x"]}, "id.malformed", "/revoked/0"),
        ({"projects": ["p", "p"]}, "schema.duplicate", "/projects/1"),
        ({"providers": VALUE["providers"][:1]}, "schema.reference", "/providers/0/fallbacks/0"),
        (
            {"providers": [VALUE["providers"][0] | {"fallbacks": ["a"]}]},
            "schema.reference",
            "/providers/0/fallbacks/0",
        ),
        ({"providers": [VALUE["providers"][1]] * 2}, "schema.duplicate", "/providers/1"),
        ({"runtime": "v1"}, "schema.word", "/runtime"),
        ({"runtime": "1\n"}, "schema.word", "/runtime"),
    ],
)
def test_a_policy_of_another_shape_is_refused(change: dict[str, Any], code: str, at: str) -> None:
    with pytest.raises(SchemaError) as caught:
        read_policy(canonical_bytes(VALUE | change))

    assert (caught.value.code, caught.value.at) == (code, at)


def test_a_policy_is_strict_json() -> None:
    with pytest.raises(ParseError, match=r"json\.key\.duplicate"):
        read_policy(b'{"runtime":"1","runtime":"2"}')
    with pytest.raises(SchemaError, match=r"schema\.field\.type"):
        read_policy(b"[]")
