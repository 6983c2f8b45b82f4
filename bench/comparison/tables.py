"""The tables of a comparison: who takes part, every cell of every run, and paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bench.comparison.members import Member
from bench.metrics.names import METRICS
from bench.metrics.paired import Difference
from bench.metrics.percentiles import percentiles
from bench.metrics.series import Series
from bench.report import numbers
from bench.report.table import Table, Value
from bench.report.tables_cache import throughput
from bench.report.tables_cost import latency_values
from bench.report.tables_differences import pairs_of
from bench.report.tables_quality import headline_intervals
from bench.report.view import CellView

SHOWN = ("answer_in_quote", "gold_recall_budget", "tokens_prompt", "tokens_cache_read")
PAIRED = ("exact_citation", "answer_in_quote", "gold_recall_budget", "tokens_prompt", "ttft_us", "e2e_us")


def members_table(members: Sequence[Member], varied: Mapping[str, tuple[object, ...]]) -> Table:
    """The runs, and what differs between their configs."""
    keys = list(varied)
    rows, data = [], []
    for place, member in enumerate(members):
        values = [_text(varied[key][place]) for key in keys]
        counts = member.manifest["counts"]
        state = f"{counts['done']:,} of {counts['planned']:,}"
        rows.append((member.label, str(member.manifest["run_id"]), member.digest, state, *values))
        data.append((member.label, str(member.manifest["run_id"]), member.digest, state, *values))
    return Table(
        name="runs",
        caption="The runs, by the digests of their manifests, and the settings in which they differ.",
        head=("Run", "Id", "Manifest", "requests done", *keys),
        rows=tuple(rows),
        data_head=("run", "run_id", "manifest", "done", *keys),
        data=tuple(data),
        right=frozenset({3}),
    )


def cells_table(members: Sequence[Member]) -> Table:
    """Every cell of every run."""
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    for member in members:
        view = member.view
        limits = headline_intervals(view, view.cells, "exact_citation")
        for cell, interval in zip(view.cells, limits, strict=True):
            exact = view.summary(cell.cell_id, "exact_citation")
            means = [_mean(member, cell, metric) for metric in SHOWN]
            ttft = percentiles(latency_values(view, cell, "ttft_us"))
            times = (ttft.n, ttft.p50, ttft.p90) if ttft else (0, None, None)
            rate = (throughput(view, cell) or (None, None))[0]
            shown = numbers.with_interval(numbers.share(exact.headline), "share", interval)
            rows.append(
                (
                    member.label,
                    cell.arm.arm_id,
                    cell.state,
                    f"{exact.n:,}",
                    "void" if exact.void else shown,
                    *(numbers.in_unit(METRICS[m].unit, v) for m, v in zip(SHOWN, means, strict=True)),
                    f"{numbers.milliseconds(times[1])} / {numbers.milliseconds(times[2])} ({times[0]:,})",
                    numbers.amount(rate),
                )
            )
            ends = (interval.low, interval.high) if interval else (None, None)
            head = (member.label, cell.cell_id, exact.n, exact.headline, *ends)
            data.append((*head, exact.error, *means, *times, rate))
    return Table(
        name="cells",
        caption="Every cell of every run.",
        head=(
            *("Run", "Arm", "Cache", "n", "exact_citation [95 %]", *SHOWN),
            *("TTFT p50 / p90, ms (n)", "requests/s"),
        ),
        rows=tuple(rows),
        data_head=(
            *("run", "cell_id", "n", "exact_citation", "low", "high", "errors", *SHOWN),
            *("n_latency", "ttft_p50_us", "ttft_p90_us", "requests_per_s"),
        ),
        data=tuple(data),
        right=frozenset({3, 5, 6, 7, 8, 9, 10}),
        groups=1,
        notes=(
            "exact_citation and answer_in_quote: headline over all expected samples. Tokens and gold "
            "recall: mean over the samples where they are known. Times compare only between runs on one "
            "quiet machine.",
        ),
    )


def paired_table(members: Sequence[Member]) -> Table:
    """Every later run against the first one: cells of the same name, on the samples of both."""
    first, *others = members
    bases = {cell.cell_id: cell for cell in first.view.cells}
    shared = {member.label: member.shared_with(first) for member in others}
    wanted = [
        (metric, member, cell)
        for member in others
        for cell in member.view.cells
        if cell.cell_id in bases
        for metric in PAIRED
    ]
    found = first.view.differences(
        [
            (
                _only(member.view.completed(cell, metric), shared[member.label]),
                _only(first.view.completed(bases[cell.cell_id], metric), shared[member.label]),
            )
            for metric, member, cell in wanted
        ]
    )
    pairs = list(zip(wanted, found, strict=True))
    return Table(
        name="paired",
        caption=f"Paired differences against {first.label}, cell by cell, 95 % bootstrap intervals.",
        head=("Metric", "Cell", "Run", "pairs", "left out", "Difference [95 %]", "higher / equal / lower"),
        rows=tuple(_row(metric, member, d) for (metric, member, _), d in pairs),
        data_head=(
            *("metric", "cell_id", "run", "baseline", "n", "clusters", "left_out", "mean", "low", "high"),
            *("higher", "equal", "lower", "reason"),
        ),
        data=tuple(_data(metric, member, first, d) for (metric, member, _), d in pairs),
        right=frozenset({3, 4}),
        notes=(
            "A pair is left out if either side has an error there (for amounts also: an unknown value). "
            "Pairs over one set of sources are drawn together ('24 in 6 sets').",
            *(_unpaired(member, first, len(shared[member.label])) for member in others),
            *(
                f"{member.label} and {first.label} have no cell of the same name: nothing is paired."
                for member in others
                if not any(cell.cell_id in bases for cell in member.view.cells)
            ),
        ),
    )


def _only(series: Series, names: frozenset[str]) -> Series:
    """The series on some samples alone."""
    if series.reason is not None:
        return series
    return replace(series, values={name: v for name, v in series.values.items() if name in names})


def _unpaired(member: Member, first: Member, shared: int) -> str:
    sizes = (len(member.view.index.samples), len(first.view.index.samples))
    return (
        f"{member.label} and {first.label}: {shared:,} samples are the same in both "
        f"(of {sizes[0]:,} and {sizes[1]:,})."
    )


def _mean(member: Member, cell: CellView, metric: str) -> float | None:
    summary = member.view.summary(cell.cell_id, metric)
    return summary.headline if METRICS[metric].basis == "answer" else summary.mean_ok


def _row(metric: str, member: Member, d: Difference) -> tuple[str, ...]:
    unit = METRICS[metric].unit
    head = (f"{metric} ({numbers.shown_unit(unit)})", d.label, member.label)
    if d.mean is None:
        return (*head, "", f"{d.left_out:,}", d.reason or "", "")
    text = numbers.with_interval(numbers.difference(unit, d.mean), unit, d.interval)
    return (*head, pairs_of(d), f"{d.left_out:,}", text, f"{d.higher:,} / {d.equal:,} / {d.lower:,}")


def _data(metric: str, member: Member, first: Member, d: Difference) -> tuple[Value, ...]:
    low, high = (d.interval.low, d.interval.high) if d.interval else (None, None)
    head = (metric, d.label, member.label, first.label, d.n, d.clusters, d.left_out, d.mean, low, high)
    return (*head, d.higher, d.equal, d.lower, d.reason)


def _text(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    return str(value)
