"""Numbers with their nouns, for sentences: ``1 item``, ``2 items``, ``0 items``."""

from __future__ import annotations


def number_of(count: int, noun: str) -> str:
    """A count and its noun, which takes an ``s`` unless the count is 1."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
