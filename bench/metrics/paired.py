"""Differences between two series on the same samples, with bootstrap intervals.

Only samples with a value on both sides are pairs: arms with different errors compare on what both
completed. How many expected pairs were left out stands beside every difference. Pairs of one cluster are
resampled together (``bench.metrics.clusters``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from bench.metrics.bootstrap import Interval, bootstrap_means
from bench.metrics.clusters import Clusters, labels
from bench.metrics.series import Series

NO_PAIRS = "no sample completed on both sides"
FEWEST = 6  # independent pairs: 2 * 0.5**5 is above 0.05: five signs that agree are no evidence yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """``label`` minus ``baseline``.

    Attributes:
        n: Pairs compared.
        clusters: How many of them are independent draws.
        left_out: Samples that both expect and that lack a value on either side.
        mean: Mean difference, ``None`` without pairs.
        means: Means of both sides over the same pairs.
        higher, equal, lower: In how many pairs the value is higher than, equal to, lower than the baseline's.
        reason: Why there is no difference, ``None`` where there is one.
    """

    label: str
    baseline: str
    n: int
    clusters: int
    left_out: int
    mean: float | None
    means: tuple[float, float] | None
    interval: Interval | None
    higher: int
    equal: int
    lower: int
    reason: str | None


def differences(
    pairs: Sequence[tuple[Series, Series]], *, draws: int, seed: int, clusters: Clusters
) -> list[Difference]:
    """The difference of each (series, baseline), in the order given.

    Args:
        pairs: What to compare.
        draws: Number of bootstrap resamples.
        seed: Seed of the resampling.
        clusters: Of the samples.
    """
    columns = [_pair(left, right) for left, right in pairs]
    named = [labels(list(kept), clusters) for kept, _ in columns]
    diffs = [[a - b for a, b in kept.values()] for kept, _ in columns]
    intervals = bootstrap_means(diffs, draws=draws, seed=seed, clusters=named)
    return [
        _difference(left, right, [*kept.values()], len(set(names)), left_out, interval)
        for (left, right), (kept, left_out), names, interval in zip(
            pairs, columns, named, intervals, strict=True
        )
    ]


def _pair(left: Series, right: Series) -> tuple[dict[str, tuple[float, float]], int]:
    """Both values of every sample that has them, and how many have not."""
    kept, left_out = {}, 0
    for sample, value in left.values.items():
        if sample not in right.values:
            continue  # a sample that only one side expects is no pair
        other = right.values[sample]
        if value is None or other is None:
            left_out += 1
        else:
            kept[sample] = (value, other)
    return kept, left_out


def _difference(
    left: Series,
    right: Series,
    kept: Sequence[tuple[float, float]],
    clusters: int,
    left_out: int,
    interval: Interval | None,
) -> Difference:
    n, reason = len(kept), None
    if not kept:
        reason = left.reason or right.reason or NO_PAIRS
    diffs = [a - b for a, b in kept]
    return Difference(
        label=left.label,
        baseline=right.label,
        n=n,
        clusters=clusters,
        left_out=left_out,
        mean=fsum(diffs) / n if kept else None,
        means=(fsum(a for a, _ in kept) / n, fsum(b for _, b in kept) / n) if kept else None,
        interval=interval,
        higher=sum(d > 0 for d in diffs),
        equal=sum(d == 0 for d in diffs),
        lower=sum(d < 0 for d in diffs),
        reason=reason,
    )
