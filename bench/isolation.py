"""Whether a cache salt keeps two projects apart: the same prompt for both, with their salts and without any.

Rules that this module owns:

* Asked before the first measured request of an engine with caching on; every cell resets what this leaves.
* *with salt*: a prompt is computed under the salt of its own project, then asked under that of another one
  with equal evidence. What the engine then reads from its cache crossed from one project into the other.
* *without salt*: the same prompt twice without any salt: what such a cache shares between whoever asks. It is
  also the control: a cache that shares nothing here says nothing above.
* What was not answered, in either wave, or came without a count, is null, and the row says why: where nothing
  was put into the cache, nothing read from it proves nothing.
* Salts are derived as all others, from names that no cell has. One token is generated; nothing is timed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

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


def probe_isolation(
    engine: Engine, group: Group, plan: Plan, samples: int, told: Collection[tuple[str, str]] = ()
) -> list[IsolationRow]:
    """Ask for the first prompts of every arm of a group.

    Args:
        engine: Behind the policy, with caching on and salts.
        group: Whose arms are asked for.
        plan: All requests of the run.
        samples: Prompts an arm.
        told: The prompts, by (arm_id, sample_id), that were asked for before.
    """
    chosen: dict[str, list[Planned]] = {}
    for cell in group.cells:
        planned = plan.part(group, QUALITY, cell.cell_id)[:samples]
        chosen.setdefault(cell.arm.arm_id, list(planned))
    asked = [p for arm_id, planned in chosen.items() for p in planned if (arm_id, p.sample_id) not in told]
    if not asked:
        return []
    projects = [p.prompt.project for p in plan.requests]
    others = [other_project(p.prompt.project, projects) for p in asked]
    own = [_salt(p, p.prompt.project) for p in asked]
    crossed = _read_after(engine, asked, own, [_salt(p, o) for p, o in zip(asked, others, strict=True)])
    shared = _read_after(engine, asked, [None] * len(asked), [None] * len(asked))
    return [
        IsolationRow(
            group=group.name,
            provider=group.provider,
            sample_id=p.sample_id,
            arm_id=p.cell.arm.arm_id,
            project=p.prompt.project,
            other=other,
            n_prompt=len(p.prompt.ids),
            with_salt=across[0],
            with_salt_null=across[1],
            without_salt=without[0],
            without_salt_null=without[1],
        )
        for p, other, across, without in zip(asked, others, crossed, shared, strict=True)
    ]


def _salt(p: Planned, project: str) -> str | None:
    place = f"{_PROBE}/{p.cell.arm.arm_id}"
    return salt_of(place, "cold", _PROBE, project, p.prompt.level, p.sample_id)


def _read_after(
    engine: Engine, asked: Sequence[Planned], first: Sequence[str | None], then: Sequence[str | None]
) -> list[tuple[int | None, str | None]]:
    """Of each prompt, asked under one salt and then another, the tokens read then, or why none are."""
    filled, found = _send(engine, asked, first), _send(engine, asked, then)
    return [_read(*both) for both in zip(filled, found, strict=True)]


def _send(engine: Engine, asked: Sequence[Planned], salts: Sequence[str | None]) -> list[EngineResult]:
    wave = [
        EngineRequest(request_id=_PROBE, ids=p.prompt.ids, salt=salt, sampling=_ONE_TOKEN)
        for p, salt in zip(asked, salts, strict=True)
    ]
    return engine.generate(wave)


def _read(filled: EngineResult, found: EngineResult) -> tuple[int | None, str | None]:
    for result in (filled, found):
        if result.status != "ok":
            return None, result.error or result.finish_reason or result.status
    if found.cached_tokens is None:
        return None, "the engine gave no count of cached tokens"
    return found.cached_tokens, None
