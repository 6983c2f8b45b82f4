"""What a swept number does: one line an arm, over the values of the one setting that differs.

Seeds and experiments may differ beside it: their runs never share a line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.comparison.members import Member
from bench.metrics.names import METRICS
from bench.report.curve_figure import Point, curve
from bench.report.facts import fake_engines
from bench.report.figure_style import Drawn
from bench.report.tables_quality import headline_intervals

DRAWN = ("exact_citation", "gold_recall_budget")
RUN_WIDE = ("experiment", "seed")


def swept_number(varied: Mapping[str, tuple[object, ...]]) -> tuple[str, tuple[int, ...]] | None:
    """The one whole number that differs between the runs; ``None`` if more differs, or no number does.

    Settings of several arms that move together (one budget for all arms) count as one.
    """
    columns = [values for key, values in varied.items() if key not in RUN_WIDE]  # may hold lists
    if not columns or any(column != columns[0] for column in columns):
        return None
    values = columns[0]
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
    apart = line_names(varied, len(members))
    return [figure for metric in DRAWN if (figure := _curve(members, metric, key, values, apart)) is not None]


def line_names(varied: Mapping[str, tuple[object, ...]], n: int) -> list[str]:
    """What the name of every run's lines ends with: runs of other seeds are lines of their own."""
    wide = [key for key in RUN_WIDE if key in varied]
    return ["".join(f", {key} {varied[key][place]}" for key in wide) for place in range(n)]


def lines(
    members: Sequence[Member], metric: str, values: Sequence[int], apart: Sequence[str]
) -> dict[str, list[Point]]:
    """Points by arm and what sets runs apart, in the reference state of each run, by rising x."""
    found: dict[str, list[Point]] = {}
    for member, x, suffix in zip(members, values, apart, strict=True):
        view = member.view
        cells = [cell for arm in view.arms if (cell := view.reference_cell(arm)) is not None]
        limits = headline_intervals(view, cells, metric)
        for cell, interval in zip(cells, limits, strict=True):
            headline = view.summary(cell.cell_id, metric).headline
            if headline is not None:
                point = Point(x=x, value=headline, interval=interval)
                found.setdefault(cell.arm.arm_id + suffix, []).append(point)
    return {arm: sorted(points, key=lambda p: p.x) for arm, points in found.items()}


def _curve(
    members: Sequence[Member], metric: str, key: str, values: Sequence[int], apart: Sequence[str]
) -> Drawn | None:
    return curve(
        f"curve_{metric}",
        lines(members, metric, values, apart),
        metric=metric,
        definition=METRICS[metric].definition,
        key=key,
        stamp="FAKE ENGINE: no model was measured" if any(fake_engines(m.view) for m in members) else "",
    )
