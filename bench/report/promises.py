"""The table of promises: a number with n and interval against both naive arms, or why there is none."""

from __future__ import annotations

from math import fsum

from bench.metrics.bootstrap import Interval
from bench.metrics.paired import NO_PAIRS, Difference
from bench.metrics.series import Series, absent
from bench.report import numbers
from bench.report.measures import Measure
from bench.report.promise_list import promised
from bench.report.table import Table, Value
from bench.report.view import RunView, named
from bench.specs import ArmSpec

NOT_MEASURED = "not measured in this run"
_SIGNS = {"higher": "higher is better", "lower": "lower is better"}


def promise_table(view: RunView) -> Table:
    """One row an arm for every measured side of a promise; the naive arms' own values stand first."""
    measures = promised(view)
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    for measure in measures:
        if measure.reason is not None:
            rows.append((measure.promise, measure.name, NOT_MEASURED, "", measure.reason, *_blank(view)))
            data.append((measure.promise, measure.name, "", "", None, None, None, None, measure.reason))
            continue
        for arm, value, diffs in _measured(view, measure):
            rows.append(_shown(measure, arm, value, diffs))
            data.extend(_data(measure, arm, value, diffs))
    return Table(
        name="promises",
        caption=f"Promises, measured in the cache state {view.reference_state} unless a row says otherwise.",
        head=(
            "Promise",
            "Measure",
            "Arm",
            "n",
            "Value [95 %]",
            *(f"against {b.arm_id} [95 %]" for b in view.baselines),
        ),
        rows=tuple(rows),
        data_head=("promise", "measure", "arm", "baseline", "n", "value", "low", "high", "reason"),
        data=tuple(data),
        right=frozenset({3}),
        groups=2,
        notes=tuple(f"{m.name}: {m.note}" for m in measures if m.note and m.reason is None),
    )


def _blank(view: RunView) -> list[str]:
    return [""] * len(view.baselines)


class _Estimate:
    """Mean, n and interval of one series."""

    def __init__(self, series: Series, interval: Interval | None) -> None:
        known = series.known
        self.n = len(known)
        self.mean = fsum(known) / len(known) if known else None
        self.interval = interval
        self.reason = series.reason


Row = tuple[ArmSpec, _Estimate, list[Difference | None]]


def _measured(view: RunView, measure: Measure) -> list[Row]:
    """Baselines first, then the others; each with its differences (``None`` against itself)."""
    arms = [*view.baselines, *view.treatments]
    missing = absent("", "not measured for this arm")
    values = [measure.values.get(arm.arm_id, missing) for arm in arms]
    intervals = view.intervals(values)
    wanted = [(arm, baseline) for arm in arms for baseline in view.baselines if arm is not baseline]
    pairs = [(measure.pairs.get(a.arm_id, missing), measure.pairs.get(b.arm_id, missing)) for a, b in wanted]
    found = dict(
        zip(
            [(a.arm_id, b.arm_id) for a, b in wanted],
            view.differences(pairs),
            strict=True,
        )
    )
    return [
        (arm, _Estimate(s, i), [found.get((arm.arm_id, b.arm_id)) for b in view.baselines])
        for arm, s, i in zip(arms, values, intervals, strict=True)
    ]


def _shown(
    measure: Measure, arm: ArmSpec, value: _Estimate, diffs: list[Difference | None]
) -> tuple[str, ...]:
    unit = measure.unit
    if value.mean is None:
        text = value.reason or "no value"
    elif arm.arm_id in measure.shown:
        text = measure.shown[arm.arm_id]
    else:
        text = numbers.with_interval(numbers.in_unit(unit, value.mean), unit, value.interval)
    name = f"{measure.name} ({numbers.shown_unit(unit)}; {_SIGNS[measure.direction]})"
    cells = [_difference(measure, diff) for diff in diffs]
    return (measure.promise, name, named(arm), f"{value.n:,}" if value.n else "", text, *cells)


def _difference(measure: Measure, diff: Difference | None) -> str:
    if diff is None:
        return ""
    if diff.mean is None:
        return measure.no_pairs if diff.reason == NO_PAIRS else diff.reason or ""
    text = numbers.with_interval(numbers.difference(measure.unit, diff.mean), measure.unit, diff.interval)
    return f"{text}, n={diff.n:,}" if diff.left_out else text


def _data(
    measure: Measure, arm: ArmSpec, value: _Estimate, diffs: list[Difference | None]
) -> list[tuple[Value, ...]]:
    low, high = _limits(value.interval)
    head = (measure.promise, measure.name, arm.arm_id)
    rows: list[tuple[Value, ...]] = [(*head, "", value.n, value.mean, low, high, value.reason)]
    for diff in diffs:
        if diff is not None:
            low, high = _limits(diff.interval)
            rows.append((*head, diff.baseline, diff.n, diff.mean, low, high, diff.reason))
    return rows


def _limits(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)
