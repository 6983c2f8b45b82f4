"""One cell and one metric over all samples: headline, mean, bounds, counts.

Rules of this module:

* The denominator of the headline is every expected sample. Undefined and error rows count 0.
* The mean over ``ok`` rows stands beside it, with its own n.
* Bounds say what errors could hide: all of them 0, or all of them 1 (metrics between 0 and 1 only).
* A void row is no measurement: a cell with void rows has no headline, no mean and no bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from bench.metrics.names import METRICS
from bench.records import ScoreRow

STATUSES = ("ok", "undefined", "error", "void")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A metric over the expected samples of one cell.

    Attributes:
        n: Expected samples.
        headline: Sum of values / n; ``None`` where a row is void or nothing was expected.
        mean_ok: Mean over the ``ok`` rows, ``None`` without any.
        bounds: Headline with every error as 0 and as 1; ``None`` for unbounded metrics.
    """

    metric: str
    n: int
    ok: int
    undefined: int
    error: int
    void: int
    headline: float | None
    mean_ok: float | None
    bounds: tuple[float, float] | None


def by_cell(scores: Iterable[ScoreRow]) -> dict[tuple[str, str], list[ScoreRow]]:
    """Rows by (cell_id, metric), in the order given."""
    groups: dict[tuple[str, str], list[ScoreRow]] = {}
    for row in scores:
        groups.setdefault((row.cell_id, row.metric), []).append(row)
    return groups


def summarize(metric: str, rows: Sequence[ScoreRow]) -> Summary:
    """Summary of the rows of one (cell, metric); every expected sample has exactly one row."""
    counts = {status: sum(row.status == status for row in rows) for status in STATUSES}
    values = [row.value for row in rows if row.status == "ok" and row.value is not None]
    n, total = len(rows), fsum(values)
    usable = n > 0 and not counts["void"]
    bounds = None
    if usable and METRICS[metric].bounded:
        bounds = (total / n, (total + counts["error"]) / n)
    return Summary(
        metric=metric,
        n=n,
        headline=total / n if usable else None,
        mean_ok=total / len(values) if values and usable else None,
        bounds=bounds,
        **counts,
    )


def reasons(rows: Iterable[ScoreRow]) -> Mapping[str, int]:
    """How often each code stands on rows that are not ``ok``, most frequent first."""
    counts: dict[str, int] = {}
    for row in rows:
        if row.status != "ok":
            code = row.code or row.status
            counts[code] = counts.get(code, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
