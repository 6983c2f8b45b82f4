"""Which sentences are compared: similar ones of different sources.

Rules that this module owns: sentences of one source are not compared with each other; a pair is looked at
only if it shares a content term that at most ``COMMON`` sentences hold, so that ten thousand sentences
stay cheap; pairs come in the order of the sentences.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.build.candidates import Item
from bench.evidence.detector import similar
from bench.evidence.facts import facts_of

COMMON = 64


def similar_pairs(items: Sequence[Item], similarity_bp: int) -> list[tuple[Item, Item]]:
    """The pairs that a detector is asked about."""
    holders: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        for term in facts_of(item.text).terms:
            holders.setdefault(term, []).append(place)
    found: set[tuple[int, int]] = set()
    for places in holders.values():
        if len(places) <= COMMON:
            found.update((a, b) for n, a in enumerate(places) for b in places[n + 1 :])
    return [
        (items[a], items[b])
        for a, b in sorted(found)
        if items[a].source != items[b].source and similar(items[a].text, items[b].text, similarity_bp)
    ]
