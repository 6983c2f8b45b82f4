"""What a swept number does: one line a cell, over the values of the one setting that differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.comparison.members import Member
from bench.metrics.bootstrap import Interval
from bench.metrics.names import METRICS
from bench.report import figure_style as style
from bench.report import numbers
from bench.report.figure_style import Drawn
from bench.report.tables_quality import headline_intervals
from bench.report.visible import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWN = ("exact_citation", "gold_recall_budget")
RUN_WIDE = ("experiment", "seed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The value of one cell in one run."""

    x: int
    value: float
    interval: Interval | None


def swept_number(varied: Mapping[str, tuple[object, ...]]) -> tuple[str, tuple[int, ...]] | None:
    """The one whole number that differs between the runs; ``None`` if more differs, or no number does.

    Settings of several arms that move together (one budget for all arms) count as one.
    """
    columns = {values for key, values in varied.items() if key not in RUN_WIDE}
    if len(columns) != 1:
        return None
    values = next(iter(columns))
    numbers_ = tuple(value for value in values if isinstance(value, int) and not isinstance(value, bool))
    if len(numbers_) != len(values) or len(set(numbers_)) < 2:
        return None
    keys = [key for key, found in varied.items() if found == values]
    return keys[0].rsplit(".", 1)[-1] if len(keys) > 1 else keys[0], numbers_


def curves(members: Sequence[Member], varied: Mapping[str, tuple[object, ...]]) -> list[Drawn]:
    """One figure a metric; none where the runs do not sweep one number."""
    swept = swept_number(varied)
    if swept is None:
        return []
    key, values = swept
    return [figure for metric in DRAWN if (figure := _curve(members, metric, key, values)) is not None]


def lines(members: Sequence[Member], metric: str, values: Sequence[int]) -> dict[str, list[Point]]:
    """Points by arm, in the reference state of each run, by rising x."""
    found: dict[str, list[Point]] = {}
    for member, x in zip(members, values, strict=True):
        view = member.view
        cells = [cell for arm in view.arms if (cell := view.reference_cell(arm)) is not None]
        limits = headline_intervals(view, cells, metric)
        for cell, interval in zip(cells, limits, strict=True):
            headline = view.summary(cell.cell_id, metric).headline
            if headline is not None:
                point = Point(x=x, value=headline, interval=interval)
                found.setdefault(cell.arm.arm_id, []).append(point)
    return {arm: sorted(points, key=lambda p: p.x) for arm, points in found.items()}


def _curve(members: Sequence[Member], metric: str, key: str, values: Sequence[int]) -> Drawn | None:
    found = lines(members, metric, values)
    if not any(len(points) > 1 for points in found.values()):
        return None
    told = "; ".join(
        f"{arm}: " + ", ".join(f"{p.x:,} {numbers.share(p.value)}" for p in points)
        for arm, points in found.items()
    )
    return style.draw(
        f"curve_{metric}",
        f"{metric} over {key}",
        f"{METRICS[metric].definition} By {key}, with 95 % bootstrap intervals. {told}",
        lambda: _paint(found, metric, key),
        stamp="",
    )


def _paint(found: Mapping[str, Sequence[Point]], metric: str, key: str) -> Figure:
    figure, (ax,) = style.blank(2.8)
    arms = tuple(found)
    for place, (arm, points) in enumerate(found.items()):
        colour = style.colour_of(arms, arm)
        marker = ("o", "s", "D", "^", "v", "P", "X", "*")[place % 8]
        ax.plot([p.x for p in points], [p.value for p in points], f"{marker}-", color=colour, markersize=4)
        for p in points:
            if p.interval is not None:
                ax.plot([p.x, p.x], [p.interval.low, p.interval.high], color=colour, linewidth=0.8)
        style.beside(ax, points[-1].x, points[-1].value, visible(arm))
    ax.set_ylim(-0.02, 1.02)
    ax.set_ylabel(f"{metric} (headline)")
    ax.set_xlabel(visible(key))
    ax.grid(axis="y")
    style.thousands(ax, 8)
    return figure
