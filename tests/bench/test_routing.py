"""Routes: the first provider, then the fallbacks that are listed, in order, and nobody else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bench.groups import groups_of, provider_asked
from bench.routing import route_all
from bench.run_policy import policy_of
from bench.specs import ProviderSpec, ServerSpec

SERVER = ServerSpec(engine="openai", model="m")


def provider(name: str, *fallbacks: str, level: str = "public") -> ProviderSpec:
    return ProviderSpec(
        provider_id=name, endpoint=f"https://{name}.example/v1", max_level=level, projects=("bench",),
        operations=("generate",), fallbacks=fallbacks, server=SERVER,
    )  # fmt: skip


def routed(
    world: Any, *providers: ProviderSpec
) -> list[tuple[str | None, list[tuple[str, tuple[str, ...]]]]]:
    """Provider and hops of every sample of the arm ``capsule``, whose authority covers ``local`` alone."""
    arms = tuple(
        replace(arm, provider="policy") if arm.arm_id == "capsule" else arm for arm in world.spec.arms
    )
    spec = replace(world.spec, arms=arms, providers=providers)
    prepared = [p.prepared for p in world.cell("capsule.off")]
    rows = route_all(spec, prepared, world.store, spec.task.as_of)
    assert [row.sample_id for row in rows] == [item.sample_id for item in prepared]
    return [(row.provider, [(hop.provider, hop.codes) for hop in row.hops]) for row in rows]


def test_fallbacks_are_asked_in_order_and_theirs_after_them(world: Any) -> None:
    found = routed(
        world,
        provider("cloud", "near", "far"),
        provider("near"),
        provider("far", "local", level="restricted"),
    )
    for got, hops in found:
        assert got == "local"
        assert [name for name, _ in hops] == ["cloud", "near", "far", "local"]
        assert all("provider.unauthorized" in codes for _, codes in hops[:-1])
        assert hops[-1][1] == ()


def test_who_is_no_fallback_is_not_asked_and_the_sample_goes_nowhere(world: Any) -> None:
    for got, hops in routed(world, provider("cloud"), provider("other", "local")):
        assert got is None
        assert [name for name, _ in hops] == ["cloud"]


def test_a_circle_ends(world: Any) -> None:
    for got, hops in routed(world, provider("a", "b"), provider("b", "a")):
        assert (got, [name for name, _ in hops]) == (None, ["a", "b"])


def test_without_routed_arms_nobody_is_asked(world: Any) -> None:
    prepared = [p.prepared for p in world.cell("capsule.off")]
    assert route_all(world.spec, prepared, world.store, world.spec.task.as_of) == ()


@pytest.mark.parametrize("mine", [False, True])
def test_local_has_every_level_unless_it_has_a_profile_of_its_own(mine: bool) -> None:
    own = replace(provider("local"), endpoint=None, server=None)
    policy = policy_of((own,) if mine else (), ["b", "a"])
    (local,) = policy.providers
    assert policy.projects == ("a", "b")
    assert local.max_level == ("public" if mine else "restricted")
    assert local.endpoint is None


def test_engines_of_this_machine_come_first_and_a_routed_arm_stands_with_each_of_its_providers(
    world: Any,
) -> None:
    arms = tuple(
        replace(arm, provider="policy", caches=("primed",)) if arm.arm_id == "capsule" else arm
        for arm in world.spec.arms
    )
    spec = replace(world.spec, arms=arms, providers=(provider("cloud", "local"),))
    groups = groups_of(spec, {"capsule": ["cloud", "local"]})
    assert [(g.name, g.provider) for g in groups] == [
        ("off", "local"),
        ("on", "local"),
        ("cloud-on", "cloud"),
    ]
    assert [c.cell_id for c in groups[2].cells] == ["capsule.primed"]
    assert "capsule.primed" in [c.cell_id for c in groups[1].cells]
    assert provider_asked(arms[-1]) == "local"
