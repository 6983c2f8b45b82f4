"""Shares and areas with intervals, resampled by cluster.

Rules that this module owns:

* What is resampled is the cluster (a sample of the task), never the pair: pairs of one sample are not
  independent.
* A share is the ratio of two sums. A resample in which the denominator is 0 says nothing and is left out.
* AUROC is the chance that a positive scores above a negative, ties half; without both there is none.
* No interval where all resamples agree, or for fewer than two clusters: the bootstrap sees no uncertainty
  there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.metrics.bootstrap import Floats, Interval, resamples


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share or area.

    Attributes:
        value: ``None`` where it is undefined.
        n: What it is a share of.
        interval: 95 %, or ``None``.
    """

    value: float | None
    n: int
    interval: Interval | None


def ratio(counts: Sequence[tuple[int, int]], *, draws: int, seed: int) -> Rate:
    """The sum of the first numbers over the sum of the second, one pair of numbers a cluster."""
    table = np.asarray(counts, dtype=np.float64).reshape(len(counts), 2)
    part, whole = (int(one) for one in table.sum(axis=0))
    if not whole:
        return Rate(value=None, n=0, interval=None)
    found: list[Floats] = []
    for drawn in resamples(len(table), draws, seed):
        sums = drawn @ table  # whole numbers far below 2**53: exact in any order
        usable = sums[:, 1] > 0
        found.append(sums[usable, 0] / sums[usable, 1])
    return Rate(value=part / whole, n=whole, interval=_interval(np.concatenate(found), len(table)))


def auroc(scores: Sequence[int], labels: Sequence[bool], *, draws: int, seed: int) -> Rate:
    """The area under the ROC curve of integer scores, one score and label a cluster."""
    values, truth = np.asarray(scores, dtype=np.int64), np.asarray(labels, dtype=bool)
    above = values[truth][:, None], values[~truth][None, :]
    wins = 2.0 * (above[0] > above[1]) + (above[0] == above[1])  # halves as whole numbers
    if not wins.size:
        return Rate(value=None, n=len(values), interval=None)
    found: list[Floats] = []
    for drawn in resamples(len(values), draws, seed):
        positive, negative = drawn[:, truth], drawn[:, ~truth]
        pairs = positive.sum(axis=1) * negative.sum(axis=1)
        usable = pairs > 0
        won = ((positive @ wins) * negative).sum(axis=1)
        found.append(won[usable] / (2.0 * pairs[usable]))
    return Rate(
        value=float(wins.mean() / 2.0),
        n=len(values),
        interval=_interval(np.concatenate(found), len(values)),
    )


def _interval(values: Floats, clusters: int) -> Interval | None:
    if clusters < 2 or not len(values) or (values == values[0]).all():
        return None
    low, high = np.percentile(values, (2.5, 97.5), method="linear")
    return Interval(low=float(low), high=float(high), flat=False)
