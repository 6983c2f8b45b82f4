"""Upper bound: the passages that hold gold evidence, and no others."""

from __future__ import annotations

from collections.abc import Sequence

from bench.build.base import BuildError
from bench.retrieval.base import Passage, Query, Ranker


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


def gold_ranker(passages: Sequence[Passage]) -> Ranker:
    """The same over a corpus, by document."""
    places: dict[str, list[int]] = {}
    for i, passage in enumerate(passages):
        places.setdefault(passage.doc_id, []).append(i)

    def rank(query: Query) -> list[int]:
        spans = query.gold.spans if query.gold is not None else ()
        near = sorted({i for span in spans for i in places.get(span.doc_id, ())})
        found = gold_indexes(query, [passages[i] for i in near], "retrieval gold")
        return [near[i] for i in found][: query.k]

    return rank


def gold(query: Query, passages: Sequence[Passage]) -> list[int]:
    """All passages with gold evidence, at most ``k``."""
    return gold_indexes(query, passages, "retrieval gold")[: query.k]
