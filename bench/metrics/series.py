"""One value a sample for one cell: what intervals and paired differences are computed from.

Rules of this module:

* ``counted`` is what the headline adds up: undefined and error count 0.
* ``completed`` is what pairs are made of: an error leaves the pair out. For a metric between 0 and 1
  an undefined value counts 0, as in its headline, so that an arm gains nothing by not answering;
  for amounts (tokens, times) unknown is unknown and leaves the pair out.
* A void row, or a metric that the cell never defines, leaves no series but a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from bench.metrics.names import METRICS
from bench.records import ScoreRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Values by sample, in sample order.

    Attributes:
        label: The cell (or arm) that the values belong to.
        values: ``None`` marks an expected sample without a value.
        reason: Why there are no values at all; ``None`` where there are some.
    """

    label: str
    values: Mapping[str, float | None]
    reason: str | None = None

    @property
    def known_ids(self) -> list[str]:
        """The samples that have a value, in sample order."""
        return [sample_id for sample_id, value in self.values.items() if value is not None]

    @property
    def known(self) -> list[float]:
        """The values that exist, in sample order."""
        return [value for value in self.values.values() if value is not None]


def absent(label: str, reason: str) -> Series:
    """No values, and why."""
    return Series(label=label, values=MappingProxyType({}), reason=reason)


def counted(metric: str, cell: str, rows: Sequence[ScoreRow]) -> Series:
    """The series that the headline of ``metric`` sums: every expected sample has a number."""
    return _series(metric, cell, rows, lambda row: row.value if row.value is not None else 0.0)


def completed(metric: str, cell: str, rows: Sequence[ScoreRow]) -> Series:
    """The series that paired differences use."""
    bounded = METRICS[metric].bounded
    return _series(
        metric, cell, rows, lambda row: 0.0 if bounded and row.status == "undefined" else row.value
    )


def _series(
    metric: str, cell: str, rows: Sequence[ScoreRow], value: Callable[[ScoreRow], float | None]
) -> Series:
    if not rows:
        return absent(cell, f"no row of {metric} for {cell}")
    if any(row.status == "void" for row in rows):
        return absent(cell, f"{cell} is void")
    if all(row.status == "undefined" for row in rows):
        return absent(cell, f"undefined for {cell}")
    return Series(label=cell, values={row.sample_id: value(row) for row in rows})
