"""Whether a cache salt keeps two projects apart: the same prompt for both, with their salts and without any.

Rules that this module owns:

* Asked before the first measured request of an engine with caching on; every cell resets what this leaves.
* *with salt*: a prompt is computed under the salt of its own project, then asked under that of another one
  with equal evidence. What the engine then reads from its cache crossed from one project into the other.
* *without salt*: the same prompt twice without any salt: what such a cache shares between whoever asks. It is
  also the control: a cache that shares nothing here says nothing above.
* What was not answered, or without a count, is null, and the row says why.
* Salts are derived as all others, from names that no cell has. One token is generated; nothing is timed.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.engines.base import Engine, EngineRequest, EngineResult
from bench.groups import Group
from bench.planner import QUALITY, Plan, Planned
from bench.records import IsolationRow
from bench.request_identity import salt_of
from bench.specs import SamplingSpec

_ONE_TOKEN = SamplingSpec(max_tokens=1)
_PROBE = "isolation"


def other_project(project: str, projects: Sequence[str]) -> str:
    """Another project: one of the run's, or one that does not exist."""
    return next((name for name in sorted(set(projects)) if name != project), f"{project}-other")


def probe_isolation(engine: Engine, group: Group, plan: Plan, samples: int) -> list[IsolationRow]:
    """Ask for the first prompts of every arm of a group.

    Args:
        engine: Behind the policy, with caching on and salts.
        group: Whose arms are asked for.
        plan: All requests of the run.
        samples: Prompts an arm.
    """
    chosen: dict[str, list[Planned]] = {}
    for cell in group.cells:
        planned = plan.part(group, QUALITY, cell.cell_id)[:samples]
        chosen.setdefault(cell.arm.arm_id, list(planned))
    asked = [p for planned in chosen.values() for p in planned]
    if not asked:
        return []
    projects = [p.prompt.project for p in plan.requests]
    others = [other_project(p.prompt.project, projects) for p in asked]
    _send(engine, asked, [_salt(p, p.prompt.project) for p in asked])
    across = _send(engine, asked, [_salt(p, other) for p, other in zip(asked, others, strict=True)])
    _send(engine, asked, [None] * len(asked))
    shared = _send(engine, asked, [None] * len(asked))
    return [
        IsolationRow(
            group=group.name,
            provider=group.provider,
            sample_id=p.sample_id,
            arm_id=p.cell.arm.arm_id,
            project=p.prompt.project,
            other=other,
            n_prompt=len(p.prompt.ids),
            with_salt=_read(crossed),
            without_salt=_read(again),
            error=_why_null(crossed) or _why_null(again),
        )
        for p, other, crossed, again in zip(asked, others, across, shared, strict=True)
    ]


def _salt(p: Planned, project: str) -> str | None:
    place = f"{_PROBE}/{p.cell.arm.arm_id}"
    return salt_of(place, "cold", _PROBE, project, p.prompt.level, p.sample_id)


def _send(engine: Engine, asked: Sequence[Planned], salts: Sequence[str | None]) -> list[EngineResult]:
    wave = [
        EngineRequest(request_id=_PROBE, ids=p.prompt.ids, salt=salt, sampling=_ONE_TOKEN)
        for p, salt in zip(asked, salts, strict=True)
    ]
    return engine.generate(wave)


def _read(result: EngineResult) -> int | None:
    return result.cached_tokens if result.status == "ok" else None


def _why_null(result: EngineResult) -> str | None:
    if _read(result) is not None:
        return None
    return result.error or "the engine gave no count of cached tokens"
