"""The plan: what is sent, under which ids and salts, in which order, and what is skipped."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from bench.planner import LATENCY, QUALITY, Plan, expected_cells
from bench.request_identity import request_digest, request_id, salt_of
from bench.specs import RunSpec, SamplingSpec

SAMPLES = ("s1", "s2", "s3", "s4")


def test_every_cell_gets_every_sample_in_order_and_the_subset_once_more(
    spec_of: Callable[..., RunSpec], toy_plan: Callable[..., Plan]
) -> None:
    plan = toy_plan(spec_of("latency_samples=2", "floor_samples=3"))
    assert set(plan.quality) == {
        "naive.off", "naive.cold", "naive.primed", "naive_volatile.primed", "capsule.off", "capsule.cold",
        "capsule.primed",
    }  # fmt: skip
    for planned in plan.quality.values():
        assert [p.sample_id for p in planned] == list(SAMPLES)
    assert {name: len(planned) for name, planned in plan.latency.items()} == {"off": 2 * 2, "on": 2 * 5}
    assert {cell: sorted(p.sample_id for p in again) for cell, again in plan.floor.items()} == {
        "naive.off": ["s1", "s2", "s3"], "capsule.off": ["s1", "s2", "s3"],
    }  # fmt: skip
    assert plan.planned == 7 * 4 + 7 * 2 + 2 * 3
    ids = [p.request_id for p in plan.requests]
    assert len(set(ids)) == len(ids)


def test_one_engine_a_setting(spec_of: Callable[..., RunSpec], toy_plan: Callable[..., Plan]) -> None:
    plan = toy_plan(spec_of())
    assert [(g.name, g.prefix_caching) for g in plan.groups] == [("off", False), ("on", True)]
    assert [c.cache for c in plan.groups[0].cells] == ["off", "off"]
    only_on = toy_plan(spec_of("arms.naive.caches=[primed]", "~arm@arms.capsule"))
    assert [g.name for g in only_on.groups] == ["on"]


def test_an_arm_with_another_retention_has_an_engine_of_its_own_with_caching_on(
    spec_of: Callable[..., RunSpec], toy_plan: Callable[..., Plan]
) -> None:
    plan = toy_plan(spec_of("arms.capsule.retention=default"))
    assert [(g.name, g.retention) for g in plan.groups] == [
        ("off", "none"),
        ("on", "none"),
        ("on-default", "default"),
    ]
    assert [c.cell_id for c in plan.groups[2].cells] == ["capsule.cold", "capsule.primed"]
    assert "capsule.off" in [c.cell_id for c in plan.groups[0].cells]  # nothing to retain there


def test_the_floor_asks_the_same_requests_again_in_an_order_that_the_seed_fixes(
    spec_of: Callable[..., RunSpec], toy_plan: Callable[..., Plan]
) -> None:
    plans = [toy_plan(spec_of("floor_samples=4", f"seed={seed}")) for seed in range(4)]
    orders = {tuple(p.sample_id for p in plan.floor["naive.off"]) for plan in plans}
    assert len(orders) > 1
    assert {tuple(sorted(order)) for order in orders} == {SAMPLES}
    digests = {p.sample_id: p.request_digest for p in plans[0].quality["naive.off"]}
    for again in plans[0].floor["naive.off"]:
        assert again.request_digest == digests[again.sample_id]  # the same computation
        assert again.sampling.max_tokens == 40


def test_latency_goes_sample_by_sample_through_all_cells_in_an_order_that_the_seed_fixes(
    spec_of: Callable[..., RunSpec], toy_plan: Callable[..., Plan]
) -> None:
    first, again, other = (toy_plan(spec_of("latency_samples=3", f"seed={s}")) for s in (0, 0, 1))
    order = [(p.sample_id, p.cell.cell_id) for p in first.latency["on"]]
    assert order == [(p.sample_id, p.cell.cell_id) for p in again.latency["on"]]
    assert order != [(p.sample_id, p.cell.cell_id) for p in other.latency["on"]]
    blocks = [order[i : i + 5] for i in range(0, len(order), 5)]
    assert all(len({s for s, _ in block}) == 1 and len({c for _, c in block}) == 5 for block in blocks)
    assert len({tuple(c for _, c in block) for block in blocks}) > 1  # the order of cells changes


def test_latency_generates_few_tokens_and_has_salts_of_its_own(
    spec_of: Callable[..., RunSpec], toy_plan: Callable[..., Plan]
) -> None:
    plan = toy_plan(spec_of("latency_max_tokens=8"))
    quality, latency = plan.quality["capsule.primed"][0], plan.latency["on"]
    assert quality.sampling.max_tokens == 40
    assert {p.sampling.max_tokens for p in latency} == {8}
    assert quality.salt not in {p.salt for p in latency}


def test_salts_isolate_cells_phases_labels_and_for_cold_each_sample() -> None:
    base = ("capsule.cold", "cold", QUALITY, "p", "public", "s1")
    assert salt_of(*base) == salt_of(*base)
    for place, other in enumerate(("naive.cold", "primed", LATENCY, "q", "internal", "s2")):
        changed = list(base)
        changed[place] = other
        assert salt_of(*changed) != salt_of(*base), other
    assert salt_of("capsule.off", "off", QUALITY, "p", "public", "s1") is None
    primed = [salt_of("capsule.primed", "primed", QUALITY, "p", "public", s) for s in ("s1", "s2")]
    assert primed[0] == primed[1]


@pytest.mark.parametrize(
    "change",
    [{"temperature": "0.5"}, {"max_tokens": 9}, {"stop": ("x",)}, {"stop": ()}, {"seed": 1}],
    ids=lambda c: next(iter(c)),
)
def test_every_setting_that_changes_an_answer_changes_the_request_digest(change: dict[str, object]) -> None:
    sampling = SamplingSpec()
    assert request_digest("b3:i", dataclasses.replace(sampling, **change), None) != request_digest(
        "b3:i", sampling, None
    )


def test_ids_and_salt_change_the_request_digest_and_the_request_id_says_what_it_is_for() -> None:
    sampling = SamplingSpec()
    digests = {request_digest(i, sampling, salt) for i in ("b3:1", "b3:2") for salt in (None, "x", "")}
    assert len(digests) == 6
    base = ("c", "s", QUALITY, "d")
    assert len({request_id(*base), *(request_id(*base[:n], "other", *base[n + 1 :]) for n in range(4))}) == 5


def test_what_cannot_be_built_or_sent_is_skipped_with_its_reason(
    spec_of: Callable[..., RunSpec], toy_plan: Callable[..., Plan]
) -> None:
    spec = spec_of("latency_samples=4", "floor_samples=0")
    plan = toy_plan(spec, broken=[("s2", "capsule")])
    assert plan.skipped == {"budget.required.unfit": 3 * 2}  # three cache states, both phases
    assert plan.planned == 7 * 4 * 2
    assert [p.sample_id for p in plan.quality["capsule.off"]] == ["s1", "s3", "s4"]
    too_long = toy_plan(spec, length=4096 - 39)
    assert too_long.skipped == {"budget.window.exceeded": 7 * 4 * 2}
    assert toy_plan(spec, length=4096 - 40).skipped == {}
    foreign = spec_of("arms.naive.authority.providers=[elsewhere]", "latency_samples=0", "floor_samples=0")
    assert toy_plan(foreign).skipped == {"provider.unauthorized": 3 * 4}


def test_the_expected_cells_are_those_of_the_plan(
    spec_of: Callable[..., RunSpec], toy_plan: Callable[..., Plan]
) -> None:
    spec = spec_of("latency_samples=2")
    plan = toy_plan(spec)
    expected = {(c.sample_id, c.cell_id, phase) for c in expected_cells(spec, SAMPLES) for phase in c.phases}
    assert expected == {(p.sample_id, p.cell.cell_id, p.phase) for p in plan.requests}
    assert sum(len(c.phases) for c in expected_cells(spec, SAMPLES)) == plan.planned
