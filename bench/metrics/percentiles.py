"""Latency percentiles, always with their n.

Method: linear interpolation between order statistics (numpy's ``linear``), so that p50 of an even
number of values is the mean of the two in the middle. A p90 of few values rests on the largest one
or two: it is shown with n, never without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

METHOD = "linear interpolation between order statistics"


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles:
    """p50, p90 and the range of ``n`` observed values."""

    n: int
    p50: float
    p90: float
    low: float
    high: float


def percentiles(values: Sequence[float]) -> Percentiles | None:
    """p50, p90 and the range of ``values``, or ``None`` without any."""
    if not values:
        return None
    ordered = sorted(values)
    return Percentiles(
        n=len(ordered), p50=_at(ordered, 50), p90=_at(ordered, 90), low=ordered[0], high=ordered[-1]
    )


def _at(ordered: Sequence[float], percent: int) -> float:
    place, rest = divmod(percent * (len(ordered) - 1), 100)
    if rest == 0:
        return ordered[place]
    return ordered[place] + (ordered[place + 1] - ordered[place]) * rest / 100
