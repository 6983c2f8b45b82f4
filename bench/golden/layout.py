"""JSON that a person can read in a diff: one fact a line, the same bytes for the same value.

Rules that this module owns: keys are sorted; what fits stands on one line in canonical form; what does
not fit is opened, one entry a line, indented by one space; a final newline. Any strict reader reads it.
"""

from __future__ import annotations

from typing import Any

from capsules.canonical import canonical_bytes

WIDTH = 120


def laid_out(value: Any) -> bytes:
    """The bytes of a value.

    Raises:
        CapsuleError: It holds something without canonical form (a float, a lone surrogate).
    """
    return (_laid_out(value, 0) + "\n").encode()


def _laid_out(value: Any, depth: int) -> str:
    line = canonical_bytes(value).decode()
    if not isinstance(value, dict | list) or not value or len(line) + depth <= WIDTH:
        return line
    pad = " " * (depth + 1)
    if isinstance(value, list):
        entries = [_laid_out(entry, depth + 1) for entry in value]
        first, last = "[", "]"
    else:
        entries = [f"{canonical_bytes(k).decode()}: {_laid_out(value[k], depth + 1)}" for k in sorted(value)]
        first, last = "{", "}"
    return f"{first}\n" + ",\n".join(pad + entry for entry in entries) + f"\n{' ' * depth}{last}"
