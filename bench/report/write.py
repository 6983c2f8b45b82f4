"""Writes the files of a report into a run folder.

Rules of this module:

* Every file is written whole or not at all, and the same input gives the same bytes.
* ``tables/`` and ``figures/`` hold what this report wrote and nothing else: files of an earlier
  version of it are removed.
"""

from __future__ import annotations

from pathlib import Path

from bench.report.compose import compose
from bench.report.inputs import ReportInput
from bench.report.markdown import to_report_markdown
from bench.report.page import to_html
from bench.report.table import to_csv, to_latex
from bench.report.view import RunView
from bench.run_store import write_atomic

FOLDERS = ("figures", "tables")


def report_files(report: ReportInput) -> dict[str, bytes]:
    """Every file of the report: path relative to the run folder -> bytes, sorted by path."""
    document = compose(RunView(report))
    files = {
        "report.md": to_report_markdown(document).encode("utf-8"),
        "report.html": to_html(document).encode("utf-8"),
    }
    for table in document.tables:
        files[f"tables/{table.name}.csv"] = to_csv(table).encode("utf-8")
        files[f"tables/{table.name}.tex"] = to_latex(table).encode("utf-8")
    for figure in document.figures:
        files[f"figures/{figure.name}.pdf"] = figure.pdf
        files[f"figures/{figure.name}.png"] = figure.png
    return dict(sorted(files.items()))


def write_report(run_dir: Path, report: ReportInput) -> tuple[str, ...]:
    """Write the report of a run.

    Args:
        run_dir: The run folder; it exists.
        report: What the report is made from.

    Returns:
        The paths written, relative to ``run_dir``, sorted.

    Raises:
        OSError: A file cannot be written.
    """
    files = report_files(report)
    for folder in FOLDERS:
        (run_dir / folder).mkdir(exist_ok=True)
        for path in (run_dir / folder).iterdir():
            if path.is_file() and f"{folder}/{path.name}" not in files:
                path.unlink()
    for name, data in files.items():
        write_atomic(run_dir / name, data)
    return tuple(files)
