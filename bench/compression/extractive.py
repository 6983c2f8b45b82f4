"""Whole sentences by relevance, until the asked share of tokens is reached.

Rules that this module owns: relevance is BM25 of the sentence against the question, among the
given sentences; ties keep rank order. Required sentences stay first, whatever they cost. Then
sentences join in order of relevance while the total stays within ``rate`` of all tokens; the first
that does not fit ends it, so nothing less relevant ever stays in the place of something more
relevant. The output is never longer than the input.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.compression.base import CompressionItem
from bench.retrieval.base import best_first
from bench.retrieval.bm25 import bm25_scores


def extractive(question: str, rate_bp: int, items: Sequence[CompressionItem]) -> list[int]:
    """Indexes of the sentences that stay, ascending."""
    kept = [i for i, item in enumerate(items) if item.required]
    tokens = sum(items[i].tokens for i in kept)
    limit = sum(item.tokens for item in items) * rate_bp // 10_000
    for i in best_first(bm25_scores(question, [item.text for item in items])):
        if items[i].required:
            continue
        if tokens + items[i].tokens > limit:
            break
        tokens += items[i].tokens
        kept.append(i)
    return sorted(kept)
