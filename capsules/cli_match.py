"""``python -m capsules match``: one quote and its source in, a verdict out.

Optional output fields (``pieces``, ``widened``, ``distance``, ``diff``) are there only where the verdict
has them. A source that repeats from line to line is indexed once (the last one is kept).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from capsules.cli_fields import Kinds, check_minimum, checked_fields
from capsules.quote_match import match_quote
from capsules.quote_verdict import QuoteVerdict
from capsules.source_index import SourceIndex

_REQUIRED: Kinds = {"source": (str,), "quote": (str,)}
_OPTIONAL: Kinds = {
    "normalization": (str,),
    "start": (int, type(None)),
    "end": (int, type(None)),
    "prefix": (str, type(None)),
    "suffix": (str, type(None)),
    "min_chars": (int,),
    "near": (bool,),
}


def match_line(obj: object) -> dict[str, Any]:
    """The verdict on one input object, as the output object.

    Raises:
        SchemaError: Not an object; or a field is missing, unknown, of the wrong type or out of range.
    """
    fields = checked_fields(obj, _REQUIRED, _OPTIONAL)
    for name in ("start", "end", "min_chars"):
        check_minimum(fields.get(name), name, 0)
    options = {name: fields[name] for name in _OPTIONAL if name in fields}
    return to_output(match_quote(_indexed(fields["source"]), fields["quote"], **options))


@lru_cache(maxsize=1)
def _indexed(source: str) -> SourceIndex:
    return SourceIndex(source)


def to_output(verdict: QuoteVerdict) -> dict[str, Any]:
    """A verdict as a JSON object."""
    output: dict[str, Any] = {
        "match": verdict.match,
        "place": verdict.place,
        "normalization": verdict.normalization,
        "start": verdict.start,
        "end": verdict.end,
        "text": verdict.text,
        "occurrences": [list(found) for found in verdict.occurrences],
        "occurrences_total": verdict.occurrences_total,
        "codes": list(verdict.codes),
    }
    if verdict.pieces is not None:
        output["pieces"] = [
            {"start": piece.start, "end": piece.end, "gap": piece.gap} for piece in verdict.pieces
        ]
    if verdict.widened is not None:
        output["widened"] = list(verdict.widened)
    if verdict.distance is not None and verdict.diff is not None:
        output["distance"] = verdict.distance
        output["diff"] = [
            {"op": edit.op, "quote": edit.quote, "source": edit.source} for edit in verdict.diff
        ]
    return output
