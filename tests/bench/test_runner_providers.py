"""A runner of one provider's engine sends nothing that begins another provider's prompt, not even a probe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bench.engines.base import Engine, EngineRequest, EngineResult
from bench.planner import Plan
from bench.recorder import Recorder
from bench.resume import Progress
from bench.runner import GroupRunner


class Noting:
    """Passes everything on and notes what was asked."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self.info = engine, engine.info
        self.asked: list[tuple[int, ...]] = []

    def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
        self.asked += [request.ids for request in requests]
        return self._engine.generate(requests)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def split(plan: Plan) -> Plan:
    """The same plan, the arm ``capsule`` at a provider of its own."""

    def moved(planned: Any) -> Any:
        return {
            key: tuple(replace(p, provider="server") if p.cell.arm.arm_id == "capsule" else p for p in ps)
            for key, ps in planned.items()
        }

    return replace(plan, quality=moved(plan.quality), latency=moved(plan.latency), floor=moved(plan.floor))


def test_probes_are_cut_from_prompts_of_its_own(
    bench: Callable[..., Any],
) -> None:
    b = bench("latency_samples=0")
    plan = split(b.plan)
    (group,) = [g for g in plan.groups if g.name == "on"]
    own = [p.prompt.ids for p in plan.requests if p.provider == "server"]
    for provider in ("server", "local"):
        engine = Noting(b.engine(prefix_caching=True))
        with Recorder(b.folder, b.store, {}) as recorder:
            GroupRunner(
                engine=engine, group=replace(group, provider=provider), plan=plan, progress=Progress(),
                recorder=recorder, concurrency=2, advance=lambda n: None,
            ).run()  # fmt: skip
        assert engine.asked
        begins = [any(ids[:20] == prompt[:20] for prompt in own) for ids in engine.asked]
        assert all(begins) if provider == "server" else not any(begins)
