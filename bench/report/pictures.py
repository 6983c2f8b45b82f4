"""From a run to the data of each figure."""

from __future__ import annotations

from bench.metrics.names import METRICS
from bench.metrics.percentiles import percentiles
from bench.report import figure_style as style
from bench.report import figures
from bench.report.facts import fake_engines
from bench.report.figure_style import Drawn
from bench.report.tables_cost import latency_values, token_means
from bench.report.tables_differences import all_differences
from bench.report.tables_evidence import Flow, flows, reason_order
from bench.report.tables_quality import headline_intervals
from bench.report.view import RunView


def exactness(view: RunView) -> Drawn:
    """exact_citation by cell, with intervals."""
    limits = headline_intervals(view, view.cells, "exact_citation")
    rows = []
    for cell, interval in zip(view.cells, limits, strict=True):
        summary = view.summary(cell.cell_id, "exact_citation")
        note = "void" if summary.void else f"n={summary.n:,}"
        rows.append(
            figures.Estimate(
                label=cell.label,
                group=cell.arm.arm_id,
                state=cell.state,
                value=summary.headline,
                interval=interval,
                note=note,
            )
        )
    return style.draw(
        "exactness",
        "Exactness by arm",
        "Share of exact citations by arm and cache state, with 95 % bootstrap intervals. "
        + "; ".join(f"{r.label} {r.value:.3f}" for r in rows if r.value is not None),
        lambda: figures.estimates(
            rows,
            _arms(view),
            unit="share",
            axis="exact_citation: headline over all expected samples, 95 % interval",
            signed=False,
        ),
        stamp=_stamp(view),
    )


def exactness_differences(view: RunView) -> Drawn | None:
    """Paired differences in exact_citation; ``None`` without any comparison."""
    groups = {cell.cell_id: cell for cell in view.cells}
    rows = [
        figures.Estimate(
            label=f"{groups[d.label].label} − {groups[d.baseline].arm.arm_id}",
            group=groups[d.label].arm.arm_id,
            state=groups[d.label].state,
            value=d.mean,
            interval=d.interval,
            note=f"n={d.n:,}" if d.mean is not None else "no pairs",
        )
        for _, d in all_differences(view, ("exact_citation",))
    ]
    if not rows:
        return None
    return style.draw(
        "differences",
        "Paired differences in exactness",
        "Difference in exact_citation on the same samples, with 95 % bootstrap intervals; zero "
        "is no difference. " + "; ".join(f"{r.label} {r.value:+.3f}" for r in rows if r.value is not None),
        lambda: figures.estimates(
            rows,
            _arms(view),
            unit="share",
            axis="difference in exact_citation, 95 % interval",
            signed=True,
        ),
        stamp=_stamp(view),
    )


def waterfall(view: RunView) -> Drawn | None:
    """Evidence from candidates to sent; ``None`` where no prompt records stages."""
    found = flows(view)
    if not found:
        return None
    order = sorted({reason for flow in found for reason, _, _ in flow.omitted}, key=reason_order)
    panels = {flow.arm_id: _steps(flow, order) for flow in found}
    return style.draw(
        "waterfall",
        "Evidence from candidates to sent",
        "Mean evidence tokens (items) a sample: candidates, what was left out by reason, what was sent. "
        + "; ".join(f"{f.arm_id}: {f.candidates[1]:,} tokens to {f.sent[1]:,}" for f in found),
        lambda: figures.waterfall(panels, _arms(view), axis="evidence tokens a sample (items)"),
        stamp=_stamp(view),
    )


def _steps(flow: Flow, order: list[str]) -> list[tuple[str, float, float]]:
    omitted = {reason: (items, tokens) for reason, items, tokens in flow.omitted}
    steps = [("candidates", *flow.candidates)]
    steps += [(reason, *omitted.get(reason, (0, 0))) for reason in order]
    steps.append(("sent", *flow.sent))
    return [(name, tokens / flow.prompts, items / flow.prompts) for name, items, tokens in steps]


def tokens(view: RunView) -> Drawn:
    """Mean tokens by class, a bar a cell."""
    bars = [figures.Bars(label=cell.label, parts=_classes(token_means(view, cell))) for cell in view.cells]
    return style.draw(
        "tokens",
        "Tokens by class",
        "Mean tokens a sample by class: cache read, uncached input, cache write, output. "
        + "; ".join(
            f"{b.label} {', '.join('unknown' if p is None else f'{p:,.0f}' for p in b.parts)}" for b in bars
        ),
        lambda: figures.stacked(
            bars, ("cache read", "uncached input", "cache write", "output"), axis="tokens a sample (mean)"
        ),
        stamp=_stamp(view),
    )


def _classes(means: tuple[float | None, ...]) -> tuple[float | None, ...]:
    _, uncached, read, write, output = means
    return read, uncached, write, output


def ttft(view: RunView) -> Drawn:
    """TTFT by cache state: every observation and the median."""
    rows = []
    for cell in view.cells:
        values = tuple(value / 1000 for value in latency_values(view, cell, "ttft_us"))
        found = percentiles(values)
        rows.append(
            figures.Points(
                label=cell.label,
                group=cell.arm.arm_id,
                state=cell.state,
                values=values,
                median=found.p50 if found else None,
            )
        )
    return style.draw(
        "ttft",
        "Time to first token by cache state",
        f"{METRICS['ttft_us'].definition} Points are single requests, bars are medians. "
        + "; ".join(f"{r.label} {r.median:,.0f} ms" for r in rows if r.median is not None),
        lambda: figures.scatter(
            rows, _arms(view), axis="time to first token (ms); point: a request, bar: median"
        ),
        stamp=_stamp(view),
    )


def _stamp(view: RunView) -> str:
    return "FAKE ENGINE: no model was measured" if fake_engines(view) else ""


def _arms(view: RunView) -> tuple[str, ...]:
    return tuple(arm.arm_id for arm in view.arms)
