"""Seeded bootstrap intervals that are the same on every machine.

Rules of this module:

* The unit of resampling is the cluster: samples that are no independent draws are drawn together, and a mean
  is the sum of the drawn values over their number. Without clusters every sample is one.
* Values of two arms enter as one difference a sample (paired).
* The interval is the percentile interval (2.5 %, 97.5 %, linear between order statistics).
* Raw 64-bit words of PCG64 choose the samples (numpy promises that this stream never changes).
  All vectors of one number of clusters are resampled with the same draws.
* Sums of clusters are rounded to a fixed point so small that all sums are whole numbers below 2**53.
  Such sums are exact in any order, so neither the number of threads nor the vector width of a
  machine can change a digit.
* Fewer than two clusters have no interval. Where all clusters have the same mean, the interval is that mean,
  which says that the bootstrap cannot see its uncertainty, not that there is none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_BLOCK = 1 << 21  # cells of the resampling matrix held at once
_EXACT_BITS = 52
_LARGEST_SCALE = 1000  # values below 2**-948 become 0 rather than their scale infinite


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95 % interval; ``flat`` if all clusters had the same mean, so that its width means nothing."""

    low: float
    high: float
    flat: bool


def bootstrap_means(
    vectors: Sequence[Sequence[float]],
    *,
    draws: int,
    seed: int,
    clusters: Sequence[Sequence[Hashable]] | None = None,
) -> list[Interval | None]:
    """95 % intervals of the means of ``vectors``.

    Args:
        vectors: One sequence of finite values each; lengths may differ.
        draws: Number of resamples.
        seed: Seed of the generator.
        clusters: The cluster of every value; ``None`` if all values are independent.

    Returns:
        One interval a vector, ``None`` for a vector with fewer than two clusters.

    Raises:
        ValueError: ``draws`` is not positive, a value is not finite, or a vector and its clusters differ in
            length.
    """
    if draws < 1:
        raise ValueError(f"bootstrap: expected at least 1 draw, found {draws}")
    if not all(map(math.isfinite, itertools.chain.from_iterable(vectors))):
        raise ValueError("bootstrap: expected finite values, found NaN or infinity")
    named: Sequence[Sequence[Hashable]] = (
        [range(len(vector)) for vector in vectors] if clusters is None else clusters
    )
    tables = [_by_cluster(vector, names) for vector, names in zip(vectors, named, strict=True)]
    results: list[Interval | None] = [None] * len(tables)
    for count in sorted({len(table) for table in tables if len(table) > 1}):
        places = [i for i, table in enumerate(tables) if len(table) == count]
        both = np.stack([tables[i] for i in places], axis=2)
        means = _resampled_means(both[:, 0], both[:, 1], draws, seed)
        lows, highs = np.percentile(means, (2.5, 97.5), axis=0, method="linear")
        for column, place in enumerate(places):
            each = tables[place][:, 0] / tables[place][:, 1]
            flat = bool((each == each[0]).all())
            low, high = (each[0], each[0]) if flat else (lows[column], highs[column])
            results[place] = Interval(low=float(low), high=float(high), flat=flat)
    return results


def _by_cluster(values: Sequence[float], names: Sequence[Hashable]) -> Floats:
    """Sum and number of the values of every cluster, in the order of their first values: (clusters, 2)."""
    found: dict[Hashable, list[float]] = {}
    for value, name in zip(values, names, strict=True):
        found.setdefault(name, []).append(value)
    sums = [(math.fsum(each), float(len(each))) for each in found.values()]
    return np.asarray(sums, dtype=np.float64).reshape(len(sums), 2)


def resamples(n: int, draws: int, seed: int) -> Iterator[Floats]:
    """Blocks of resamples of ``n`` things: how often each of them is drawn, (resamples, n)."""
    generator = np.random.PCG64(seed)
    rows = max(1, _BLOCK // n)
    for start in range(0, draws, rows):
        height = min(rows, draws - start)
        words = generator.random_raw(height * n) >> np.uint64(32)
        chosen = ((words * np.uint64(n)) >> np.uint64(32)).astype(np.int64)
        cells = chosen + np.repeat(np.arange(height, dtype=np.int64) * n, n)
        yield np.bincount(cells, minlength=height * n).reshape(height, n).astype(np.float64)


def _resampled_means(sums: Floats, sizes: Floats, draws: int, seed: int) -> Floats:
    """Means of every column under ``draws`` resamples of its clusters: (draws, columns)."""
    fixed, scale = _fixed_point(sums)
    means = [(counts @ fixed) / (scale * (counts @ sizes)) for counts in resamples(len(sums), draws, seed)]
    return np.concatenate(means)


def _fixed_point(columns: Floats) -> tuple[Floats, Floats]:
    """Whole-number columns and the power of two that each was multiplied by."""
    largest = np.abs(columns).max(axis=0) * len(columns)
    _, exponents = np.frexp(largest)  # largest < 2**exponent
    scale = np.ldexp(1.0, np.minimum(_EXACT_BITS - exponents, _LARGEST_SCALE))
    return np.rint(columns * scale), scale
