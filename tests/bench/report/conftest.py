"""The fixture run (``fixture/report_fixture``) and its report, made once for all tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.report import render_report
from bench.report.inputs import ReportInput

sys.path.insert(0, str(Path(__file__).with_name("fixture")))


@pytest.fixture(scope="session")
def report() -> ReportInput:
    from report_fixture.run import make_report

    return make_report()


@pytest.fixture(scope="session")
def files(report: ReportInput) -> dict[str, bytes]:
    return render_report(report)
