"""What the promises are measured by, where no metric of the closed list says it already.

Rules of this module:

* A measure is one value a sample, or a reason why this run does not measure it. A number is never
  made up, and a measure whose cause does not occur in the data (say, no private source in any
  sample) is not measured, not 0.
* Values of the prompt come from its build row; values of the engine from the reference state's
  quality requests, or from the state that the measure names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from bench.cost.classes import classes_of
from bench.metrics.names import METRICS
from bench.metrics.series import Series, absent
from bench.records import BuildRow, SampleRow
from bench.report.view import CellView, RunView
from bench.scorers.edits import EditCounts, check_edits
from bench.specs import ArmSpec

BuildValue = Callable[[BuildRow, SampleRow], float | None]

_MAPPED = frozenset({"bos", "frame", "prefix", "header", "item", "tail", "volatile"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One measured side of a promise.

    Attributes:
        promise, name: What is promised, what is measured.
        unit: As in ``bench.metrics.names``.
        direction: ``higher`` or ``lower`` is better.
        values: arm_id -> the series that the shown mean is taken over.
        pairs: arm_id -> the series that differences are made of.
        shown: arm_id -> text that replaces the mean (a count says more than a mean of counts).
        no_pairs: What to say where no sample has a value in both arms.
        reason: Why it is not measured; ``None`` if it is.
        note: What a reader must know to judge the number.
    """

    promise: str
    name: str
    unit: str
    direction: str
    values: Mapping[str, Series] = field(default_factory=lambda: MappingProxyType({}))
    pairs: Mapping[str, Series] = field(default_factory=lambda: MappingProxyType({}))
    shown: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    no_pairs: str = "no sample completed in both"
    reason: str | None = None
    note: str | None = None


def of_metric(view: RunView, promise: str, name: str, metric: str) -> Measure:
    """A measure that a metric of the closed list gives, in the reference state."""
    spec = METRICS[metric]
    values: dict[str, Series] = {}
    pairs: dict[str, Series] = {}
    for arm in view.arms:
        cell = view.reference_cell(arm)
        if cell is None:
            values[arm.arm_id] = pairs[arm.arm_id] = absent(
                arm.arm_id, f"no cell {arm.arm_id}.{view.reference_state}"
            )
            continue
        pairs[arm.arm_id] = replace(view.completed(cell, metric), label=arm.arm_id)
        values[arm.arm_id] = view.counted(cell, metric) if spec.bounded else pairs[arm.arm_id]
    return Measure(
        promise=promise, name=name, unit=spec.unit, direction=spec.direction, values=values, pairs=pairs
    )


def of_builds(view: RunView, value: BuildValue) -> dict[str, Series]:
    """One value a built prompt, by arm; a prompt that could not be built has none."""
    return {arm.arm_id: _build_series(view, arm, value) for arm in view.arms}


def _build_series(view: RunView, arm: ArmSpec, value: BuildValue) -> Series:
    values: dict[str, float | None] = {}
    for sample_id in view.sample_ids:
        build = view.build(sample_id, arm.arm_id)
        values[sample_id] = None if build is None else value(build, view.index.samples[sample_id])
    return Series(label=arm.arm_id, values=values)


def mapped_share(build: BuildRow, _: SampleRow) -> float | None:
    """Share of sent tokens that stand for a named section or for a range of a source."""
    mapped = sum(p.n for p in build.pieces if p.kind in _MAPPED and (p.kind != "item" or p.ref is not None))
    return mapped / build.n_prompt if build.n_prompt else None


def unexplained_prompt(build: BuildRow, _: SampleRow) -> float:
    """Sent tokens that no piece of the prompt covers, or that pieces claim beyond those sent."""
    return abs(build.n_prompt - sum(piece.n for piece in build.pieces))


def unexplained_evidence(build: BuildRow, _: SampleRow) -> float | None:
    """Candidate tokens that were neither kept nor omitted (with a record or counted as silent)."""
    if not build.stages:
        return None
    # What lies outside a corpus's pool was no candidate and has no tokens.
    omitted = sum(tokens or 0 for _, _, tokens in build.omissions) + build.silent_tokens
    return abs(build.stages[0].tokens - omitted - build.stages[-1].tokens)


def denied_documents(sample: SampleRow) -> tuple[str, ...]:
    """Documents that may not be shown: too private, or of a foreign project."""
    return sample.denied


def expired_documents(sample: SampleRow) -> tuple[str, ...]:
    """Documents that are no longer valid at the sample's date."""
    return sample.expired


def shown_of(documents: Callable[[SampleRow], tuple[str, ...]]) -> BuildValue:
    """Code points that a prompt shows of the sample's named documents."""

    def value(build: BuildRow, sample: SampleRow) -> float:
        named = documents(sample)
        return float(
            sum(end - start for doc in build.shown if doc.doc_id in named for start, end in doc.ranges)
        )

    return value


def of_cells(
    view: RunView, state: str, value: Callable[[str, CellView], float | None], *, needs: str | None = None
) -> dict[str, Series] | None:
    """One value a sample of each arm's cell in ``state``; ``None`` without such a cell.

    Args:
        view: The run.
        state: Whose cells are looked at.
        value: The value of a sample in a cell.
        needs: A second cache state that an arm must have.
    """
    cells = {cell.arm.arm_id: cell for cell in view.cells if cell.state == state}
    if not cells:
        return None
    series = {}
    for arm in view.arms:
        cell = cells.get(arm.arm_id)
        if cell is None:
            series[arm.arm_id] = absent(arm.arm_id, f"no cell {arm.arm_id}.{state}")
        elif needs is not None and needs not in arm.caches:
            series[arm.arm_id] = absent(arm.arm_id, f"no cell {arm.arm_id}.{needs}")
        elif (cell.cell_id, "quality") in view.index.void:
            series[arm.arm_id] = absent(arm.arm_id, f"{cell.cell_id} is void")
        else:
            values = {sample_id: value(sample_id, cell) for sample_id in view.sample_ids}
            series[arm.arm_id] = Series(label=arm.arm_id, values=values)
    return series


def cached_share(view: RunView) -> Callable[[str, CellView], float | None]:
    """Share of the prompt that the engine read from its cache."""

    def value(sample_id: str, cell: CellView) -> float | None:
        exchange = view.exchange(sample_id, cell.cell_id, "quality")
        if exchange is None or exchange[1].measured_cached is None:
            return None
        return exchange[1].measured_cached / exchange[0].n_prompt

    return value


def unclassed(view: RunView) -> Callable[[str, CellView], float | None]:
    """Ids sent that uncached input, cache read and cache write do not add up to, or exceed."""

    def value(sample_id: str, cell: CellView) -> float | None:
        exchange = view.exchange(sample_id, cell.cell_id, "quality")
        if exchange is None:
            return None
        counts = classes_of(*exchange)
        if counts.input_uncached is None or counts.cache_read is None or counts.cache_write is None:
            return None
        return abs(exchange[0].n_prompt - counts.input_uncached - counts.cache_read - counts.cache_write)

    return value


def beyond_own_label(view: RunView) -> Callable[[str, CellView], float | None]:
    """Cached tokens that the request's own (project, level) cannot have left in the cache."""

    def value(sample_id: str, cell: CellView) -> float | None:
        exchange = view.exchange(sample_id, cell.cell_id, "quality")
        if exchange is None:
            return None
        request, response = exchange
        if request.predicted_cached is None or response.measured_cached is None:
            return None
        return max(0, response.measured_cached - request.predicted_cached)

    return value


def same_output(
    view: RunView, other_state: str, phase: str = "quality"
) -> Callable[[str, CellView], float | None]:
    """1 where the output ids equal those of the same arm and sample in another cache state or phase."""

    def value(sample_id: str, cell: CellView) -> float | None:
        other = cell.arm.cell_id(other_state)
        pair = [
            view.exchange(sample_id, cell.cell_id, "quality"),
            view.exchange(sample_id, other, phase),
        ]
        if pair[0] is None or pair[1] is None:
            return None
        digests = [exchange[1].output_ids_digest for exchange in pair if exchange is not None]
        return None if None in digests else float(digests[0] == digests[1])

    return value


def edit_counts(view: RunView, cell: CellView) -> dict[str, EditCounts | None]:
    """What one-character edits of the cell's exact quotes gave, by sample."""
    counts: dict[str, EditCounts | None] = {}
    for sample_id in view.sample_ids:
        quotes = view.judged(sample_id, cell)
        counts[sample_id] = None if quotes is None else check_edits(view.judge, quotes)
    return counts
