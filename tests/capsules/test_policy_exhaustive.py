"""The policy against a second, obvious formulation, over the whole decision space and not over samples.

Three formulations are compared by their sets of codes: the rule of ``capsules.decision``, the checks that
a validation makes (``capsules.checks_policy``), and ``verdict`` in tests/policy_space.py, which knows of
neither.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from capsules.decision import exempt_refusals, refusals
from capsules.egress import authorize


@pytest.fixture(scope="module")
def world(routing: Any, space: Any) -> Any:
    return space.World(routing.kit)


def test_the_rule_and_the_obvious_formulation_agree_on_every_point(space: Any, world: Any) -> None:
    compared = allowed = disagreed = 0
    *outer, hops, times = space.CORE.values()
    names = tuple(space.CORE)[:-2]
    for values in itertools.product(*outer):
        base = space.Point(**dict(zip(names, values, strict=True)))
        rules, facts, *_ = world.values(base)
        for hop in hops:
            ask = world.once(world.ask, -1, hop)
            for now in times:
                expected = space.verdict(base._replace(hop=hop, now=now))
                disagreed += refusals(rules, facts, ask, now) != expected
                allowed += not expected
                compared += 1

    assert compared == 4**3 * 2**7 * 3 * 6 == 147_456
    assert disagreed == 0
    assert allowed == 30 * 2 * 3  # 30 of the 64 triples of levels are in order; two hops; three times


def test_levels_beside_the_evidence_ages_revocation_and_schemas_agree_too(space: Any, world: Any) -> None:
    compared = 0
    *outer, hops, times, stales, revoked, schemas, known = space.SIDE.values()
    for level, extra, granted, served in itertools.product(*outer):
        for stale_at, gone, supported, listed in itertools.product(stales, revoked, schemas, known):
            base = space.Point(
                level=level, extra=extra, authority_level=granted, provider_level=served, stale_at=stale_at,
                revoked=gone, schemas=supported, provider_known=listed,
            )  # fmt: skip
            rules, facts, *_ = world.values(base)
            for hop in hops:
                if hop == "fallback" and not listed:
                    continue  # b cannot name a provider that the policy does not know
                ask = world.once(world.ask, extra, hop)
                for now in times:
                    expected = space.verdict(base._replace(hop=hop, now=now))
                    assert refusals(rules, facts, ask, now) == expected, base
                    compared += 1

    assert compared == 4 * 5 * 4 * 4 * 5 * 2 * 2 * (4 + 3) * 6 == 268_800


@pytest.mark.parametrize("step", [61, pytest.param(1, marks=pytest.mark.soak)])
def test_the_checks_of_a_validation_agree_with_the_rule(space: Any, world: Any, step: int) -> None:
    """A stage of it is slower: every 61st point of the core, a step that is no multiple of any axis."""
    core = itertools.islice(space.points(space.CORE | {"hop": ("first",)}), 0, None, step)
    side = space.points(space.SIDE | {"hop": ("first",), "extra": (-1,), "stale_at": (None,)})
    compared = 0
    for p in itertools.chain(core, side):
        rules, facts, ask, _ = world.values(p)
        found = refusals(rules, facts, ask, p.now)
        if p.project_known and not p.same_project:  # the stage before finds that
            found.remove("scope.project.mismatch")
        assert space.checked(p, world) == found, p
        compared += 1
    assert compared == -(-(4**3) * 2**7 * 6 // step) + 4**3 * 6 * 2**3


def test_authorize_allows_exactly_what_the_rule_allows(routing: Any, space: Any) -> None:
    """The whole way, on real bytes: levels, times, grants."""
    compared = 0
    for level, granted, served in itertools.product(range(4), repeat=3):

        def edit(w: Any, level: int = level) -> None:
            w.internal["visibility"]["level"] = space.LEVELS[max(level, 1)]
            w.public["freshness"]["expires_at"] = w.internal["freshness"]["expires_at"] = None

        s = routing.scene(
            [routing.provider("local", space.LEVELS[served])],
            edit=edit,
            authority={"max_level": space.LEVELS[granted]},
        )
        for now in space.TIMES:
            s.clock.at = now
            p = space.Point(level=max(level, 1), authority_level=granted, provider_level=served, now=now)
            assert set(authorize(s.ask(), s.gate).record.refusals) == space.verdict(p)
            compared += 1
    assert compared == 384


# ---- routes: every graph of fallbacks over three providers, every route of up to three hops


def reachable(route: tuple[str, ...], edges: set[tuple[str, str]]) -> bool:
    """Every hop but the first is one that was asked before, or a fallback of one that was."""
    return all(
        hop in route[:place] or any((before, hop) in edges for before in route[:place])
        for place, hop in enumerate(route)
        if place
    )


def test_every_route_over_every_graph_of_fallbacks(space: Any, world: Any) -> None:
    names = ("a", "b", "c")
    arrows = [(x, y) for x in names for y in names if x != y]
    routes = [r for n in (1, 2, 3) for r in itertools.product((*names, "gone"), repeat=n)]
    asks = [replace(world.ask(-1, "first"), provider=r[-1], route=r[:-1]) for r in routes]
    base = world.policy(3, True, True, True, True, "", True)
    facts = world.facts(0, None, True, world.authority(3, True, True))
    compared = 0
    for chosen in itertools.product(space.YES_NO, repeat=len(arrows)):
        edges = set(itertools.compress(arrows, chosen))
        profiles = [
            replace(base.providers[0], id=x, fallbacks=tuple(y for y in names if (x, y) in edges))
            for x in names
        ]
        rules = replace(base, providers=tuple(profiles))
        for route, ask in zip(routes, asks, strict=True):
            unlisted = "provider.route.unlisted" in refusals(rules, facts, ask, space.OPENS)
            assert unlisted == (not reachable(route, edges)), (route, edges)
            assert ("provider.route.unlisted" in exempt_refusals(rules, ask)) == unlisted
            compared += 1
    assert compared == 64 * 84


def test_every_point_of_the_exemption(space: Any, world: Any) -> None:
    compared = allowed = 0
    for local, here, known, served, operation, none, listed in itertools.product(space.YES_NO, repeat=7):
        rules = world.policy(0, known, served, operation, True, "", True)
        name = "local" if local else "a"
        profile = replace(rules.providers[-1], id=name, endpoint=None if here else "http://127.0.0.1:9")
        rules = replace(rules, providers=(profile,) if listed else ())
        ask = replace(world.ask(-1, "first"), provider=name, capsule=None if none else space.BODY)
        expected = set()
        if not (none and local and here and listed):
            expected |= {"label.undetermined"}
        if not (listed and served and operation):
            expected |= {"provider.unauthorized"}
        if not known:
            expected |= {"scope.project.mismatch"}
        assert exempt_refusals(rules, ask) == expected
        allowed += not expected
        compared += 1
    assert (compared, allowed) == (128, 1)
