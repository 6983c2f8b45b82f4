"""Compression side by side: raw against protected, rates, time, what was lost, what it did to citations."""

from __future__ import annotations

from collections.abc import Mapping

from bench.metrics.bootstrap import Interval
from bench.metrics.percentiles import percentiles
from bench.metrics.series import Series
from bench.report import numbers
from bench.report.compression_facts import Given, answer_there, given, lost, selected
from bench.report.numbers import MISSING
from bench.report.table import Table, Value
from bench.report.tables_quality import headline_intervals
from bench.report.view import RunView
from bench.scorers.judge import ALTERED
from bench.specs import ArmSpec

Row = tuple[str, ...]
Data = tuple[Value, ...]

LOSSES = ("numbers", "numbers_added", "negations", "names", "broken")
RATES_NOTE = (
    "Achieved, of selected evidence: mean a sample with 95 % bootstrap interval; sentences that no "
    "compressor may touch are counted in, headers are not. Of what it was given: from sums; a text that did "
    "not get shorter is sent as it was (no gain), never counted as a saving. The time is the compressor's "
    "own, for one prompt, and is inside end to end."
)
LOSSES_NOTE = (
    "Counts over all prompts, recomputed from the sent texts and their sources. Sentences that were dropped "
    "whole are no loss here: they have omission records. A quote of altered text is one that no original "
    "holds, but the text that the prompt showed does. Exact citation: the headline in the cache state "
)


def compressing(view: RunView) -> list[ArmSpec]:
    """Capsule arms, where at least one of them compresses; else none."""
    arms = [arm for arm in view.arms if arm.layout == "capsule"]
    return arms if any(arm.compression.name != "none" for arm in arms) else []


def rates_table(view: RunView) -> Table:
    """Asked and achieved rates, and the compressor's time: a row an arm."""
    made = [_rates(view, arm) for arm in compressing(view)]
    return Table(
        name="compression",
        caption="Compression: asked and achieved share of tokens, by the target model's tokenizer.",
        head=(
            "Arm",
            "compressor",
            "mode",
            "n",
            "asked",
            "achieved, of selected evidence",
            "achieved, of what it was given",
            "texts given",
            "time p50, ms",
            "time p90, ms",
        ),
        rows=tuple(row for row, _ in made),
        data_head=(
            *("arm_id", "compressor", "mode", "n", "asked", "achieved", "low", "high"),
            *("given_tokens", "given_sent", "texts", "no_gain", "empty"),
            *("compressor_p50_us", "compressor_p90_us"),
        ),
        data=tuple(data for _, data in made),
        right=frozenset({3, 4, 5, 6, 8, 9}),
        notes=(RATES_NOTE,),
    )


def losses_table(view: RunView) -> Table:
    """What was lost, what is still there, and what the answers made of it: a row an arm."""
    arms = compressing(view)
    cells = [cell for arm in arms if (cell := view.reference_cell(arm)) is not None]
    intervals = headline_intervals(view, cells, "exact_citation")
    exact = {cell.arm.arm_id: limits for cell, limits in zip(cells, intervals, strict=True)}
    made = [_losses(view, arm, exact.get(arm.arm_id)) for arm in arms]
    return Table(
        name="losses",
        caption="What compressed evidence lost, and what became of citations.",
        head=(
            "Arm",
            "n",
            "numbers lost",
            "numbers added",
            "negations lost",
            "names lost",
            "broken characters",
            "gold answer still verbatim",
            "exact citation",
            "quotes of altered text",
        ),
        rows=tuple(row for row, _ in made),
        data_head=("arm_id", "n", *LOSSES, "verbatim", "verbatim_n", "exact_citation", "altered_quotes"),
        data=tuple(data for _, data in made),
        right=frozenset(range(1, 10)),
        notes=(f"{LOSSES_NOTE}{view.reference_state}.",),
    )


def _rates(view: RunView, arm: ArmSpec) -> tuple[Row, Data]:
    builds = list(view.builds(arm.arm_id))
    parts = {build.sample_id: selected(build) for build in builds}
    shares = {sample_id: left / all_ for sample_id, (all_, left) in parts.items() if all_}
    mean, limits = _estimate(view, shares)
    handed = given(text for build in builds for text in build.compressed)
    times = percentiles([build.compressor_us for build in builds if build.compressor_us])
    p50, p90 = (times.p50, times.p90) if times else (None, None)
    spec = arm.compression
    asked = None if spec.name == "none" else spec.rate_bp / 10_000
    row = (
        arm.arm_id,
        spec.name,
        MISSING if asked is None else spec.mode,
        f"{len(builds):,}",
        numbers.share(asked),
        numbers.with_interval(numbers.share(mean), "share", limits),
        numbers.share(handed.rate),
        _handed(handed),
        numbers.milliseconds(p50),
        numbers.milliseconds(p90),
    )
    low, high = (limits.low, limits.high) if limits else (None, None)
    data = (
        *(arm.arm_id, spec.name, spec.mode, len(builds), asked, mean, low, high),
        *(handed.tokens, handed.sent, handed.texts, handed.no_gain, handed.empty, p50, p90),
    )
    return row, data


def _losses(view: RunView, arm: ArmSpec, limits: Interval | None) -> tuple[Row, Data]:
    losses = [lost(build, view.input.texts) for build in view.builds(arm.arm_id)]
    totals = [sum(getattr(each, name) for each in losses) if losses else None for name in LOSSES]
    lossy = arm.compression.mode != "items"
    shown = [MISSING if total is None or not lossy else f"{total:,}" for total in totals]
    there = _answers_there(view, arm)
    altered = _altered(view, arm)
    share, within = _estimate(view, there)
    verbatim = numbers.with_interval(numbers.share(share), "share", within)
    cell = view.reference_cell(arm)
    summary = None if cell is None else view.summary(cell.cell_id, "exact_citation")
    headline = None if summary is None or summary.void else summary.headline
    cited = numbers.with_interval(numbers.share(headline), "share", limits)
    row = (
        arm.arm_id,
        f"{len(losses):,}",
        *shown,
        f"{verbatim}, n={len(there):,}",
        cited if summary is None else f"{cited}, n={summary.n:,}",
        f"{altered:,}",
    )
    return row, (arm.arm_id, len(losses), *totals, share, len(there), headline, altered)


def _handed(handed: Given) -> str:
    if not handed.texts:
        return MISSING
    more = [f"{n:,} {what}" for n, what in ((handed.no_gain, "no gain"), (handed.empty, "empty")) if n]
    return f"{handed.texts:,}" + (f" ({', '.join(more)})" if more else "")


def _estimate(view: RunView, values: Mapping[str, float]) -> tuple[float | None, Interval | None]:
    """Mean and interval of one value a sample."""
    (limits,) = view.intervals([Series(label="", values=values)])
    return (sum(values.values()) / len(values) if values else None), limits


def _answers_there(view: RunView, arm: ArmSpec) -> dict[str, float]:
    found = {
        build.sample_id: answer_there(build, view.index.samples[build.sample_id], view.input.texts)
        for build in view.builds(arm.arm_id)
    }
    return {sample_id: value for sample_id, value in found.items() if value is not None}


def _altered(view: RunView, arm: ArmSpec) -> int:
    cell = view.reference_cell(arm)
    if cell is None:
        return 0
    answers = (view.judged(sample_id, cell) or () for sample_id in view.sample_ids)
    return sum(ALTERED in quote.codes for quotes in answers for quote in quotes)
