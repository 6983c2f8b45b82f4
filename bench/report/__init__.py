"""From a run's stored rows to ``report.md``, ``report.html``, tables and figures.

``bench.report.inputs`` says what a report is made from. Importing this package loads neither numpy
nor matplotlib; rendering does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.report.inputs import ReportInput


def render_report(report: ReportInput) -> dict[str, bytes]:
    """Every file of the report of a run.

    Args:
        report: What the report is made from.

    Returns:
        Path relative to the run folder -> bytes, sorted by path: ``report.md``, ``report.html``,
        ``tables/*.csv``, ``tables/*.tex``, ``figures/*.pdf``, ``figures/*.png``.

    Raises:
        ScoringError: The rows contradict each other.
    """
    from bench.report.render import report_files

    return report_files(report)
