"""The first ``k`` offers: chunks in the retriever's order, sentences by falling score."""

from __future__ import annotations

from collections.abc import Sequence

from bench.selection.base import Offer, SelectionQuery


def top_k(query: SelectionQuery, offers: Sequence[Offer]) -> list[int]:
    """The first ``k``, in order."""
    return list(range(min(query.k, len(offers))))
