"""Paired differences: every cell against the naive arms, and against the first capsule arm."""

from __future__ import annotations

from collections.abc import Sequence

from bench.metrics.names import METRICS, NEUTRAL
from bench.metrics.paired import Difference
from bench.plural import number_of
from bench.report import numbers
from bench.report.table import Table, Value
from bench.report.view import CellView, RunView

COMPARED = (
    "exact_citation",
    "answer_in_quote",
    "right_source",
    "gold_recall_budget",
    "silent_omissions",
    "tokens_prompt",
    "tokens_cache_read",
    "ttft_us",
    "e2e_us",
)
HEAD = (
    *("Metric", "Better", "Cell", "Baseline", "pairs", "left out"),
    *("Difference [95 %]", "higher / equal / lower"),
)
DATA_HEAD = (
    *("metric", "cell_id", "baseline", "n", "clusters", "left_out", "mean", "low", "high"),
    *("higher", "equal", "lower", "reason"),
)


def compared_cells(view: RunView, metric: str) -> list[tuple[CellView, CellView]]:
    """What is compared: each cell with the naive cells and the first capsule arm's, in the same state.

    A metric of the prompt alone is the same in every cache state, so it is compared once, in the
    reference state.
    """
    against = [*view.baselines, *view.treatments[:1]]
    by_key = {(cell.arm.arm_id, cell.state): cell for cell in view.cells}
    return [
        (cell, by_key[base.arm_id, cell.state])
        for cell in view.cells
        if cell.arm in view.treatments
        and (METRICS[metric].basis != "build" or cell.state == view.reference_state)
        for base in against
        if base is not cell.arm and (base.arm_id, cell.state) in by_key
    ]


def all_differences(view: RunView, metrics: Sequence[str]) -> list[tuple[str, Difference]]:
    """Differences of ``compared_cells`` in each metric, metric by metric."""
    wanted = [(metric, a, b) for metric in metrics for a, b in compared_cells(view, metric)]
    pairs = [(view.completed(a, metric), view.completed(b, metric)) for metric, a, b in wanted]
    found = view.differences(pairs)
    return [(metric, diff) for (metric, _, _), diff in zip(wanted, found, strict=True)]


def differences_table(view: RunView) -> Table:
    """Paired differences, cell minus baseline, on the same samples."""
    found = all_differences(view, COMPARED)
    return Table(
        name="differences",
        caption="Paired differences (cell minus baseline) on the same samples, 95 % bootstrap intervals.",
        head=HEAD,
        rows=tuple(difference_row(metric, diff) for metric, diff in found),
        data_head=DATA_HEAD,
        data=tuple(difference_data(metric, diff) for metric, diff in found),
        right=frozenset({4, 5}),
        groups=2,
        notes=(
            "A pair is left out if either cell has an error there (for tokens and times also: an unknown "
            "value). Pairs over one set of sources are drawn together ('24 in 6 sets'). Intervals are not "
            "corrected for the number of comparisons.",
        ),
    )


def pairs_of(diff: Difference) -> str:
    """How many pairs, and over how many sets of sources where that is fewer."""
    return f"{diff.n:,}" if diff.clusters == diff.n else f"{diff.n:,} in {number_of(diff.clusters, 'set')}"


def difference_row(metric: str, diff: Difference) -> tuple[str, ...]:
    """A difference for reading, under ``HEAD``."""
    spec = METRICS[metric]
    better = "neither is better" if spec.direction == NEUTRAL else f"{spec.direction} is better"
    head = (f"{metric} ({numbers.shown_unit(spec.unit)})", better, diff.label, diff.baseline)
    if diff.mean is None:
        return (*head, "", f"{diff.left_out:,}", diff.reason or "", "")
    text = numbers.with_interval(numbers.difference(spec.unit, diff.mean), spec.unit, diff.interval)
    signs = f"{diff.higher:,} / {diff.equal:,} / {diff.lower:,}"
    return (*head, pairs_of(diff), f"{diff.left_out:,}", text, signs)


def difference_data(metric: str, d: Difference) -> tuple[Value, ...]:
    """A difference as plain values, under ``DATA_HEAD``."""
    low, high = (d.interval.low, d.interval.high) if d.interval else (None, None)
    head = (metric, d.label, d.baseline, d.n, d.clusters, d.left_out, d.mean, low, high)
    return (*head, d.higher, d.equal, d.lower, d.reason)
