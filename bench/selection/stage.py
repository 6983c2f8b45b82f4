"""The selection stage: asks the selector, keeps the token limit, and says what stays in which order.

Rules that this module owns:

* What is required stays, before everything else. If it alone costs more than ``selection.tokens``, there is
  no selection (``budget.required.unfit``).
* Under ``selection.tokens`` offers are taken in the selector's order, sentence by sentence; a sentence that
  does not fit is passed over, and what comes after it may still fit. Headers count.
* An answer that is no list of distinct indexes is an error that names the selector (``stage.indexes``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.build.base import BuildError
from bench.build.indexes import checked_indexes
from bench.selection.base import Offer, Selected, SelectionQuery, Selector
from bench.selection.bill import bill_of
from bench.selection.place_report import PlaceReport
from capsules.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What the stage keeps.

    Attributes:
        order: Indexes of the offers that the selector took, best first.
        items: span_ids of the sentences that stay, required ones included.
        tokens: What they cost, headers counted.
        place, report: What the selector found out, if it looks for a place.
    """

    order: tuple[int, ...]
    items: frozenset[str]
    tokens: int
    place: Place | None
    report: PlaceReport | None


def choose(select: Selector, query: SelectionQuery, offers: Sequence[Offer]) -> Chosen:
    """Run a selector over the offers.

    Raises:
        BuildError: ``budget.required.unfit``, ``stage.indexes``, or what the selector raises.
    """
    limit = query.spec.tokens
    bill = bill_of(offers, query)
    if limit is not None and bill.tokens > limit:
        raise BuildError(
            "budget.required.unfit",
            f"expected required items within selection.tokens {limit}, found {bill.tokens} tokens",
        )
    found = select(query, offers)
    answer = found if isinstance(found, Selected) else Selected(order=found)
    order = checked_indexes(answer.order, len(offers), "selection", query.spec.name)
    for index in order:
        for sentence in offers[index].sentences:
            if limit is None or bill.tokens + bill.more(sentence) <= limit:
                bill.add(sentence)
    return Chosen(
        order=tuple(order),
        items=frozenset(bill.shown),
        tokens=bill.tokens,
        place=answer.place,
        report=answer.report,
    )
