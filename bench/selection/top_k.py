"""The first ``k`` retrieved passages."""

from __future__ import annotations

from collections.abc import Sequence

from bench.retrieval.base import Passage, Query


def top_k(query: Query, passages: Sequence[Passage]) -> list[int]:
    """The first ``k``, in rank order."""
    return list(range(min(query.k, len(passages))))
