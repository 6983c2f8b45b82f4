"""FOVEA: the smallest neighbourhood of sentences that is sufficient for the question.

Rules that this module owns:

* The requirement is found without gold (``bench.selection.requirement``); the place is the exact smallest
  one that meets it (``capsules.place``): fewest tokens, each sentence with one header. What is required
  anyway is paid for, and counts 0.
* Where the place is over ``selection.tokens`` or ``selection.k``, the least important need is given up, and
  so on until it fits: needs that are given up are *unfit*. So a larger budget never meets fewer needs.
* With ``selection.fill`` what is left of the budget goes to the other sentences by falling relevance, ties
  by span_id; without it the place is all that is taken.
* The same offers in any order give the same place: nothing depends on their order.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.selection.base import Offer, Selected, SelectionQuery
from bench.selection.bill import Bill, bill_of
from bench.selection.place_report import INSUFFICIENT, NO_CANDIDATES, NO_TERMS, PlaceReport
from bench.selection.relevance import relevance_of
from bench.selection.requirement import Need, Requirement, find_requirement
from capsules.place import Candidate, Found, find_place
from capsules.prompt import ActiveObject

QUESTION = "question"


def fovea(query: SelectionQuery, offers: Sequence[Offer]) -> Selected:
    """The place of the question, and what ``selection.fill`` adds to it.

    Args:
        query: The question and the limits.
        offers: Sentences of one project.
    """
    relevance = relevance_of(query.question, offers)
    requirement = find_requirement(query, offers, relevance)
    found, needs = _fitting(query, offers, requirement.needs)
    names = {offer.name: i for i, offer in enumerate(offers)}
    falling = sorted(range(len(offers)), key=lambda i: (-relevance.bp[i], offers[i].name))
    inside = {names[span] for span in _spans(found)}
    order = [i for i in falling if i in inside]
    if query.spec.fill:
        order += _filling(query, offers, order, [i for i in falling if i not in inside])
    return Selected(
        order=order,
        place=found.place.record if found is not None and found.place is not None else None,
        report=_report(query, offers, requirement, found, len(needs)),
    )


def _fitting(
    query: SelectionQuery, offers: Sequence[Offer], needs: Sequence[Need]
) -> tuple[Found | None, Sequence[Need]]:
    """The place of the longest leading part of the needs that fits; ``None`` if not even one does."""
    active = ActiveObject(kind=QUESTION, ref=query.ref, text=query.question)
    limit, paid = query.spec.tokens, bill_of(offers, query).tokens
    while needs:
        found = find_place(active, [need.name for need in needs], _candidates(query, offers, needs))
        cost = paid + (found.report.tokens or 0)
        if (limit is None or cost <= limit) and len(_spans(found)) <= query.k:
            return found, needs
        needs = needs[:-1]
    return None, needs


def _candidates(query: SelectionQuery, offers: Sequence[Offer], needs: Sequence[Need]) -> list[Candidate]:
    met: dict[int, set[str]] = {}
    for need in needs:
        for i in need.witnesses:
            met.setdefault(i, set()).add(need.name)
    return [
        Candidate(
            span_id=offer.name,
            label=offer.label,
            tokens=0 if _is_paid(offer) else _alone(query, offer),
            meets=frozenset(met.get(i, ())),
        )
        for i, offer in enumerate(offers)
    ]


def _is_paid(offer: Offer) -> bool:
    return all(sentence.required for sentence in offer.sentences)


def _alone(query: SelectionQuery, offer: Offer) -> int:
    return offer.tokens + query.header_tokens


def _filling(
    query: SelectionQuery, offers: Sequence[Offer], order: Sequence[int], others: Sequence[int]
) -> list[int]:
    bill = bill_of(offers, query)
    for i in order:
        _add(bill, offers[i])
    added: list[int] = []
    for i in others:
        if len(order) + len(added) == query.k:
            break
        cost = sum(bill.more(sentence) for sentence in offers[i].sentences)
        if query.spec.tokens is None or bill.tokens + cost <= query.spec.tokens:
            _add(bill, offers[i])
            added.append(i)
    return added


def _add(bill: Bill, offer: Offer) -> None:
    for sentence in offer.sentences:
        bill.add(sentence)


def _report(
    query: SelectionQuery,
    offers: Sequence[Offer],
    requirement: Requirement,
    found: Found | None,
    kept: int,
) -> PlaceReport:
    names = [need.name for need in requirement.needs]
    by_name = {offer.name: offer for offer in offers}
    unfit = tuple(names[kept:])
    return PlaceReport(
        place_id=found.report.place_id if found is not None else None,
        needs=(*names, *requirement.unmet, *requirement.left_out),
        met_by=found.report.met_by if found is not None else (),
        unmet=requirement.unmet,
        unfit=unfit,
        left_out=requirement.left_out,
        tokens=sum(_alone(query, by_name[span]) for span in _spans(found)),
        candidates=len(offers),
        code=_code(offers, requirement, unfit),
    )


def _spans(found: Found | None) -> Sequence[str]:
    return found.place.record.span_ids if found is not None and found.place is not None else ()


def _code(offers: Sequence[Offer], requirement: Requirement, unfit: Sequence[str]) -> str | None:
    if not offers:
        return NO_CANDIDATES
    if not requirement.named:
        return NO_TERMS
    return INSUFFICIENT if requirement.unmet or unfit else None
