"""The figures of a report, each from plain values to a painted figure.

Rules of this module:

* Every figure carries its unit, its n and its values as direct labels; a legend names only what no
  label can.
* Arms and cells keep the order of the experiment's configuration, never one by result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.metrics.bootstrap import Interval
from bench.report import figure_style as style
from bench.report import numbers
from bench.report.visible import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value with its interval; ``group`` picks the colour, ``state`` the marker."""

    label: str
    group: str
    state: str
    value: float | None
    interval: Interval | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """Single observations of one cell, with their median."""

    label: str
    group: str
    state: str
    values: tuple[float, ...]
    median: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """One stacked bar: amounts by class, in the order of the classes; ``None`` is unknown."""

    label: str
    parts: tuple[float | None, ...]


def estimates(
    rows: Sequence[Estimate], groups: tuple[str, ...], *, unit: str, axis: str, signed: bool
) -> Figure:
    """Points with 95 % intervals, one row a cell; signed ones stand around a zero line.

    Args:
        rows: What to draw, from top to bottom.
        groups: All arms of the run: an arm has one colour in all figures.
        unit: Unit of the values, for their labels.
        axis: Label of the horizontal axis.
        signed: Whether values are differences.
    """
    figure, (ax,) = style.blank(0.75 + 0.27 * max(len(rows), 2))
    style.label_rows(ax, [row.label for row in rows])
    for y, row in enumerate(rows):
        colour = style.colour_of(groups, row.group)
        if row.interval is not None:
            ax.plot([row.interval.low, row.interval.high], [y, y], color=colour, solid_capstyle="butt")
        if row.value is not None:
            ax.plot([row.value], [y], style.MARKERS.get(row.state, "o"), color=colour, markersize=5)
        shown = numbers.difference(unit, row.value) if signed else numbers.in_unit(unit, row.value)
        text = row.note if row.value is None else f"{shown}  {row.note}"
        ax.annotate(
            text, (1.01, y), xycoords=("axes fraction", "data"), va="center", ha="left", annotation_clip=False
        )
    if signed:
        ax.axvline(0, color=style.INK, linewidth=0.8)
        limit = max((abs(edge) for row in rows for edge in _extent(row)), default=0) or 1
        ax.set_xlim(-1.08 * limit, 1.08 * limit)
    else:
        ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel(axis)
    return figure


def _extent(row: Estimate) -> tuple[float, ...]:
    edges = () if row.interval is None else (row.interval.low, row.interval.high)
    return edges if row.value is None else (*edges, row.value)


def scatter(rows: Sequence[Points], groups: tuple[str, ...], *, axis: str) -> Figure:
    """Every observation as a point, the median as a bar with its value (milliseconds)."""
    figure, (ax,) = style.blank(0.75 + 0.3 * max(len(rows), 2))
    style.label_rows(ax, [row.label for row in rows])
    for y, row in enumerate(rows):
        colour = style.colour_of(groups, row.group)
        spread = [y + 0.36 * ((i * 0.618034) % 1 - 0.5) for i in range(len(row.values))]
        marker = style.MARKERS.get(row.state, "o")
        ax.plot(row.values, spread, marker, color=colour, markersize=4, alpha=0.75, markeredgewidth=0)
        if row.median is not None:
            ax.plot([row.median, row.median], [y - 0.33, y + 0.33], color=style.INK, linewidth=1.6)
        text = f"{row.median:,.0f} ms  n={len(row.values)}" if row.median is not None else "no value"
        ax.annotate(
            text, (1.01, y), xycoords=("axes fraction", "data"), va="center", ha="left", annotation_clip=False
        )
    ax.set_xlim(left=0)
    style.thousands(ax, 8)
    ax.set_xlabel(axis)
    return figure


def stacked(rows: Sequence[Bars], classes: Sequence[str], *, axis: str) -> Figure:
    """Stacked horizontal bars with the amount written into every part that is wide enough."""
    from matplotlib.patches import Patch

    figure, (ax,) = style.blank(1.05 + 0.3 * max(len(rows), 2))
    style.label_rows(ax, [row.label for row in rows])
    longest = max((sum(p or 0 for p in row.parts) for row in rows), default=0) or 1
    fills: list[dict[str, Any]] = [
        {
            "facecolor": style.PALETTE[(4, 1, 3, 2)[i % 4]],
            "hatch": style.HATCHES[i % 4],
            "edgecolor": style.PAPER,
        }
        for i in range(len(classes))
    ]
    for y, row in enumerate(rows):
        left = 0.0
        for part, fill in zip(row.parts, fills, strict=True):
            if part:
                ax.barh(y, part, left=left, height=0.66, linewidth=0.6, **fill)
                if part > 0.07 * longest:
                    style.inside(ax, left + part / 2, y, _short(part))
                left += part
        if all(part is None for part in row.parts):
            style.beside(ax, 0, y, "no value")
    ax.set_xlim(0, 1.04 * longest)
    style.thousands(ax, 8)
    ax.set_xlabel(axis)
    keys = [Patch(label=name, **fill) for name, fill in zip(classes, fills, strict=True)]
    figure.legend(
        handles=keys, loc="outside upper center", ncols=len(classes), frameon=False, handlelength=1.4
    )
    return figure


def waterfall(
    panels: Mapping[str, Sequence[tuple[str, float, float]]], groups: tuple[str, ...], *, axis: str
) -> Figure:
    """From candidates to sent, a panel an arm.

    Args:
        panels: Arm -> steps (name, tokens, items); the first and the last are totals, those between
            are what was dropped. All arms have the same steps.
        groups: All arms of the run.
        axis: Label of the horizontal axis.
    """
    columns = min(len(panels), 2)
    rows = -(-len(panels) // columns)
    steps = len(next(iter(panels.values())))
    figure, axes = style.blank(rows * (0.62 + 0.23 * steps), rows=rows, columns=columns, sharey=True)
    widest = max((tokens for steps_ in panels.values() for _, tokens, _ in steps_), default=0) or 1
    for ax, (i, (arm, steps_)) in zip(axes, enumerate(panels.items()), strict=False):
        style.label_rows(ax, [name for name, _, _ in steps_])
        colour, at = style.colour_of(groups, arm), 0.0
        for y, (_, tokens, items) in enumerate(steps_):
            total = y in (0, len(steps_) - 1)
            at = tokens if total else at - tokens
            left = 0 if total else at
            ax.barh(
                y,
                tokens,
                left=left,
                height=0.68,
                color=colour if total else style.PAPER,
                edgecolor=colour,
                hatch="" if total else "/////",
                linewidth=0.8,
            )
            sign = "" if total or not tokens else "−"
            text = f"{sign}{_short(tokens)} ({_short(items)})" if tokens or items else "0"
            style.beside(ax, left + tokens, y, text)
        ax.set_title(visible(arm))
        ax.set_xlim(0, 1.5 * widest)
        style.thousands(ax, 4)
        if i >= len(panels) - columns:
            ax.set_xlabel(axis)
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    return figure


def _short(value: float) -> str:
    """A label of at most four digits: decimals only where they are seen."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"
