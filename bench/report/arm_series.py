"""Series of arms that differ in one whole number alone, and their curves.

Rules of this module:

* Two arms are of one series if every setting but one is equal; the settings decide, never the names.
* A series is named by what its arms' names share. One setting is drawn: the one with the most arms.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.config import flat, spec_value
from bench.metrics.names import METRICS
from bench.report.curve_figure import Point, curve
from bench.report.facts import fake_engines
from bench.report.figure_style import Drawn
from bench.report.tables_quality import headline_intervals
from bench.report.view import RunView
from bench.specs import ArmSpec

SHARES = ("exact_citation", "gold_recall_budget")
SMALLEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Arms by rising value of one setting."""

    name: str
    key: str
    arms: tuple[tuple[int, ArmSpec], ...]


def arm_series(arms: Sequence[ArmSpec]) -> list[Series]:
    """The series of the setting that has most arms in series of at least three; none without one."""
    settings = {arm.arm_id: _settings(arm) for arm in arms}
    found: dict[str, list[Series]] = {}
    for key in sorted({key for values in settings.values() for key, v in values.items() if type(v) is int}):
        groups: dict[tuple[tuple[str, object], ...], list[tuple[int, ArmSpec]]] = {}
        for arm in arms:
            values = dict(settings[arm.arm_id])
            x = values.pop(key, None)
            if type(x) is int:
                groups.setdefault(tuple((k, repr(v)) for k, v in values.items()), []).append((x, arm))
        found[key] = [
            Series(name=_name([a for _, a in group]), key=key, arms=tuple(sorted(group, key=lambda g: g[0])))
            for group in groups.values()
            if len({x for x, _ in group}) >= SMALLEST
        ]
    if not any(found.values()):
        return []
    return max(found.values(), key=lambda series: sum(len(one.arms) for one in series))


def series_curves(view: RunView) -> list[Drawn]:
    """A figure a metric, in the reference state; none without a series."""
    series = arm_series(view.arms)
    stamp = "FAKE ENGINE: no model was measured" if fake_engines(view) else ""
    drawn = [
        curve(
            f"curve_{metric}",
            _lines(view, series, metric),
            metric=metric,
            definition=METRICS[metric].definition,
            key=series[0].key,
            stamp=stamp,
        )
        for metric in SHARES
        if series
    ]
    return [figure for figure in drawn if figure is not None]


def _lines(view: RunView, series: Sequence[Series], metric: str) -> Mapping[str, list[Point]]:
    lines: dict[str, list[Point]] = {}
    for one in series:
        cells = [(x, cell) for x, arm in one.arms if (cell := view.reference_cell(arm)) is not None]
        limits = headline_intervals(view, [cell for _, cell in cells], metric)
        for (x, cell), interval in zip(cells, limits, strict=True):
            headline = view.summary(cell.cell_id, metric).headline
            if headline is not None:
                lines.setdefault(one.name, []).append(Point(x=x, value=headline, interval=interval))
    return lines


def _settings(arm: ArmSpec) -> dict[str, object]:
    return {key: value for key, value in flat(spec_value(arm)) if key != "arm_id"}


def _name(arms: Sequence[ArmSpec]) -> str:
    names = [arm.arm_id for arm in arms]
    same = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in same).rstrip("0123456789_-") or names[0]
