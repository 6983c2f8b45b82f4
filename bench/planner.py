"""What a run will send, fixed before anything is sent.

Rules that this module owns:

* Quality requests: every cell (``bench.groups``) x every sample. Latency
  requests: every cell x a small subset, chosen and ordered by BLAKE3 of the seed, one at a time, the
  cells of one engine interleaved sample by sample so that drift hits all arms alike. Floor requests:
  every cell with caching off asks its first samples again, at the same concurrency in another order:
  how much the outputs of one setting differ from their own repeat.
* A sample goes to its arm's provider, or to the one that its route names; see ``bench.routing``.
* What cannot be sent is skipped with a reason, never dropped: planned = done + failed + skipped.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.build.base import BuiltPrompt
from bench.contracts.forms import sampling_for
from bench.contracts.grammar import grammar_digest
from bench.groups import BY_POLICY, Cell, Group, groups_of
from bench.records import RequestRow, RouteRow
from bench.report.inputs import ExpectedCell
from bench.request_identity import request_digest, request_id, salt_of
from bench.specs import ArmSpec, ProviderSpec, RunSpec, SamplingSpec
from capsules.content_id import derived_key
from capsules.decision import LOCAL

OPERATION = "generate"
QUALITY = "quality"
LATENCY = "latency"
FLOOR = "floor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """One (sample, arm): its prompt and the ids under which it is stored, or why there is none.

    Attributes:
        grammar: What the output contract holds the answer to, if it is a constrained one.
    """

    sample_id: str
    arm_id: str
    built: BuiltPrompt | None
    ids_digest: str | None
    prompt_capsule: str | None
    code: str | None = None
    message: str | None = None
    grammar: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A request that will be sent."""

    request_id: str
    request_digest: str
    cell: Cell
    phase: str
    sample_id: str
    salt: str | None
    sampling: SamplingSpec
    prepared: Prepared
    provider: str = LOCAL
    route: tuple[str, ...] = ()  # the providers that were asked before

    @property
    def prompt(self) -> BuiltPrompt:
        """What is sent."""
        if self.prepared.built is None:
            raise ValueError(f"request {self.request_id} has no prompt")
        return self.prepared.built

    def row(self, predicted: int | None, reason: str | None) -> RequestRow:
        """The line of ``requests.jsonl``, with the prediction made just before sending."""
        return RequestRow(
            request_id=self.request_id,
            request_digest=self.request_digest,
            phase=self.phase,
            sample_id=self.sample_id,
            arm_id=self.cell.arm.arm_id,
            cell_id=self.cell.cell_id,
            salt=self.salt,
            prompt_capsule=self.prepared.prompt_capsule,
            provider=self.provider,
            ids_digest=self.prepared.ids_digest or "",
            n_prompt=len(self.prompt.ids),
            segments=self.prompt.pieces,
            predicted_cached=predicted,
            predicted_reason=reason,
            grammar_digest=grammar_digest(self.prepared.grammar),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All requests of a run, in the order of sending, and what is skipped."""

    groups: tuple[Group, ...]
    quality: Mapping[str, tuple[Planned, ...]]  # cell_id -> in sample order
    latency: Mapping[str, tuple[Planned, ...]]  # group name -> interleaved order
    floor: Mapping[str, tuple[Planned, ...]]  # cell_id -> in an order of its own; cells with caching off
    skipped: Mapping[str, int]  # reason -> requests

    @property
    def requests(self) -> tuple[Planned, ...]:
        """All requests that will be sent."""
        quality = tuple(p for planned in self.quality.values() for p in planned)
        latency = tuple(p for planned in self.latency.values() for p in planned)
        return quality + latency + tuple(p for planned in self.floor.values() for p in planned)

    def part(self, group: Group, phase: str, cell_id: str) -> tuple[Planned, ...]:
        """What a group sends of one cell, in order.

        Args:
            group: The group.
            phase: ``quality`` or ``floor``.
            cell_id: The cell.
        """
        planned = (self.quality if phase == QUALITY else self.floor).get(cell_id, ())
        return tuple(p for p in planned if p.provider == group.provider)

    @property
    def planned(self) -> int:
        """Number of planned requests, the skipped ones included."""
        return len(self.requests) + sum(self.skipped.values())


def make_plan(
    spec: RunSpec,
    sample_ids: Sequence[str],
    prepared: Sequence[Prepared],
    routes: Sequence[RouteRow] = (),
) -> Plan:
    """Plan every request of a run.

    Args:
        spec: The run.
        sample_ids: Evaluated samples, in order.
        prepared: Every (sample, arm).
        routes: Those of the arms whose provider is ``policy``.
    """
    by_route = {(route.sample_id, route.arm_id): route for route in routes}
    by_key = {(p.sample_id, p.arm_id): p for p in prepared}
    subset = _latency_subset(spec, sample_ids)
    groups = groups_of(spec, _routed(routes))
    skipped: dict[str, int] = {}
    quality: dict[str, tuple[Planned, ...]] = {}
    latency: dict[str, tuple[Planned, ...]] = {}
    floor: dict[str, tuple[Planned, ...]] = {}
    again = _floor_subset(spec, sample_ids)

    def plan(cell: Cell, sample_id: str, phase: str) -> list[Planned]:
        item = by_key[(sample_id, cell.arm.arm_id)]
        route = by_route.get((sample_id, cell.arm.arm_id))
        built = item.built
        reason = item.code if built is None else skip_reason(spec, cell.arm, len(built.ids), route)
        if reason is not None:
            skipped[reason] = skipped.get(reason, 0) + 1
            return []
        return [_planned(spec, cell, item, phase, route)]

    for cell in _cells(spec):
        quality[cell.cell_id] = tuple(p for s in sample_ids for p in plan(cell, s, QUALITY))
        if cell.cache == "off":
            floor[cell.cell_id] = tuple(p for s in again for p in plan(cell, s, FLOOR))
    timed = {c.cell_id: {s: plan(c, s, LATENCY) for s in subset} for c in _cells(spec)}
    for group in groups:
        latency[group.name] = tuple(
            p
            for sample_id in subset
            for cell in _shuffled(spec.seed, sample_id, group.cells)
            for p in timed[cell.cell_id][sample_id]
            if p.provider == group.provider
        )
    return Plan(groups=groups, quality=quality, latency=latency, floor=floor, skipped=skipped)


def expected_cells(spec: RunSpec, sample_ids: Sequence[str]) -> tuple[ExpectedCell, ...]:
    """Every (sample, cell) of a run with its phases, whatever happens to it."""
    subset, again = set(_latency_subset(spec, sample_ids)), set(_floor_subset(spec, sample_ids))

    def phases(sample_id: str, cache: str) -> tuple[str, ...]:
        asked = ((LATENCY, sample_id in subset), (FLOOR, cache == "off" and sample_id in again))
        return (QUALITY, *(phase for phase, wanted in asked if wanted))

    return tuple(
        ExpectedCell(
            sample_id=sample_id,
            arm_id=arm.arm_id,
            cell_id=arm.cell_id(cache),
            phases=phases(sample_id, cache),
        )
        for sample_id in sample_ids
        for arm in spec.arms
        for cache in arm.caches
    )


def skip_reason(spec: RunSpec, arm: ArmSpec, n_prompt: int, route: RouteRow | None = None) -> str | None:
    """Why a prompt that could be built is not sent, or ``None``."""
    if OPERATION not in arm.authority.operations:
        return "provider.unauthorized"
    if arm.provider == BY_POLICY:
        if route is None or route.provider is None:
            return "provider.unauthorized" if route is None else route.hops[-1].codes[0]
    elif arm.provider not in arm.authority.providers:
        return "provider.unauthorized"
    if n_prompt + max(spec.sampling.max_tokens, spec.latency_max_tokens) > spec.engine.window:
        return "budget.window.exceeded"
    return None


def sampling_of(spec: RunSpec, phase: str, contract: str) -> SamplingSpec:
    """Sampling of a phase under a contract: the latency subset generates few tokens."""
    sampling = sampling_for(contract, spec.sampling)
    if phase == LATENCY:
        return dataclasses.replace(sampling, max_tokens=spec.latency_max_tokens)
    return sampling


def takes_salts(spec: RunSpec, provider: str) -> bool:
    """Whether a provider isolates its cache by salts."""
    found: ProviderSpec | None = next((p for p in spec.providers if p.provider_id == provider), None)
    return found is None or found.server is None or found.server.salt


def says_ids(spec: RunSpec, provider: str) -> bool:
    """Whether a provider says the ids of what it generated."""
    found: ProviderSpec | None = next((p for p in spec.providers if p.provider_id == provider), None)
    return found is None or found.server is None or found.server.return_ids


def _planned(spec: RunSpec, cell: Cell, item: Prepared, phase: str, route: RouteRow | None) -> Planned:
    built = item.built
    if built is None or item.ids_digest is None:
        raise ValueError(f"{item.sample_id}/{item.arm_id}: no prompt to plan")
    sampling = sampling_of(spec, phase, cell.arm.contract.name)
    provider = cell.arm.provider if route is None else route.provider or LOCAL
    salt = None
    if takes_salts(spec, provider):
        salt = salt_of(cell.cell_id, cell.cache, phase, built.project, built.level, item.sample_id)
    digest = request_digest(item.ids_digest, sampling, salt, grammar_digest(item.grammar))
    return Planned(
        request_id=request_id(cell.cell_id, item.sample_id, phase, digest),
        request_digest=digest,
        cell=cell,
        phase=phase,
        sample_id=item.sample_id,
        salt=salt,
        sampling=sampling,
        prepared=item,
        provider=provider,
        route=() if route is None else tuple(hop.provider for hop in route.hops[:-1]),
    )


def _cells(spec: RunSpec) -> list[Cell]:
    return [Cell(arm=arm, cache=cache) for arm in spec.arms for cache in arm.caches]


def _routed(routes: Sequence[RouteRow]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for route in routes:
        got = found.setdefault(route.arm_id, [])
        if route.provider is not None and route.provider not in got:
            got.append(route.provider)
    return found


def _floor_subset(spec: RunSpec, sample_ids: Sequence[str]) -> list[str]:
    """The first samples, in an order of their own: other waves than those of the quality requests."""
    seed = str(spec.seed).encode()
    first = sample_ids[: spec.floor_samples]
    return sorted(first, key=lambda s: derived_key("floor-order/v1", seed, s.encode()))


def _latency_subset(spec: RunSpec, sample_ids: Sequence[str]) -> tuple[str, ...]:
    seed = str(spec.seed).encode()
    ranked = sorted(sample_ids, key=lambda s: derived_key("latency-subset/v1", seed, s.encode()))
    return tuple(ranked[: spec.latency_samples])


def _shuffled(seed: int, sample_id: str, cells: Sequence[Cell]) -> list[Cell]:
    parts = (str(seed).encode(), sample_id.encode())
    return sorted(cells, key=lambda c: derived_key("latency-order/v1", *parts, c.cell_id.encode()))
