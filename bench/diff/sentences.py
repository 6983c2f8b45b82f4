"""Changes of fields as sentences about A and B.

Rules that this module owns: one change, one sentence, or for a longer text one an edit; every value is
made visible and cut to a length that a line can hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench.diff.fields import LEFT_ONLY, ORDER, RIGHT_ONLY, Change
from bench.diff.texts import LIMIT, edit_lines, quoted
from bench.plural import number_of
from bench.report.visible import clipped, visible
from capsules.canonical import canonical_bytes

A, B = "A", "B"
SHORT = 48  # code points; shorter texts are shown whole, longer ones edit by edit


def sentences(change: Change) -> Iterator[str]:
    """A change in words."""
    label = visible(change.label)
    if change.kind == ORDER:
        yield f"{label}: the same entries in another order"
    elif change.kind in (LEFT_ONLY, RIGHT_ONLY):
        who, value = (A, change.left) if change.kind == LEFT_ONLY else (B, change.right)
        yield f"{label}: only {who} has {entry_words(value)}"
    elif _is_long(change.left) and _is_long(change.right):
        yield from (f"{label}, {line}" for line in edit_lines(change.left, change.right, (A, B)))
    else:
        yield f"{label}: {words(change.left)} in {A}, {words(change.right)} in {B}"


def words(value: Any) -> str:
    """A value in words."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return quoted(value)
    return clipped(visible(canonical_bytes(value).decode()), LIMIT)


def entry_words(value: Any) -> str:
    """An entry of an array in words: its text where it has one."""
    if isinstance(value, Mapping):
        if "reason" in value:
            return omission_words(value)
        for name in ("exact", "text", "query"):
            if value.get(name):
                return words(value[name])
    return words(value)


def omission_words(omission: Mapping[str, Any]) -> str:
    """An omission in words."""
    count = number_of(omission["count"], "item") if omission["item"] is None else "an omission"
    tokens = "tokens not counted" if omission["tokens"] is None else number_of(omission["tokens"], "token")
    return f"{count} ({omission['reason']}, {tokens}{', required' if omission['required'] else ''})"


def _is_long(value: Any) -> bool:
    return isinstance(value, str) and len(value) > SHORT
