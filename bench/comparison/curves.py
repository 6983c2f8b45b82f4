"""What a swept number does: one line a cell, over the values of the one setting that differs."""

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
    return curve(
        f"curve_{metric}",
        lines(members, metric, values),
        metric=metric,
        definition=METRICS[metric].definition,
        key=key,
        stamp="FAKE ENGINE: no model was measured" if any(fake_engines(m.view) for m in members) else "",
    )
