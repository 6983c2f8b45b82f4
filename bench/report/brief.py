"""The first numbers that a reader sees: each capsule arm against each naive arm, on the samples of both.

The same words stand beside a win, a loss and a draw.
"""

from __future__ import annotations

from bench.metrics.names import METRICS
from bench.metrics.paired import FEWEST, Difference
from bench.report import numbers
from bench.report.table import Table, Value
from bench.report.tables_differences import pairs_of
from bench.report.view import CellView, RunView, named

SUBJECTS = (
    ("exact_citation", "exact citations (share; higher is better)"),
    ("tokens_prompt", "prompt tokens a sample (lower is better)"),
    ("silent_omissions", "silent omissions a sample (lower is better)"),
    ("ttft_us", "time to first token (ms; lower is better)"),
)
OWN_ENGINE = (
    "An arm with a retention setting of its own runs on an engine of its own, at another time: what the "
    "machine did meanwhile is in the difference of times."
)


def brief_table(view: RunView) -> Table | None:
    """Four metrics in the reference state; ``None`` if no capsule arm can be paired with a naive one."""
    pairs = [
        (arm, base)
        for treatment in view.treatments
        if (arm := view.reference_cell(treatment)) is not None
        for baseline in view.baselines
        if (base := view.reference_cell(baseline)) is not None
    ]
    if not pairs:
        return None
    wanted = [(metric, arm, base) for arm, base in pairs for metric, _ in SUBJECTS]
    series = [(view.completed(arm, metric), view.completed(base, metric)) for metric, arm, base in wanted]
    found = view.differences(series)
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    names = dict(SUBJECTS)
    for (metric, arm, base), diff in zip(wanted, found, strict=True):
        rows.append((_pair_name(arm, base), names[metric], *_shown(metric, diff)))
        low, high = (diff.interval.low, diff.interval.high) if diff.interval else (None, None)
        means = diff.means or (None, None)
        counts = (diff.n, diff.clusters)
        data.append((metric, diff.label, diff.baseline, *counts, *means, diff.mean, low, high, diff.reason))
    return Table(
        name="brief",
        caption=f"Capsule arms against naive arms, cache state {view.reference_state}, on the same samples.",
        head=("Comparison", "Metric", "first", "second", "Difference [95 %]", "pairs", "Reading"),
        rows=tuple(rows),
        data_head=(
            "metric",
            "cell_id",
            "baseline",
            "n",
            "clusters",
            "mean",
            "mean_baseline",
            "difference",
            "low",
            "high",
            "reason",
        ),
        data=tuple(data),
        right=frozenset({2, 3, 5}),
        groups=1,
        notes=(
            "Means over the samples that both arms completed. All comparisons stand further down. Fewer than "
            f"{FEWEST} independent pairs tell nothing apart at 5 %, whatever their interval: all could "
            "differ the same way by chance. Pairs over one set of sources are not independent.",
            *((OWN_ENGINE,) if any(arm.retention for arm in view.arms) else ()),
        ),
    )


def _pair_name(arm: CellView, base: CellView) -> str:
    return f"{named(arm.arm)} against {base.arm.arm_id}"


def _shown(metric: str, diff: Difference) -> tuple[str, ...]:
    unit = METRICS[metric].unit
    if diff.mean is None or diff.means is None:
        return "", "", diff.reason or "", "", ""
    left, right = (numbers.in_unit(unit, value) for value in diff.means)
    change = numbers.with_interval(numbers.difference(unit, diff.mean), unit, diff.interval)
    return left, right, change, pairs_of(diff), _reading(diff)


def _reading(diff: Difference) -> str:
    interval = diff.interval
    if interval is not None and interval.flat:
        return "the same on every sample" if diff.clusters == diff.n else "the same in every set of sources"
    if interval is None or diff.clusters < FEWEST:
        return "too few pairs" if diff.clusters == diff.n else "too few sets of sources"
    if interval.low <= 0 <= interval.high:
        return "not told apart"
    return "higher" if interval.low > 0 else "lower"
