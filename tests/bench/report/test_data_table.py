"""The table of the data: rows by what became of them, refusals by code, gold by class of repair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from data_facts import FACTS, REFUSED

from bench.report import render_report
from bench.report.inputs import ReportInput
from bench.report.table import to_csv
from bench.report.tables_data import data_table
from bench.report.view import RunView


def view_of(report: ReportInput, facts: Mapping[str, object]) -> RunView:
    manifest = {**report.manifest, "dataset": {**report.manifest["dataset"], **facts}}  # type: ignore[dict-item]
    return RunView(replace(report, manifest=manifest, refused=REFUSED))


def test_the_report_has_the_table_by_class_and_code(report: ReportInput) -> None:
    table = data_table(view_of(report, FACTS))
    assert table is not None
    assert to_csv(table).splitlines() == [
        "of,class,n,first",
        "Rows,read,12,",
        "Rows,evaluated,4,",
        "Rows,reserved,2,",
        "Rows,refused,3,",
        "Rows,beyond the limit,3,",
        "Refused rows,json.syntax,1,line 7",
        "Refused rows,text.control,2,line 3/question",
        "Gold places,exact,7,",
        "Gold places,repaired: caseless,2,",
        "Gold places,left out,1,",
    ]
    files = render_report(view_of(report, FACTS).input)
    assert "Rows of the data set by what became of them" in files["report.md"].decode()
    assert files["tables/data.csv"].decode() == to_csv(table)


def test_a_run_that_does_not_say_has_no_table(report: ReportInput) -> None:
    assert data_table(RunView(report)) is None
