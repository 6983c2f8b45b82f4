"""A comparison as files: Markdown, one offline page, a CSV and a LaTeX file a table, figures."""

from __future__ import annotations

from collections.abc import Sequence

from bench.comparison.curves import curves
from bench.comparison.members import Member, different_settings, require_members
from bench.comparison.tables import cells_table, members_table, paired_table
from bench.report.document import Document, Paragraph, Section
from bench.report.facts import fake_engines
from bench.report.render import document_files

NAME = "comparison"


def comparison_files(
    members: Sequence[Member], *, title: str, missing: Sequence[str] = ()
) -> dict[str, bytes]:
    """Every file of a comparison: relative path -> bytes.

    Args:
        members: Complete runs; the first is what the others are paired with.
        title: What was compared.
        missing: Runs that belong to it and are not complete, in words; said at the top.

    Raises:
        RunError: Less than two runs, or one run twice.
    """
    require_members(members)
    varied = different_settings(members)
    warnings = [Paragraph(text=f"NOT COMPLETE: {line}", warning=True) for line in missing]
    fakes = sorted({name for member in members for name in fake_engines(member.view)})
    if fakes:
        text = f"FAKE ENGINE: {', '.join(fakes)} is no model. No number here says anything about one."
        warnings.append(Paragraph(text=text, warning=True))
    drawn = tuple(curves(members, varied))
    sections = [
        Section(anchor="runs", title="The runs", blocks=(*warnings, members_table(members, varied))),
        Section(anchor="cells", title="Cells", blocks=(cells_table(members),)),
        Section(anchor="paired", title="Paired differences", blocks=(paired_table(members),)),
    ]
    if drawn:
        sections.insert(1, Section(anchor="curves", title="Over the swept setting", blocks=drawn))
    return document_files(Document(title=title, sections=tuple(sections)), NAME)
