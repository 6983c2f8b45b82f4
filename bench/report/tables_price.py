"""What arms cost: per answered sample and per exact citation, in the currency of the config's price table.

This is where money is rounded, once: sums are exact fractions of micro-units until here. Intervals are of the
costs in whole thousandths of a micro-unit, so that their sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction

import numpy as np

from bench.cost.ledger import cell_costs
from bench.metrics.bootstrap import Interval, resamples
from bench.metrics.clusters import labels
from bench.report import numbers
from bench.report.facts import replayed_runs
from bench.report.table import Table, Value
from bench.report.view import CellView, RunView

_FINE = 1000  # thousandths of a micro-unit


def price_table(view: RunView) -> Table | None:
    """A row a cell; ``None`` for a run without prices."""
    prices = view.input.spec.prices
    if not prices.providers:
        return None
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    for cell in view.cells:
        costs = {s: cost for s, cost in cell_costs(view, cell).items() if cost is not None}
        answered = view.answers(cell.cell_id)
        exact = [_exact(view, cell, sample_id) for sample_id in costs]
        totals = [cost.total for cost in costs.values()]
        each, per_exact = _mean(totals), _ratio(sum(totals, Fraction(0)), sum(exact))
        names = labels(list(costs), view.clusters)
        shown = tuple(_interval(view, totals, counts, names) for counts in ([1] * len(totals), exact))
        parts = [_mean([getattr(cost, part) for cost in costs.values()]) for part in _PARTS]
        rows.append(
            (
                cell.arm.arm_id,
                cell.state,
                numbers.count_of(len(costs), answered.n),
                numbers.with_interval(_shown(each), "tokens", shown[0]),
                *(_shown(part) for part in parts),
                f"{sum(exact):,}",
                numbers.with_interval(_shown(per_exact), "tokens", shown[1]),
            )
        )
        data.append(
            (
                *(cell.cell_id, answered.n, len(costs), _value(each), *_limits(shown[0])),
                *(_value(part) for part in parts),
                *(sum(exact), _value(per_exact), *_limits(shown[1])),
            )
        )
    return Table(
        name="cost",
        caption=f"Cost in micro-{prices.currency} (millionths): means a priced answer, and a citation.",
        head=(
            *("Arm", "Cache", "priced", "an answered sample [95 %]"),
            *("of it tokens", "of it engine", "of it compressor"),
            *("exact citations", "an exact citation [95 %]"),
        ),
        rows=tuple(rows),
        data_head=(
            *("cell_id", "n", "n_priced", "per_answer", "low", "high"),
            *("tokens", "engine", "compressor"),
            *("exact", "per_exact", "per_exact_low", "per_exact_high"),
        ),
        data=tuple(data),
        right=frozenset(range(2, 9)),
        groups=1,
        notes=(
            f"Prices of {prices.as_of}, from: {prices.source}. Priced: answered samples whose tokens of "
            "every billed class are known. Engine time is what the cell's waves took, shared equally by its "
            "requests; compressor time is priced as engine time of this machine. An interval is missing "
            "where a resample holds no exact citation."
            + (
                " Answers were replayed and nothing was timed: what an engine bills by the hour is unknown, "
                "and so is the cost of what it answered."
                if replayed_runs(view)
                else ""
            ),
        ),
    )


_PARTS = ("tokens", "engine", "compressor")


def _exact(view: RunView, cell: CellView, sample_id: str) -> int:
    return sum(quote.exact for quote in view.judged(sample_id, cell) or ())


def _mean(values: Sequence[Fraction]) -> Fraction | None:
    return _ratio(sum(values, Fraction(0)), len(values))


def _ratio(total: Fraction, count: int) -> Fraction | None:
    return total / count if count else None


def _interval(
    view: RunView, costs: Sequence[Fraction], counts: Sequence[int], clusters: Sequence[Hashable]
) -> Interval | None:
    """95 % interval of a ratio of sums; ``None`` where a resample has nothing to divide by."""
    sums: dict[Hashable, tuple[int, int]] = {}
    for cost, count, name in zip(costs, counts, clusters, strict=True):
        above, divided = sums.get(name, (0, 0))
        sums[name] = (above + round(cost * _FINE), divided + count)
    if len(sums) < 2:
        return None
    spec = view.input.spec
    fine, below = np.asarray([*sums.values()], dtype=np.float64).T
    drawn = list(resamples(len(sums), spec.bootstrap, spec.seed))
    bottoms = np.concatenate([block @ below for block in drawn])
    if not bottoms.all():
        return None
    ratios = np.concatenate([block @ fine for block in drawn]) / bottoms / _FINE
    low, high = np.percentile(ratios, (2.5, 97.5), method="linear")
    flat = len(set(costs)) == 1 and len(set(counts)) == 1
    return Interval(low=float(low), high=float(high), flat=flat)


def _shown(value: Fraction | None) -> str:
    return numbers.amount(None if value is None else float(value))


def _value(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _limits(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)
