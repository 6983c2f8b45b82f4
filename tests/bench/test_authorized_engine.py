"""The seam between a run and its engine: what is admitted and what is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

from bench.egress import AuthorizedEngine, RunGate, local_policy
from bench.engines.base import EngineError, EngineRequest, EngineResult
from bench.pipeline import Outcome
from bench.records import RequestRow
from bench.records_io import read_rows
from bench.specs import SamplingSpec


def part(ids: Sequence[int], salt: str | None, name: str = "fill") -> EngineRequest:
    return EngineRequest(request_id=name, ids=tuple(ids), salt=salt, sampling=SamplingSpec(max_tokens=1))


def test_everything_that_is_planned_is_sent_under_a_capsule_or_as_unlabelled(seam: Any, world: Any) -> None:
    gate, replay = world.gate(), seam.Replay()
    engine = AuthorizedEngine(replay, gate)

    results = engine.generate([seam.request_of(p) for p in world.plan.requests])

    assert {result.status for result in results} == {"ok"}
    assert replay.waves == [[p.request_id for p in world.plan.requests]]
    naive = sum(p.prepared.prompt_capsule is None for p in world.plan.requests)
    assert 0 < naive < len(results)
    assert gate.tally == {"authorized": len(results) - naive, "unlabelled": naive}
    assert gate.line() == f"{len(results) - naive} authorized, {naive} unlabelled, 0 refused"


def test_the_default_policy_keeps_everything_on_this_machine() -> None:
    rules = local_policy(["b", "a", "b"])
    assert [profile.id for profile in rules.providers] == ["local"]
    assert rules.providers[0].endpoint is None
    assert rules.providers[0].fallbacks == ()
    assert rules.projects == rules.providers[0].projects == ("a", "b")


def test_a_refused_request_is_an_error_with_its_code_and_the_others_are_sent(seam: Any, world: Any) -> None:
    first, second = world.cell("capsule.cold")
    replay = seam.Replay()
    gate = world.gate(revoked=(str(first.prepared.prompt_capsule),))

    results = AuthorizedEngine(replay, gate).generate([seam.request_of(first), seam.request_of(second)])

    assert [(r.status, r.error, r.text, r.output_ids) for r in results] == [
        ("error", "authority.revoked", "", ()),
        ("ok", None, "stored", (1,)),
    ]
    assert replay.waves == [[second.request_id]]
    assert gate.tally == {"authorized": 1, "refused": 1}
    assert AuthorizedEngine(replay, gate).generate([seam.request_of(first)])[0].error == "authority.revoked"
    assert len(replay.waves) == 1  # a wave of which nothing is left does not reach the engine


def test_what_was_refused_is_refused_to_a_replay_too(seam: Any, world: Any) -> None:
    """Threat 54: stored answers do not bring an expired authority back."""
    capsules, naive = world.cell("capsule.off"), world.cell("naive.off")
    late = world.gate(now="2100-01-01T00:00:00Z")
    assert seam.outcomes(late, *map(seam.request_of, capsules)) == ["authority.expired"] * 2
    # no capsule, no authority to expire
    assert seam.outcomes(late, *map(seam.request_of, naive)) == [None, None]


def provider_with(world: Any, **changes: Any) -> dict[str, Any]:
    (local,) = local_policy(p.prompt.project for p in world.plan.requests).providers
    return {"providers": (dataclasses.replace(local, **changes),)}


@pytest.mark.parametrize(
    ("changes", "capsule", "naive"),
    [
        ({"max_level": "public"}, "label.flow.denied", None),
        ({"operations": ()}, "provider.unauthorized", "provider.unauthorized"),
        ({"projects": ("other",)}, "provider.unauthorized", "provider.unauthorized"),
        ({"id": "cloud"}, "provider.unauthorized", "label.undetermined"),
        ({"endpoint": "http://127.0.0.1:9"}, "provider.route.unlisted", "label.undetermined"),
    ],
)
def test_the_policy_decides(
    seam: Any, world: Any, changes: dict[str, Any], capsule: str | None, naive: str | None
) -> None:
    labelled = next(p for p in world.cell("capsule.off") if p.prompt.level != "public")
    unlabelled = world.cell("naive.off")[0]
    gate = world.gate(**provider_with(world, **changes))
    assert seam.outcomes(gate, seam.request_of(labelled), seam.request_of(unlabelled)) == [capsule, naive]


def test_other_ids_under_the_name_of_a_planned_request_are_refused(seam: Any, world: Any) -> None:
    p = world.cell("capsule.off")[0]
    other = world.cell("capsule.off")[1].prompt.ids
    changed = (*p.prompt.ids[:-1], p.prompt.ids[-1] + 1)
    gate = world.gate()
    for ids in (other, changed, p.prompt.ids[:-1], (*p.prompt.ids, 1)):
        assert seam.outcomes(gate, seam.request_of(p, ids=ids)) == ["label.undetermined"]
    assert gate.tally == {"refused": 4}


def test_examples_above_the_providers_level_are_refused_with_their_prompt(seam: Any, world: Any) -> None:
    p = next(p for p in world.cell("capsule.off") if p.prompt.level != "restricted")
    raised = dataclasses.replace(p.prompt, level="restricted")
    planned = dataclasses.replace(p, prepared=dataclasses.replace(p.prepared, built=raised))
    odd = dataclasses.replace(
        p, prepared=dataclasses.replace(p.prepared, built=dataclasses.replace(raised, level="?"))
    )
    for changed, code in ((planned, "authority.scope_exceeded"), (odd, "schema.word")):
        plan = dataclasses.replace(world.plan, quality={"c": (changed,)}, latency={})
        gate = RunGate(plan=plan, store=world.store, now=world.spec.task.as_of)
        assert seam.outcomes(gate, seam.request_of(changed)) == [code]


def test_parts_of_planned_prompts_go_out_and_nothing_else(seam: Any, world: Any) -> None:
    p, other = world.cell("capsule.primed")
    ids, salt = p.prompt.ids, p.salt
    gate = world.gate()
    assert (
        seam.outcomes(
            gate,
            part(ids[:33], "a salt of its own", "probe"),
            part(p.prompt.stable_ids, salt),
            part((*ids, 7, 8), salt),  # a prompt with what was answered to it
            part(other.prompt.ids, other.salt),
        )
        == [None] * 4
    )
    assert (
        seam.outcomes(
            gate,
            part((), salt),
            part(ids[1:40], salt),
            part((*ids[:-1], ids[-1] + 1), salt),
            part(world.cell("naive.primed")[0].prompt.ids, salt),  # of another cell
        )
        == ["label.undetermined"] * 4
    )
    assert gate.tally == {}  # only what is planned is counted


def test_a_shared_part_goes_out_under_a_prompt_that_may_be_sent(seam: Any, world: Any) -> None:
    prompts = world.cell("capsule.primed")
    salt = prompts[0].salt
    same = [p for p in prompts if p.salt == salt]
    stable = part(prompts[0].prompt.stable_ids, salt)
    every = {str(p.prepared.prompt_capsule) for p in same}
    first = str(prompts[0].prepared.prompt_capsule)
    assert seam.outcomes(world.gate(revoked=tuple(sorted(every))), stable) == ["authority.revoked"]
    if every != {first}:
        assert seam.outcomes(world.gate(revoked=(first,)), stable) == [None]
    probe = part(prompts[0].prompt.ids[:9], "probe", "probe")
    assert seam.outcomes(world.gate(revoked=(first,)), probe) == [None]


def test_the_rest_of_an_engine_is_as_it_is(seam: Any, world: Any) -> None:
    class Dead(seam.Replay):
        def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
            raise EngineError("gone")

    replay = seam.Replay()
    engine = AuthorizedEngine(replay, world.gate())
    assert engine.reset_prefix_cache()
    assert engine.counters() == {"prefix_hits": 3}
    assert engine.info is replay.info
    engine.close()
    assert replay.closed
    assert engine.generate([]) == []
    with pytest.raises(EngineError, match="gone"):
        AuthorizedEngine(Dead(), world.gate()).generate([seam.request_of(world.cell("naive.off")[0])])


def test_in_a_real_run_the_rows_without_a_capsule_are_the_unlabelled_ones(finished: Outcome) -> None:
    rows = read_rows(finished.folder.requests, RequestRow)
    assert {row.arm_id for row in rows if row.prompt_capsule is None} == {"naive", "naive_volatile"}
    assert {row.provider for row in rows} == {"local"}
    assert finished.exit_code == 0
