"""The definitions that stand at the end of every report."""

from __future__ import annotations

from bench.metrics.names import METRICS
from bench.report.numbers import shown_unit
from bench.report.table import Table


def metrics_table() -> Table:
    """Every metric: unit, direction, what it is, what it is a share of."""
    rows = tuple(
        (spec.name, shown_unit(spec.unit), spec.direction, spec.definition, spec.denominator)
        for spec in METRICS.values()
    )
    return Table(
        name="metrics",
        caption="Metrics of this report.",
        head=("Metric", "Unit", "Better", "Definition", "Denominator"),
        rows=rows,
        data_head=("metric", "unit", "direction", "definition", "denominator"),
        data=tuple((s.name, s.unit, s.direction, s.definition, s.denominator) for s in METRICS.values()),
    )
