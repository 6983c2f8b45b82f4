"""A planned run and an engine that answers from a table: what the tests of the seam to engines work with.

Loaded by path (fixture ``seam`` in tests/conftest.py): test modules cannot import each other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.build_stage import Bench, build_all
from bench.egress import AuthorizedEngine, RunGate, local_policy
from bench.engines.base import EngineInfo, EngineRequest, EngineResult
from bench.planner import Plan, Planned, make_plan
from bench.specs import RunSpec
from bench.tokenizers import HfTokenizer
from capsules.store import MemoryStore
from tasks.registry import load_task


@dataclasses.dataclass(frozen=True)
class World:
    """A plan with its samples in every cell, and the store that holds its capsules."""

    spec: RunSpec
    plan: Plan
    store: MemoryStore

    def gate(self, now: str | None = None, **changes: Any) -> RunGate:
        rules = local_policy(p.prompt.project for p in self.plan.requests)
        rules = dataclasses.replace(rules, **changes)
        return RunGate(plan=self.plan, store=self.store, now=now or self.spec.task.as_of, rules=rules)

    def cell(self, cell_id: str) -> tuple[Planned, ...]:
        return self.plan.quality[cell_id]


def tokenizer_of(spec: RunSpec) -> HfTokenizer:
    """The byte tokenizer that the spec names."""
    return HfTokenizer(Path(spec.tokenizer.removeprefix("hf:")), "bytes")


def planned_world(spec: RunSpec) -> World:
    """Builds and plans everything that the spec asks for."""
    store = MemoryStore()
    stage = Bench(
        spec=spec,
        data=load_task(spec.task),
        tokenizer=tokenizer_of(spec),
        store=store,
        now=spec.task.as_of,
    )
    built = build_all(stage, lambda n: None)
    return World(spec, make_plan(spec, [row.sample_id for row in built.samples], built.prepared), store)


def request_of(p: Planned, **changes: Any) -> EngineRequest:
    """A planned request as it is sent."""
    fields = {"request_id": p.request_id, "ids": p.prompt.ids, "salt": p.salt, "sampling": p.sampling}
    return EngineRequest(**(fields | changes))


class Replay:
    """An engine that answers from a table, as one does that replays a stored run. Notes what reached it."""

    info: EngineInfo = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self.waves: list[list[str]] = []
        self.closed = False

    def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
        self.waves.append([request.request_id for request in requests])
        return [
            EngineResult(
                request_id=request.request_id, status="ok", text="stored", output_ids=(1,),
                cached_tokens=None, ttft_us=None, tpot_us=None, e2e_us=None,
                queue_us=None, finish_reason="stop", error=None,
            )
            for request in requests
        ]  # fmt: skip

    def reset_prefix_cache(self) -> bool:
        return True

    def counters(self) -> dict[str, int]:
        return {"prefix_hits": 3}

    def close(self) -> None:
        self.closed = True


def outcomes(gate: RunGate, *requests: EngineRequest) -> list[str | None]:
    """The error of each answer; ``None`` for one that the engine gave."""
    found = AuthorizedEngine(Replay(), gate).generate(requests)
    assert [result.request_id for result in found] == [request.request_id for request in requests]
    for result in found:
        assert (result.text == "stored") == (result.status == "ok")
    return [result.error for result in found]
