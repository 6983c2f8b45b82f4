"""How relevant each offer is to the question, in whole basis points of the best one.

Rules that this module owns: relevance is a weighted sum (``WEIGHTS``, tuned on the first halves of four
public data sets: docs/selection.md) of

* the offer's score;
* the share of the question's weight that its own words have, and that its chunk's words have;
* the share of the question's weight that the document's title has;
* whether it opens its chunk: an opening says what the rest is about;
  and, as shares of the best sum so far,
* how strongly the document is mentioned by relevant passages of others (``bench.selection.mentions``);
* whether it opens a chunk of a document that is mentioned, or whose title has a word of the question.

No gold, no learning at run time. Sums are rounded to whole basis points before anything is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from bench.selection.base import Offer
from bench.selection.mentions import mentioned
from bench.selection.vocabulary import coverage, question_words, stems, weights

FULL_BP = 10_000
WEIGHTS = {"score": 25, "own": 10, "chunk": 20, "title": 80, "opening": 10, "mention": 15, "named_opening": 5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Relevance:
    """What is known of the offers before anything is chosen.

    Attributes:
        bp: Relevance of each offer, 10,000 for the best; all 0 where nothing is relevant.
        stems: Of each offer's own text.
        title_stems: Of each offer's title.
        weights: Of the question's stems that some offer or its title holds.
        mentions: How strongly each document is mentioned, 0 to 1, by source.
    """

    bp: tuple[int, ...]
    stems: tuple[frozenset[str], ...]
    title_stems: tuple[frozenset[str], ...]
    weights: dict[str, float]
    mentions: dict[str, float]


def relevance_of(question: str, offers: Sequence[Offer]) -> Relevance:
    """Judge all offers."""
    words = question_words(question)
    own = [_stems(offer.text) for offer in offers]
    titles = [_stems(offer.title or "") for offer in offers]
    chunks: dict[str, frozenset[str]] = {}
    opening: dict[str, int] = {}
    for offer, held in zip(offers, own, strict=True):
        chunks[offer.chunk] = chunks.get(offer.chunk, frozenset()) | held
        opening[offer.chunk] = min(opening.get(offer.chunk, offer.start), offer.start)
    shown = [text | title for text, title in zip(own, titles, strict=True)]
    in_offers, in_chunks = weights(words, shown), weights(words, list(chunks.values()))
    by_chunk = {chunk: coverage(in_chunks, held) for chunk, held in chunks.items()}
    opens = [offer.start == opening[offer.chunk] for offer in offers]
    titled = [coverage(in_offers, title) for title in titles]
    base = [
        WEIGHTS["score"] * offer.score_bp / FULL_BP
        + WEIGHTS["own"] * coverage(in_offers, own[i])
        + WEIGHTS["chunk"] * by_chunk[offer.chunk]
        + WEIGHTS["title"] * titled[i]
        + WEIGHTS["opening"] * opens[i]
        for i, offer in enumerate(offers)
    ]
    base = _of_best(base)
    mentions = mentioned(question, offers, base)
    full = [
        base[i]
        + WEIGHTS["mention"] / 100 * mentions[offer.source]
        + WEIGHTS["named_opening"] / 100 * (opens[i] and (mentions[offer.source] > 0 or titled[i] > 0))
        for i, offer in enumerate(offers)
    ]
    return Relevance(
        bp=tuple(round(value * FULL_BP) for value in _of_best(full)),
        stems=tuple(own),
        title_stems=tuple(titles),
        weights=in_offers,
        mentions=mentions,
    )


@lru_cache(maxsize=16_384)
def _stems(text: str) -> frozenset[str]:
    return stems(text)


def _of_best(values: list[float]) -> list[float]:
    best = max(values, default=0.0)
    return [value / best for value in values] if best > 0 else values
