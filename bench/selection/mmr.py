"""Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): relevant, and unlike what is taken.

Rules that this module owns:

* The next offer is the one with the largest ``lambda * relevance - (1 - lambda) * likeness``, lambda being
  ``selection.lambda_bp``; ties keep the offers' order. Likeness is the largest to any offer taken.
* Relevance is the offer's score; likeness is the cosine of term counts weighted by inverse document
  frequency over the offers. Both lie between 0 and 1 and are compared to six decimals.
* Under ``selection.tokens`` an offer none of whose sentences fits any more is passed over for good.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum, log, sqrt

from bench.retrieval.terms import terms
from bench.selection.base import Offer, SelectionQuery, Sentence
from bench.selection.bill import bill_of

FULL_BP = 10_000

Vector = Mapping[str, float]


def mmr(query: SelectionQuery, offers: Sequence[Offer]) -> list[int]:
    """At most ``k`` offers by maximal marginal relevance."""
    weight, limit = query.spec.lambda_bp / FULL_BP, query.spec.tokens
    vectors = _vectors([offer.text for offer in offers])
    likeness = [0.0] * len(offers)
    left, bill = list(range(len(offers))), bill_of(offers, query)
    taken: list[int] = []

    def fits(sentence: Sentence) -> bool:
        return limit is None or bill.tokens + bill.more(sentence) <= limit

    while len(taken) < query.k:
        left = [i for i in left if any(map(fits, offers[i].sentences))]
        if not left:
            break
        best = max(
            left,
            key=lambda i: (round(weight * offers[i].score_bp / FULL_BP - (1 - weight) * likeness[i], 6), -i),
        )
        for sentence in filter(fits, offers[best].sentences):
            bill.add(sentence)
        left.remove(best)
        taken.append(best)
        for i in left:
            likeness[i] = max(likeness[i], _cosine(vectors[i], vectors[best]))
    return taken


def _vectors(texts: Sequence[str]) -> list[Vector]:
    """Term vectors of length 1; a text without terms has an empty one."""
    counts = [Counter(terms(text)) for text in texts]
    held = Counter(term for count in counts for term in count)
    vectors: list[Vector] = []
    for count in counts:
        raw = {term: n * log(1 + len(texts) / held[term]) for term, n in count.items()}
        length = sqrt(fsum(value * value for value in raw.values()))
        vectors.append({term: value / length for term, value in raw.items()})
    return vectors


def _cosine(left: Vector, right: Vector) -> float:
    if len(left) > len(right):
        left, right = right, left
    return fsum(value * right[term] for term, value in left.items() if term in right)
