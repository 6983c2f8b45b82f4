"""Upper bound: the fewest tokens that show all gold, or as much of it as the limits admit.

Rules that this module owns:

* A gold span is shown by all offers that hold a part of it, so the smallest cover is those offers and no
  others.
* Where ``selection.tokens`` or ``selection.k`` do not admit all of it, every set of gold spans is tried: the
  most spans, then the fewest tokens, then the first spans. With more than ``EXACT`` spans, spans are instead
  added by rising cost while they fit, and the result may lie below the bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from bench.build.base import BuildError
from bench.selection.base import Offer, SelectionQuery
from bench.selection.bill import bill_of

EXACT = 12


def oracle(query: SelectionQuery, offers: Sequence[Offer]) -> list[int]:
    """Indexes of the offers that hold gold, in order.

    Raises:
        BuildError: ``gold.missing``: there is no gold in the query.
    """
    groups = gold_groups(query, offers)
    best = _fits(groups, query, offers)
    if best is not None:
        return best
    if len(groups) > EXACT:
        return _greedy(groups, query, offers)
    for count in range(len(groups) - 1, 0, -1):
        found = [
            (_cost(some, query, offers), place, taken)
            for place, some in enumerate(combinations(groups, count))
            if (taken := _fits(some, query, offers)) is not None
        ]
        if found:
            return min(found)[2]
    return []


def gold_groups(query: SelectionQuery, offers: Sequence[Offer]) -> list[tuple[int, ...]]:
    """For every gold span that some offer holds, the offers that hold a part of it.

    Raises:
        BuildError: ``gold.missing``.
    """
    if query.gold is None:
        raise BuildError(
            "gold.missing", "selection oracle needs gold: expected it in the build context, found none"
        )
    found = [
        tuple(
            i
            for i, offer in enumerate(offers)
            if offer.doc_id == span.doc_id and offer.start < span.end and span.start < offer.end
        )
        for span in query.gold.spans
    ]
    return [group for group in dict.fromkeys(found) if group]


def _fits(
    groups: Iterable[tuple[int, ...]], query: SelectionQuery, offers: Sequence[Offer]
) -> list[int] | None:
    taken = sorted({i for group in groups for i in group})
    limit = query.spec.tokens
    if len(taken) > query.k or (limit is not None and _cost([taken], query, offers) > limit):
        return None
    return taken


def _cost(groups: Iterable[Iterable[int]], query: SelectionQuery, offers: Sequence[Offer]) -> int:
    bill = bill_of(offers, query)
    for i in sorted({i for group in groups for i in group}):
        for sentence in offers[i].sentences:
            bill.add(sentence)
    return bill.tokens


def _greedy(groups: Sequence[tuple[int, ...]], query: SelectionQuery, offers: Sequence[Offer]) -> list[int]:
    kept: list[tuple[int, ...]] = []
    for group in sorted(groups, key=lambda group: (_cost([group], query, offers), group)):
        if _fits([*kept, group], query, offers) is not None:
            kept.append(group)
    return sorted({i for group in kept for i in group})
