"""One line a series over a number, with 95 % intervals: the picture of a swept setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.metrics.bootstrap import Interval
from bench.report import figure_style as style
from bench.report import numbers
from bench.report.figure_style import Drawn
from bench.report.visible import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A value at one place of the swept number."""

    x: int
    value: float
    interval: Interval | None


Lines = Mapping[str, Sequence[Point]]


def curve(name: str, lines: Lines, *, metric: str, definition: str, key: str, stamp: str) -> Drawn | None:
    """The figure; ``None`` where no line has two points.

    Args:
        name: File stem.
        lines: Points by series, by rising x.
        metric: What the vertical axis shows: a share between 0 and 1.
        definition: Of the metric, for readers who do not see the figure.
        key: What the horizontal axis shows.
        stamp: As for ``figure_style.draw``.
    """
    if not any(len(points) > 1 for points in lines.values()):
        return None
    told = "; ".join(
        f"{series}: " + ", ".join(f"{p.x:,} {numbers.share(p.value)}" for p in points)
        for series, points in lines.items()
    )
    return style.draw(
        name,
        f"{metric} over {key}",
        f"{definition} By {key}, with 95 % bootstrap intervals. {told}",
        lambda: _paint(lines, metric, key),
        stamp=stamp,
    )


def _paint(lines: Lines, metric: str, key: str) -> Figure:
    figure, (ax,) = style.blank(2.8)
    names = tuple(lines)
    every = [p.x for points in lines.values() for p in points]
    step = (max(every) - min(every)) / 100  # beside each other, so that equal values do not hide one another
    for place, (series, points) in enumerate(lines.items()):
        colour, marker = style.colour_of(names, series), MARKERS[place % len(MARKERS)]
        xs = [p.x + step * (place - (len(names) - 1) / 2) for p in points]
        values = [p.value for p in points]
        ax.plot(xs, values, f"{marker}-", color=colour, markersize=4, label=visible(series))
        for x, p in zip(xs, points, strict=True):
            if p.interval is not None:
                ax.plot([x, x], [p.interval.low, p.interval.high], color=colour, linewidth=0.8)
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=7.5)
    ax.set_ylim(-0.02, 1.02)
    ax.set_ylabel(f"{metric} (headline)")
    ax.set_xlabel(visible(key))
    ax.grid(axis="y")
    style.thousands(ax, 8)
    return figure
