"""No retrieval: every passage, in source order, whatever ``k`` is."""

from __future__ import annotations

from collections.abc import Sequence

from bench.retrieval.base import Passage, Query


def full_context(query: Query, passages: Sequence[Passage]) -> list[int]:
    """All passages."""
    return list(range(len(passages)))
