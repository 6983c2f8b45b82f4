"""No compression: everything stays."""

from __future__ import annotations

from collections.abc import Sequence

from bench.compression.base import CompressionItem


def none(question: str, rate_bp: int, items: Sequence[CompressionItem]) -> list[int]:
    """All items."""
    return list(range(len(items)))
