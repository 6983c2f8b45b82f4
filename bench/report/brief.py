"""What the numbers say, in a few sentences made from them: the same sentence for a win and a loss."""

from __future__ import annotations

from bench.metrics.bootstrap import Interval
from bench.metrics.names import METRICS
from bench.metrics.paired import Difference, differences
from bench.report import numbers
from bench.report.view import CellView, RunView, is_upper_bound

SUBJECTS = ("exact_citation", "tokens_prompt", "silent_omissions", "ttft_us")
_NAMES = {
    "exact_citation": "share of exact citations",
    "tokens_prompt": "prompt tokens a sample",
    "silent_omissions": "silent omissions a sample",
    "ttft_us": "time to first token (ms, mean)",
}


def brief(view: RunView) -> tuple[str, ...]:
    """One statement a metric and pair of arms, in the reference state."""
    spec = view.input.spec
    pairs = [
        (metric, cell, base)
        for arm in view.treatments
        if (cell := view.reference_cell(arm)) is not None
        for baseline in view.baselines
        if (base := view.reference_cell(baseline)) is not None
        for metric in SUBJECTS
    ]
    found = differences(
        [(view.completed(a, metric), view.completed(b, metric)) for metric, a, b in pairs],
        draws=spec.bootstrap,
        seed=spec.seed,
    )
    return tuple(
        _statement(view, metric, a, b, d) for (metric, a, b), d in zip(pairs, found, strict=True) if d.mean is not None
    )


def _statement(view: RunView, metric: str, cell: CellView, base: CellView, diff: Difference) -> str:
    unit = METRICS[metric].unit
    name = f"{cell.arm.arm_id} (upper bound: it sees gold)" if is_upper_bound(cell.arm) else cell.arm.arm_id
    change = numbers.with_interval(numbers.difference(unit, diff.mean), unit, diff.interval)
    return (
        f"{_NAMES[metric]}, {cell.state}: {name} {_value(view, cell, metric)}, "
        f"{base.arm.arm_id} {_value(view, base, metric)}; difference {change} on {diff.n:,} samples: "
        f"{_reading(diff.interval)}."
    )


def _value(view: RunView, cell: CellView, metric: str) -> str:
    summary = view.summary(cell.cell_id, metric)
    value = summary.headline if METRICS[metric].bounded else summary.mean_ok
    return numbers.in_unit(METRICS[metric].unit, value)


def _reading(interval: Interval | None) -> str:
    if interval is None:
        return "too few samples for an interval"
    if interval.flat:
        return "the same difference on every sample"
    if interval.low <= 0 <= interval.high:
        return "the interval holds zero, this run does not tell the arms apart"
    return "higher" if interval.low > 0 else "lower"
