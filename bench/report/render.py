"""All files of a report as bytes: the same input gives the same bytes, and nothing is written here."""

from __future__ import annotations

from bench.report.compose import compose
from bench.report.document import Document
from bench.report.inputs import ReportInput
from bench.report.markdown import to_report_markdown
from bench.report.page import to_html
from bench.report.table import to_csv, to_latex
from bench.report.view import RunView


def report_files(report: ReportInput) -> dict[str, bytes]:
    """Every file of the report: path relative to the run folder -> bytes, sorted by path."""
    return document_files(compose(RunView(report)), "report")


def document_files(document: Document, name: str) -> dict[str, bytes]:
    """Every file of a document: ``<name>.md``, ``<name>.html``, ``tables/``, ``figures/``, sorted by path."""
    files = {
        f"{name}.md": to_report_markdown(document).encode("utf-8"),
        f"{name}.html": to_html(document).encode("utf-8"),
    }
    for table in document.tables:
        files[f"tables/{table.name}.csv"] = to_csv(table).encode("utf-8")
        files[f"tables/{table.name}.tex"] = to_latex(table).encode("utf-8")
    for figure in document.figures:
        files[f"figures/{figure.name}.pdf"] = figure.pdf
        files[f"figures/{figure.name}.png"] = figure.png
    return dict(sorted(files.items()))
