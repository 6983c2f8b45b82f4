"""Numbers with their nouns, for sentences: ``1 item``, ``2 items``, ``0 items``."""

from __future__ import annotations


def number_of(count: int, noun: str, *, grouped: bool = False) -> str:
    """A count and its noun, which takes an ``s`` unless the count is 1.

    Args:
        count: How many.
        noun: Of what, one of it.
        grouped: Whether thousands are set apart: ``1,200 items``.
    """
    shown = f"{count:,}" if grouped else str(count)
    return f"{shown} {noun}" if count == 1 else f"{shown} {noun}s"
