"""Tables of cost: token classes, and latency by cache state."""

from __future__ import annotations

from bench.metrics.percentiles import METHOD, Percentiles, percentiles
from bench.report import numbers
from bench.report.table import Table, Value
from bench.report.view import CellView, RunView

TOKEN_METRICS = (
    "tokens_prompt",
    "tokens_input_uncached",
    "tokens_cache_read",
    "tokens_cache_write",
    "tokens_output",
)
LATENCY_METRICS = ("ttft_us", "tpot_us", "e2e_us")


def token_means(view: RunView, cell: CellView) -> tuple[float | None, ...]:
    """Mean tokens a sample of every class, over the samples where it is known."""
    return tuple(view.summary(cell.cell_id, metric).mean_ok for metric in TOKEN_METRICS)


def tokens_table(view: RunView) -> Table:
    """Mean tokens a sample by class, a row a cell."""
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    for cell in view.cells:
        summaries = [view.summary(cell.cell_id, metric) for metric in TOKEN_METRICS]
        texts = ["void" if s.void else _with_n(s.mean_ok, s.ok, s.n) for s in summaries]
        rows.append((cell.arm.arm_id, cell.state, f"{summaries[0].n:,}", *texts))
        data.extend((cell.cell_id, s.metric, s.n, s.ok, s.mean_ok) for s in summaries)
    return Table(
        name="tokens",
        caption="Mean tokens a sample by class.",
        head=("Arm", "Cache", "n", "prompt", "uncached input", "cache read", "cache write", "output"),
        rows=tuple(rows),
        data_head=("cell_id", "metric", "n", "n_ok", "mean"),
        data=tuple(data),
        right=frozenset(range(2, 8)),
        groups=1,
        notes=(
            "Prompt = uncached input + cache read + cache write; the classes are disjoint. Means "
            "are over samples "
            "where the value is known; where that is not all of them, their number is shown.",
        ),
    )


def _with_n(mean: float | None, n_ok: int, n: int) -> str:
    if mean is None:
        return "unknown"
    text = numbers.amount(mean)
    return text if n_ok == n else f"{text}, n={n_ok:,}"


def latency_values(view: RunView, cell: CellView, metric: str) -> tuple[float, ...]:
    """Measured values of a latency metric, in plan order; none where the cell is void."""
    rows = view.metric_rows(cell.cell_id, metric)
    if any(row.status == "void" for row in rows):
        return ()
    return tuple(row.value for row in rows if row.value is not None)


def latency_table(view: RunView) -> Table:
    """p50 and p90 with n of every latency metric, a row a cell."""
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    for cell in view.cells:
        found = {m: percentiles(latency_values(view, cell, m)) for m in LATENCY_METRICS}
        rows.append((cell.arm.arm_id, cell.state, *(_percentiles(found[m]) for m in LATENCY_METRICS)))
        for metric, p in found.items():
            values = (p.n, p.p50, p.p90, p.low, p.high) if p else (0, None, None, None, None)
            data.append((cell.cell_id, metric, *values))
    return Table(
        name="latency",
        caption="Latency by cache state, in milliseconds: p50 / p90 (n).",
        head=("Arm", "Cache", "TTFT", "TPOT", "end to end"),
        rows=tuple(rows),
        data_head=("cell_id", "metric", "n", "p50_us", "p90_us", "min_us", "max_us"),
        data=tuple(data),
        right=frozenset({2, 3, 4}),
        groups=1,
        notes=(
            f"Percentiles by {METHOD}; with few values a p90 rests on the largest one or two. "
            "Requests of the "
            "latency phase only: closed loop, one at a time, the cells of one engine interleaved "
            "sample by sample "
            f"in seeded order, at most {view.input.spec.latency_max_tokens:,} tokens generated. "
            "Times are of this "
            "machine and compare within this run only.",
        ),
    )


def _percentiles(found: Percentiles | None) -> str:
    if found is None:
        return "no value"
    return f"{numbers.milliseconds(found.p50)} / {numbers.milliseconds(found.p90)} ({found.n:,})"
