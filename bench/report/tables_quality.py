"""Tables of quality: the arms side by side, what became of the answers, and paired differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bench.metrics.bootstrap import Interval, bootstrap_means
from bench.metrics.names import METRICS
from bench.metrics.paired import Difference, differences
from bench.report import numbers
from bench.report.table import Table, Value
from bench.report.view import CellView, RunView, role

ANSWER_METRICS = ("exact_citation", "exact_unique", "answer_in_quote", "right_source")
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
HEADLINE_NOTE = (
    "Headline: the sum over all expected samples divided by their number; an answer without a quote, an empty "
    "answer and an error count 0. In brackets: 95 % bootstrap interval over samples. † all values are equal, "
    "so the bootstrap cannot see how uncertain they are."
)


def headline_intervals(view: RunView, cells: Sequence[CellView], metric: str) -> list[Interval | None]:
    """Bootstrap intervals of the headline of each cell."""
    spec = view.input.spec
    values = [view.counted(cell, metric).known for cell in cells]
    return bootstrap_means(values, draws=spec.bootstrap, seed=spec.seed)


def arms_table(view: RunView) -> Table:
    """Headline, mean over answered and bounds, a row a cell."""
    rows, data = [], []
    intervals = {metric: headline_intervals(view, view.cells, metric) for metric in ANSWER_METRICS}
    for i, cell in enumerate(view.cells):
        exact = view.summary(cell.cell_id, "exact_citation")
        shown = []
        for metric in ANSWER_METRICS:
            summary, limits = view.summary(cell.cell_id, metric), intervals[metric][i]
            shown.append(numbers.with_interval(_headline(summary.headline, summary.void), "share", limits))
            low, high = (limits.low, limits.high) if limits else (None, None)
            bounds = summary.bounds or (None, None)
            data.append(
                (cell.cell_id, role(cell.arm), metric, summary.n, summary.headline, low, high, summary.ok,
                 summary.mean_ok, summary.error, summary.undefined, summary.void, *bounds)
            )  # fmt: skip
        mean = f"{numbers.share(exact.mean_ok)}, n={exact.ok:,}" if exact.ok else "no answer with a quote"
        rows.append((cell.arm.arm_id, cell.state, role(cell.arm), f"{exact.n:,}", *shown, mean, _bounds(exact.bounds)))
    return Table(
        name="arms",
        caption="Quality of the quotes by cell: headline with 95 % interval.",
        head=("Arm", "Cache", "Role", "n", *ANSWER_METRICS, "exact_citation where a quote was given", "bounds over errors"),
        rows=tuple(rows),
        data_head=("cell_id", "role", "metric", "n", "headline", "low", "high", "n_ok", "mean_ok", "errors",
                   "undefined", "void", "bound_low", "bound_high"),
        data=tuple(data),
        right=frozenset({3}),
        groups=1,
        notes=(HEADLINE_NOTE, "Bounds: the headline of exact_citation if every error had scored 0, and if it had scored 1."),
    )  # fmt: skip


def _headline(value: float | None, void: int) -> str:
    return "void" if void else numbers.share(value)


def _bounds(bounds: tuple[float, float] | None) -> str:
    return "void" if bounds is None else f"{numbers.share(bounds[0])} to {numbers.share(bounds[1])}"


def answers_table(view: RunView) -> Table:
    """What became of every expected answer and of every attempted quote."""
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    for cell in view.cells:
        answers = view.answers(cell.cell_id)
        kinds, reasons = _quotes(view, cell)
        counts = (answers.n, answers.answered, answers.no_quote, answers.empty, answers.error, answers.void)
        quotes = (sum(kinds.values()), kinds["raw_exact"], kinds["norm_exact"], kinds["not exact"], kinds["ambiguous"])
        why = ", ".join(f"{n:,} {code}" for code, n in sorted(reasons.items(), key=lambda i: (-i[1], i[0])))
        numbers_ = (*counts, quotes[0] - kinds["ambiguous"], *quotes[1:])
        rows.append((cell.arm.arm_id, cell.state, *(f"{n:,}" for n in numbers_), why or "–"))
        data.append((cell.cell_id, *numbers_, why))
    names = ("expected", "with a quote", "no quote", "empty", "error", "void", "quotes", "exact, raw",
             "exact, normalized", "not exact", "exact, ambiguous")  # fmt: skip
    return Table(
        name="answers",
        caption="What became of the expected answers and of the quotes in them.",
        head=("Arm", "Cache", *names, "why quotes are not exact"),
        rows=tuple(rows),
        data_head=("cell_id", *(name.replace(", ", "_").replace(" ", "_") for name in names), "why_not_exact"),
        data=tuple(data),
        right=frozenset(range(2, 13)),
        groups=1,
        notes=(
            "Expected = with a quote + no quote + empty + error + void. Quotes = exact raw + exact normalized + not "
            "exact. Raw: the same code points; normalized: equal under quote/1 only. An ambiguous quote occurs "
            "more than once in the source that it cites; it is exact, but exact_unique does not count it.",
        ),
    )


def _quotes(view: RunView, cell: CellView) -> tuple[Counter[str], Counter[str]]:
    kinds: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for sample_id in view.sample_ids:
        for quote in view.judged(sample_id, cell) or ():
            kinds[quote.match if quote.exact else "not exact"] += 1
            kinds["ambiguous"] += quote.exact and quote.ambiguous
            if not quote.exact:
                reasons[quote.reason or quote.match] += 1
    return kinds, reasons


def compared_cells(view: RunView) -> list[tuple[CellView, CellView]]:
    """Every cell against the naive cells and, but for itself, the first capsule arm, in the same state."""
    against = [*view.baselines, *view.treatments[:1]]
    by_key = {(cell.arm.arm_id, cell.state): cell for cell in view.cells}
    return [
        (cell, by_key[base.arm_id, cell.state])
        for cell in view.cells
        if cell.arm in view.treatments
        for base in against
        if base is not cell.arm and (base.arm_id, cell.state) in by_key
    ]


def all_differences(view: RunView, metrics: Sequence[str]) -> list[tuple[str, Difference]]:
    """Differences of ``compared_cells`` in each metric, metric by metric."""
    spec = view.input.spec
    wanted = [(metric, a, b) for metric in metrics for a, b in compared_cells(view)]
    pairs = [(view.completed(a, metric), view.completed(b, metric)) for metric, a, b in wanted]
    found = differences(pairs, draws=spec.bootstrap, seed=spec.seed)
    return [(metric, diff) for (metric, _, _), diff in zip(wanted, found, strict=True)]


def differences_table(view: RunView) -> Table:
    """Paired differences, cell minus baseline, on the same samples."""
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    for metric, diff in all_differences(view, COMPARED):
        spec = METRICS[metric]
        text = (
            numbers.with_interval(numbers.difference(spec.unit, diff.mean), spec.unit, diff.interval)
            if diff.mean is not None
            else diff.reason or ""
        )
        signs = f"{diff.higher:,} / {diff.equal:,} / {diff.lower:,}" if diff.n else ""
        better = {"higher": "higher", "lower": "lower"}.get(spec.direction, "neither")
        rows.append(
            (f"{metric} ({numbers.shown_unit(spec.unit)})", better, diff.label, diff.baseline,
             f"{diff.n:,}" if diff.n else "", f"{diff.left_out:,}", text, signs)
        )  # fmt: skip
        low, high = (diff.interval.low, diff.interval.high) if diff.interval else (None, None)
        data.append(
            (metric, diff.label, diff.baseline, diff.n, diff.left_out, diff.mean, low, high, diff.higher, diff.equal,
             diff.lower, diff.reason)
        )  # fmt: skip
    return Table(
        name="differences",
        caption="Paired differences (cell minus baseline) on the same samples, with 95 % bootstrap intervals.",
        head=("Metric", "Better", "Cell", "Baseline", "pairs", "left out", "Difference [95 %]", "higher / equal / lower"),
        rows=tuple(rows),
        data_head=("metric", "cell_id", "baseline", "n", "left_out", "mean", "low", "high", "higher", "equal", "lower",
                   "reason"),
        data=tuple(data),
        right=frozenset({4, 5}),
        groups=2,
        notes=(
            "A pair is left out if either cell has an error there (for tokens and times also: an unknown value). "
            "Intervals are not corrected for the number of comparisons.",
        ),
    )  # fmt: skip
