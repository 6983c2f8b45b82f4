"""What caching did in each cell: how much was read, and what that was worth in time.

A hit rate alone says nothing: it stands beside time to first token, end to end and throughput. Predicted
and measured tokens are compared request by request, and a missing prediction is counted under its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bench.metrics.percentiles import percentiles
from bench.records import CellState, RequestRow, ResponseRow
from bench.report import numbers
from bench.report.facts import replayed_runs
from bench.report.table import Table, Value
from bench.report.tables_cost import latency_values
from bench.report.view import CellView, RunView

PHASES = ("quality", "latency", "floor")


_HEAD = (
    "Arm",
    "Cache",
    "cached share",
    "predicted = measured",
    "n latency",
    "TTFT p50, ms",
    "end to end p50, ms",
    "requests/s",
    "prompt tokens/s",
)
_DATA_HEAD = (
    "cell_id",
    "cached_share",
    "equal",
    "compared",
    "null",
    "null_reasons",
    "n_latency",
    "ttft_p50_us",
    "e2e_p50_us",
    "requests_per_s",
    "prompt_tokens_per_s",
)


def cache_table(view: RunView) -> Table:
    """Cached share, predictions, times and throughput, a row a cell."""
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    replayed = bool(replayed_runs(view))
    for cell in view.cells:
        exchanges = list(_exchanges(view, cell))
        share = _cached_share(view, cell)
        law, reasons = _predictions(exchanges)
        times = [percentiles(latency_values(view, cell, metric)) for metric in ("ttft_us", "e2e_us")]
        p50 = [found.p50 if found else None for found in times]
        n_latency = times[0].n if times[0] else 0
        rate = throughput(view, cell)
        rows.append(
            (
                cell.arm.arm_id,
                cell.state,
                "unknown" if share is None else numbers.share(share),
                _law_text(law, reasons),
                f"{n_latency:,}",
                *(numbers.milliseconds(value) for value in p50),
                *("unknown" if value is None else numbers.amount(value) for value in rate or (None, None)),
            )
        )
        why = ", ".join(f"{n} {reason}" for reason, n in sorted(reasons.items()))
        data.append((cell.cell_id, share, *law, why, n_latency, *p50, *(rate or (None, None))))
    return Table(
        name="cache",
        caption="What the prefix cache gave in each cell, and what it was worth.",
        head=_HEAD,
        rows=tuple(rows),
        data_head=_DATA_HEAD,
        data=tuple(data),
        right=frozenset({2, 4, 5, 6, 7, 8}),
        groups=1,
        notes=(
            "Cached share: cached over prompt tokens, summed over the quality requests, so that long prompts "
            "weigh more (the promise of prefix reuse is the mean of the share of each request). Throughput: "
            f"quality requests in waves of {view.input.spec.concurrency:,}, from sending a wave to its last "
            "answer, summed. Predictions: all requests of the cell, in every phase."
            + (" Throughput is unknown: answers were replayed, and nothing was timed." if replayed else ""),
        ),
    )


def throughput(view: RunView, cell: CellView) -> tuple[float, float] | None:
    """Answered requests and their prompt tokens a second in the quality phase.

    ``None`` where the time is not that of all its requests: the run was interrupted there.
    """
    state = _state(view, cell)
    sent = sum((s, cell.cell_id, "quality") in view.index.requests for s in view.sample_ids)
    if state is None or not state.wall_us or state.answered != sent:
        return None
    exchanges = [e for s in view.sample_ids if (e := view.exchange(s, cell.cell_id, "quality")) is not None]
    seconds = state.wall_us / 1_000_000
    return len(exchanges) / seconds, sum(request.n_prompt for request, _ in exchanges) / seconds


def _state(view: RunView, cell: CellView) -> CellState | None:
    found = [s for s in view.input.cells if (s.cell_id, s.phase) == (cell.cell_id, "quality") and not s.void]
    return found[-1] if found else None


def _exchanges(view: RunView, cell: CellView) -> Iterator[tuple[RequestRow, ResponseRow]]:
    for phase in PHASES:
        for sample_id in view.sample_ids:
            exchange = view.exchange(sample_id, cell.cell_id, phase)
            if exchange is not None:
                yield exchange


def _cached_share(view: RunView, cell: CellView) -> float | None:
    cached = prompt = 0
    for sample_id in view.sample_ids:
        exchange = view.exchange(sample_id, cell.cell_id, "quality")
        if exchange is None:
            continue
        if exchange[1].measured_cached is None:
            return None
        cached += exchange[1].measured_cached
        prompt += exchange[0].n_prompt
    return cached / prompt if prompt else None


def _predictions(
    exchanges: list[tuple[RequestRow, ResponseRow]],
) -> tuple[tuple[int, int, int], Counter[str]]:
    """(equal, compared, null) and the nulls by reason; what the engine did not measure is a null, too."""
    reasons: Counter[str] = Counter()
    equal = compared = 0
    for request, response in exchanges:
        if request.predicted_cached is None:
            reasons[request.predicted_reason or "no reason"] += 1
        elif response.measured_cached is None:
            reasons["not measured"] += 1
        else:
            compared += 1
            equal += request.predicted_cached == response.measured_cached
    return (equal, compared, sum(reasons.values())), reasons


def _law_text(law: tuple[int, int, int], reasons: Counter[str]) -> str:
    text = numbers.count_of(law[0], law[1])
    return (
        text
        if not reasons
        else f"{text}; null: " + ", ".join(f"{n:,} {r}" for r, n in sorted(reasons.items()))
    )
