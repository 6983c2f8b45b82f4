"""One table, three files: Markdown and HTML for reading, CSV for scripts, LaTeX for papers.

Rules of this module:

* ``rows`` hold display text; ``data`` holds the same rows as plain values for the CSV, with low,
  high and n in columns of their own and twelve significant digits. Nothing is computed here.
* The leading ``groups`` columns name blocks of rows. HTML and LaTeX show them as a heading over the
  block, Markdown shows a repeated value once.
* A CSV cell of text that a spreadsheet would run as a formula gets a leading apostrophe.
* Rows end with a line feed on every platform.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from bench.report.visible import latex, markdown, visible

Value = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of the report.

    Attributes:
        name: File stem under ``tables/``.
        head: Column heads; ``right`` holds the indices of the columns with numbers.
        groups: How many leading columns name blocks of rows.
        data_head, data: What the CSV holds.
        notes: Lines under the table.
    """

    name: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    data_head: tuple[str, ...]
    data: tuple[tuple[Value, ...], ...]
    right: frozenset[int] = frozenset()
    groups: int = 0
    notes: tuple[str, ...] = ()

    def blocks(self) -> Iterator[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
        """Block names with the rows of the block, without the columns that name it."""
        for names, rows in groupby(self.rows, key=lambda row: row[: self.groups]):
            yield names, [row[self.groups :] for row in rows]

    def columns(self) -> list[tuple[str, bool]]:
        """Heads of the columns that do not name blocks, and whether each holds numbers."""
        return [(name, i in self.right) for i, name in enumerate(self.head) if i >= self.groups]


def to_csv(table: Table) -> str:
    """The table as CSV (RFC 4180 quoting, line feeds)."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.data_head)
    writer.writerows([_csv_cell(value) for value in row] for row in table.data)
    return out.getvalue()


def _csv_cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, int):
        return str(value)
    text = visible(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def to_latex(table: Table) -> str:
    """The table as a ``table`` environment (needs booktabs and graphicx); shrunk if wider than the text."""
    columns = table.columns()
    lines = [
        r"\begin{table}",
        r"  \centering\small",
        rf"  \caption{{{latex(table.caption)}}}\label{{tab:{table.name}}}",
        r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"  \begin{{tabular}}{{{''.join('r' if right else 'l' for _, right in columns)}}}",
        r"    \toprule",
        _latex_row([name for name, _ in columns]),
    ]
    for names, rows in table.blocks():
        lines.append(r"    \midrule")
        if names:
            lines.append(
                rf"    \multicolumn{{{len(columns)}}}{{l}}{{\textbf{{{latex(', '.join(names))}}}}} \\"
            )
        lines += [_latex_row(row) for row in rows]
    lines += [
        r"    \bottomrule",
        r"  \end{tabular}}",
        *(rf"  \par\footnotesize {latex(note)}" for note in table.notes),
    ]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def _latex_row(cells: Sequence[str]) -> str:
    return "    " + " & ".join(latex(cell) for cell in cells) + r" \\"


def to_markdown(table: Table) -> str:
    """The table as a GitHub pipe table, notes below."""
    rule = ["---:" if i in table.right else "---" for i in range(len(table.head))]
    lines = [_pipes([markdown(h) for h in table.head]), _pipes(rule)]
    for names, rows in table.blocks():
        for i, row in enumerate(rows):
            lead = names if i == 0 else ("",) * table.groups
            lines.append(_pipes([markdown(cell) for cell in (*lead, *row)]))
    lines += [line for note in table.notes for line in ("", markdown(note))]
    return "\n".join(lines) + "\n"


def _pipes(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
