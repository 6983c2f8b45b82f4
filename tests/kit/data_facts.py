"""What became of the rows of a made-up data set: counts of its manifest, and rows that were refused."""

from __future__ import annotations

from collections.abc import Mapping

from tasks.base import RefusedRow

FACTS: Mapping[str, object] = {
    "read": 12,
    "samples": 4,
    "examples": 1,
    "reserved": 2,
    "unused": 3,
    "exact": 7,
    "repaired": {"caseless": 2, "left_out": 1},
}
REFUSED = [
    RefusedRow(row="line 3", where="/question", code="text.control", reason="r"),
    RefusedRow(row="line 7", where="", code="json.syntax", reason="r"),
    RefusedRow(row="line 9", where="/text", code="text.control", reason="r"),
]
