"""From what each contender shows of each sample to means, intervals and paired differences.

Rules that this module owns: means are over all samples of the cell, excess over its sufficient ones;
intervals are 95 % percentile intervals of a bootstrap over samples, those over one set of sources drawn
together; a difference is FOVEA minus another contender at the same budget, paired by sample. FOVEA *beats*
another where the interval of the difference lies above 0, *loses* where it lies below 0, and is *not told
apart* anywhere else, nor over fewer than six sets.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import fsum

from bench.metrics.bootstrap import Interval, bootstrap_means
from bench.metrics.paired import FEWEST
from bench.studies.selectors import Cell

BEATS, LOSES, NOT_TOLD_APART = "beats", "loses", "not told apart"
OURS = "fovea"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """One contender at one budget of one task.

    Attributes:
        n: Samples.
        recall, sufficient: Mean recall and share of sufficient samples, with their intervals.
        tokens: Mean tokens spent.
        excess: Mean excess over ``n_excess`` sufficient samples, ``None`` without any.
    """

    task: str
    contender: str
    budget: str
    n: int
    recall: float
    recall_interval: Interval | None
    sufficient: float
    sufficient_interval: Interval | None
    tokens: float
    excess: float | None
    n_excess: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """FOVEA minus a baseline at one budget of one task, in recall or in sufficiency."""

    task: str
    baseline: str
    budget: str
    measure: str  # recall | sufficient
    n: int
    clusters: int
    mean: float
    interval: Interval | None

    @property
    def verdict(self) -> str:
        """``beats``, ``loses`` or ``not told apart``."""
        if self.interval is None or self.interval.flat or self.clusters < FEWEST:
            return NOT_TOLD_APART
        if self.interval.low > 0:
            return BEATS
        return LOSES if self.interval.high < 0 else NOT_TOLD_APART


def means(
    task: str, cells: Sequence[Cell], clusters: Sequence[Hashable], *, draws: int, seed: int
) -> list[Mean]:
    """The means of all cells, in their order; none where there are no samples.

    Args:
        task: The cells' task.
        cells: What each contender shows of the samples.
        clusters: Of the samples.
        draws: Number of resamples.
        seed: Of the resampling.
    """
    if not cells or not cells[0].shown:
        return []
    vectors = [[one.recall for one in cell.shown] for cell in cells]
    vectors += [[float(one.sufficient) for one in cell.shown] for cell in cells]
    intervals = bootstrap_means(vectors, draws=draws, seed=seed, clusters=[clusters] * len(vectors))
    return [_mean(task, cell, intervals[i], intervals[len(cells) + i]) for i, cell in enumerate(cells)]


def _mean(task: str, cell: Cell, recall: Interval | None, sufficient: Interval | None) -> Mean:
    n = len(cell.shown)
    excess = [one.excess for one in cell.shown if one.excess is not None]
    return Mean(
        task=task,
        contender=cell.contender,
        budget=cell.budget,
        n=n,
        recall=fsum(one.recall for one in cell.shown) / n,
        recall_interval=recall,
        sufficient=sum(one.sufficient for one in cell.shown) / n,
        sufficient_interval=sufficient,
        tokens=sum(one.tokens for one in cell.shown) / n,
        excess=sum(excess) / len(excess) if excess else None,
        n_excess=len(excess),
    )


def differences(
    task: str, cells: Sequence[Cell], clusters: Sequence[Hashable], *, draws: int, seed: int
) -> list[Difference]:
    """FOVEA minus every other contender but the upper bound, by budget; arguments as of ``means``."""
    ours = {cell.budget: cell for cell in cells if cell.contender == OURS}
    others = [cell for cell in cells if cell.contender not in (OURS, "oracle") and cell.shown]
    asked = [(cell, measure) for cell in others for measure in ("recall", "sufficient")]
    vectors = [
        [
            float(getattr(a, measure)) - float(getattr(b, measure))
            for a, b in zip(ours[cell.budget].shown, cell.shown, strict=True)
        ]
        for cell, measure in asked
    ]
    intervals = bootstrap_means(vectors, draws=draws, seed=seed, clusters=[clusters] * len(vectors))
    return [
        Difference(
            task=task,
            baseline=cell.contender,
            budget=cell.budget,
            measure=measure,
            n=len(vector),
            clusters=len(set(clusters)),
            mean=fsum(vector) / len(vector),
            interval=interval,
        )
        for (cell, measure), vector, interval in zip(asked, vectors, intervals, strict=True)
    ]
