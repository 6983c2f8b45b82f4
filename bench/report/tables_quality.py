"""Tables of quality: the arms side by side, and what became of the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bench.metrics.bootstrap import Interval
from bench.metrics.summary import Summary
from bench.report import numbers
from bench.report.table import Table, Value
from bench.report.view import CellView, RunView, named, role

ANSWER_METRICS = ("exact_citation", "exact_unique", "answer_in_quote", "right_source")
_REST = ("errors", "undefined", "void", "bound_low", "bound_high")
HEADLINE_NOTE = (
    "Headline: the sum over all expected samples divided by their number; an answer without a "
    "quote, an empty "
    "answer and an error count 0. In brackets: 95 % bootstrap interval over samples, those over one set of "
    "sources drawn together; one set alone has none. † all values are equal, "
    "so the bootstrap cannot see how uncertain they are."
)


def headline_intervals(view: RunView, cells: Sequence[CellView], metric: str) -> list[Interval | None]:
    """Bootstrap intervals of the headline of each cell."""
    return view.intervals([view.counted(cell, metric) for cell in cells])


def arms_table(view: RunView) -> Table:
    """Headline, mean over answered and bounds, a row a cell."""
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    intervals = {metric: headline_intervals(view, view.cells, metric) for metric in ANSWER_METRICS}
    for i, cell in enumerate(view.cells):
        summaries = [view.summary(cell.cell_id, metric) for metric in ANSWER_METRICS]
        limits = [intervals[metric][i] for metric in ANSWER_METRICS]
        rows.append(_arms_row(cell, summaries, limits))
        data += [_arms_data(cell, s, interval) for s, interval in zip(summaries, limits, strict=True)]
    return Table(
        name="arms",
        caption="Quality of the quotes by cell: headline with 95 % interval.",
        head=("Arm", "Cache", "n", *ANSWER_METRICS, "exact, of answers with a quote", "bounds over errors"),
        rows=tuple(rows),
        data_head=("cell_id", "role", "metric", "n", "headline", "low", "high", "n_ok", "mean_ok", *_REST),
        data=tuple(data),
        right=frozenset({2}),
        groups=1,
        notes=(
            HEADLINE_NOTE,
            "Bounds: the headline of exact_citation if every error had scored 0, and if it had scored 1.",
        ),
    )


def _arms_row(
    cell: CellView, summaries: Sequence[Summary], limits: Sequence[Interval | None]
) -> tuple[str, ...]:
    exact = summaries[ANSWER_METRICS.index("exact_citation")]
    shown = [
        numbers.with_interval(_headline(s), "share", interval)
        for s, interval in zip(summaries, limits, strict=True)
    ]
    mean = "void" if exact.void else "none"
    if exact.mean_ok is not None:
        mean = f"{numbers.share(exact.mean_ok)}, n={exact.ok:,}"
    return (named(cell.arm), cell.state, f"{exact.n:,}", *shown, mean, _bounds(exact.bounds))


def _arms_data(cell: CellView, s: Summary, limits: Interval | None) -> tuple[Value, ...]:
    low, high = (limits.low, limits.high) if limits else (None, None)
    head = (cell.cell_id, role(cell.arm), s.metric, s.n, s.headline, low, high, s.ok, s.mean_ok)
    return (*head, s.error, s.undefined, s.void, *(s.bounds or (None, None)))


def _headline(summary: Summary) -> str:
    return "void" if summary.void else numbers.share(summary.headline)


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
        quotes = (
            sum(kinds.values()),
            kinds["raw_exact"],
            kinds["norm_exact"],
            kinds["not exact"],
            kinds["ambiguous"],
        )
        why = ", ".join(f"{n:,} {code}" for code, n in sorted(reasons.items(), key=lambda i: (-i[1], i[0])))
        numbers_ = (*counts, quotes[0] - kinds["ambiguous"], *quotes[1:])
        rows.append((cell.arm.arm_id, cell.state, *(f"{n:,}" for n in numbers_), why or "–"))
        data.append((cell.cell_id, *numbers_, why))
    names = (
        "expected",
        "with a quote",
        "no quote",
        "empty",
        "error",
        "void",
        "quotes",
        "exact, raw",
        "exact, normalized",
        "not exact",
        "exact, ambiguous",
    )
    return Table(
        name="answers",
        caption="What became of the expected answers and of the quotes in them.",
        head=("Arm", "Cache", *names, "why quotes are not exact"),
        rows=tuple(rows),
        data_head=(
            "cell_id",
            *(name.replace(", ", "_").replace(" ", "_") for name in names),
            "why_not_exact",
        ),
        data=tuple(data),
        right=frozenset(range(2, 13)),
        groups=1,
        notes=(
            "Expected = with a quote + no quote + empty + error + void. Quotes = exact raw + "
            "exact normalized + not "
            "exact. Raw: the same code points; normalized: equal under quote/1 only. An "
            "ambiguous quote occurs "
            "more than once in the source that it cites; it is exact, but exact_unique does not count it.",
        ),
    )


def _quotes(view: RunView, cell: CellView) -> tuple[Counter[str], Counter[str]]:
    kinds: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for sample_id in view.sample_ids:
        for quote in view.judged(sample_id, cell) or ():
            kinds[quote.match if quote.exact else "not exact"] += 1
            kinds["ambiguous"] += quote.exact and not quote.unique
            if not quote.exact:
                reasons[quote.reason or quote.match] += 1
    return kinds, reasons
