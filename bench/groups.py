"""Which cells share an engine, and who runs it.

Rules that this module owns:

* An arm and a cache state make a *cell*. One engine start a distinct engine setting: a provider, caching off
  or on, and what a prompt leaves in the cache. Engines are started one after another: those of this machine
  first, then the providers in the order of the config.
* The cell of an arm whose provider is ``policy`` stands in the group of every provider that got one of its
  samples; each group sends its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.specs import ArmSpec, RunSpec
from capsules.decision import LOCAL

BY_POLICY = "policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """An arm in one cache state."""

    arm: ArmSpec
    cache: str

    @property
    def cell_id(self) -> str:
        """``<arm_id>.<cache state>``."""
        return self.arm.cell_id(self.cache)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Cells that share one engine.

    Attributes:
        name: ``off``, ``on``, or ``on-<retention>`` where an arm asks for another than the engine has; for
            another provider than ``local`` its id and a dash stand before it.
        retention: What stays in the prefix cache of a prompt, as in ``EngineSpec``.
        provider: Who runs the engine.
    """

    name: str
    prefix_caching: bool
    retention: str
    cells: tuple[Cell, ...]
    provider: str = LOCAL


def provider_asked(arm: ArmSpec) -> str:
    """A provider that the arm's authority must cover: its own, or the first that it lists."""
    return arm.provider if arm.provider != BY_POLICY else next(iter(arm.authority.providers), LOCAL)


def may_be_asked(spec: RunSpec) -> frozenset[str]:
    """Whoever may get a request: whom arms name; by policy the first provider, its fallbacks, and theirs."""
    fallbacks = {p.provider_id: p.fallbacks for p in spec.providers}
    found = {arm.provider for arm in spec.arms if arm.provider != BY_POLICY}
    queue = [*fallbacks][:1] if any(arm.provider == BY_POLICY for arm in spec.arms) else []
    seen: set[str] = set()
    while queue:
        name = queue.pop()
        if name not in seen:
            seen.add(name)
            queue += fallbacks.get(name, ())
    return frozenset(found | seen)


def groups_of(spec: RunSpec, routed: Mapping[str, Sequence[str]]) -> tuple[Group, ...]:
    """The groups of a run, in the order of their engines.

    Args:
        spec: The run.
        routed: For every arm whose provider is ``policy``, who got at least one of its samples.
    """
    order = [LOCAL, *(p.provider_id for p in spec.providers if p.provider_id != LOCAL)]
    cells = [
        (Cell(arm=arm, cache=cache), provider)
        for arm in spec.arms
        for cache in arm.caches
        for provider in (routed.get(arm.arm_id, ()) if arm.provider == BY_POLICY else (arm.provider,))
    ]
    found: dict[tuple[str, str], list[Cell]] = {}
    for cell, provider in sorted(
        cells,
        key=lambda c: (
            order.index(c[1]),
            c[0].cache != "off",
            _retention(spec, c[0]) != spec.engine.retention,
        ),
    ):
        found.setdefault((provider, _name(spec, cell, provider)), []).append(cell)
    return tuple(
        Group(
            name=name,
            prefix_caching=chosen[0].cache != "off",
            retention=_retention(spec, chosen[0]),
            cells=tuple(chosen),
            provider=provider,
        )
        for (provider, name), chosen in found.items()
    )


def _name(spec: RunSpec, cell: Cell, provider: str) -> str:
    before = "" if provider == LOCAL else f"{provider}-"
    if cell.cache == "off":
        return f"{before}off"
    retention = _retention(spec, cell)
    return f"{before}on" if retention == spec.engine.retention else f"{before}on-{retention}"


def _retention(spec: RunSpec, cell: Cell) -> str:
    """What stays in the cache; without a cache there is one setting."""
    return spec.engine.retention if cell.cache == "off" else cell.arm.retention or spec.engine.retention
