"""``python -m capsules citations``: one answer in, its sentences and what they cite out."""

from __future__ import annotations

from typing import Any

from capsules.citation import CitationReport, parse_citations
from capsules.cli_fields import Kinds, check_minimum, checked_fields

_REQUIRED: Kinds = {"answer": (str,), "sources": (int,)}
_OPTIONAL: Kinds = {"base": (int,), "lang": (str, type(None))}


def citations_line(obj: object) -> dict[str, Any]:
    """The citations of one input object, as the output object.

    Raises:
        SchemaError: Not an object; or a field is missing, unknown, of the wrong type or out of range.
    """
    fields = checked_fields(obj, _REQUIRED, _OPTIONAL)
    for name in ("sources", "base"):
        check_minimum(fields.get(name), name, 0)
    report = parse_citations(fields["answer"], fields["sources"], fields.get("base", 1), fields.get("lang"))
    return to_output(report)


def to_output(report: CitationReport) -> dict[str, Any]:
    """A citation report as a JSON object."""
    return {
        "sentences": [
            {
                "text": sentence.text,
                "start": sentence.start,
                "end": sentence.end,
                "cited": list(sentence.cited),
                "unknown": list(sentence.unknown),
            }
            for sentence in report.sentences
        ],
        "marks": report.marks,
        "malformed": [{"text": mark.text, "start": mark.start} for mark in report.malformed],
    }
