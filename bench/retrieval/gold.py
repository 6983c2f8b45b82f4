"""Upper bound: the passages that hold gold evidence, and no others."""

from __future__ import annotations

from collections.abc import Sequence

from bench.build.base import BuildError
from bench.retrieval.base import Passage, Query


def gold_indexes(query: Query, passages: Sequence[Passage], user: str) -> list[int]:
    """Indexes of passages that overlap a gold span: by gold span, then in source order.

    Raises:
        BuildError: ``gold.missing``: ``user`` was not given gold.
    """
    if query.gold is None:
        raise BuildError("gold.missing", f"{user} needs gold: expected it in the build context, found none")
    found = [
        i
        for span in query.gold.spans
        for i, p in enumerate(passages)
        if p.doc_id == span.doc_id and p.start < span.end and span.start < p.end
    ]
    return list(dict.fromkeys(found))


def gold(query: Query, passages: Sequence[Passage]) -> list[int]:
    """All passages with gold evidence, at most ``k``."""
    return gold_indexes(query, passages, "retrieval gold")[: query.k]
