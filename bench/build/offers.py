"""What a selector is offered: the retrieved chunks, or their sentences, with scores and costs.

Rules that this module owns:

* A chunk's score falls evenly with its rank. A sentence's score is seven parts its own BM25 among the
  offered sentences, three parts 1 / (1 + rank) of its chunk, so that retrievers other than BM25 are heard.
* Sentences stand by falling score; ties by rank, then by position.
* A sentence of overlapping chunks is offered once, with the best of them; a chunk whose sentences are all
  offered with better ones is not offered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from bench.build.candidates import Item, Place, Source
from bench.retrieval.base import Passage
from bench.retrieval.bm25 import bm25_scores
from bench.selection.base import Offer, Sentence
from capsules.visibility import Visibility

CHUNK, SENTENCE = "chunk", "sentence"
UNITS = (CHUNK, SENTENCE)
FULL_BP = 10_000
OWN_SHARE, RANK_SHARE = 0.7, 0.3


def before(sources: Iterable[Source]) -> dict[str, str]:
    """The item before each item in its source."""
    found: dict[str, str] = {}
    for source in sources:
        items = source.items()
        found |= {later.item: item.item for item, later in pairwise(items)}
    return found


def offers(
    question: str,
    unit: str,
    ranked: Mapping[Place, Passage],
    items: Iterable[Item],
    follows: Mapping[str, str],
    required: frozenset[str],
) -> list[Offer]:
    """What is offered.

    Args:
        question: The question's text.
        unit: ``chunk`` or ``sentence``.
        ranked: The retrieved chunks, best first.
        items: The items that may be shown.
        follows: The item before each item in its source.
        required: span_ids of the items that stay.
    """
    ranks = {place: rank for rank, place in enumerate(ranked)}
    by_chunk: dict[Place, list[Item]] = {place: [] for place in ranked}
    for item in items:
        homes = [place for place in item.places if place in ranks]
        if homes:
            by_chunk[min(homes, key=ranks.__getitem__)].append(item)

    def sentence(item: Item) -> Sentence:
        return Sentence(
            item=item.item,
            follows=follows.get(item.item),
            tokens=item.tokens,
            required=item.item in required,
        )

    if unit == CHUNK:
        return [
            _offer(
                found, place, ranked[place], rank, _even(rank, len(ranks)), [sentence(item) for item in found]
            )
            for place, rank in ranks.items()
            if (found := by_chunk[place])
        ]
    homed = [(item, place) for place, found in by_chunk.items() for item in found]
    singles = [(item, ranks[place]) for item, place in homed]
    scores = _scores(question, singles)
    made = [
        (-score, rank, item.place, item.start, _single(item, place, rank, score, sentence(item)))
        for (item, place), (_, rank), score in zip(homed, singles, scores, strict=True)
    ]
    return [offer for *_, offer in sorted(made, key=lambda one: one[:4])]


def _single(item: Item, place: Place, rank: int, score: int, sentence: Sentence) -> Offer:
    passage = Passage(doc_id=item.doc.doc_id, start=item.start, end=item.end, text=item.text)
    return _offer([item], place, passage, rank, score, [sentence])


def _even(rank: int, count: int) -> int:
    return FULL_BP * (count - rank) // count


def _scores(question: str, singles: Sequence[tuple[Item, int]]) -> list[int]:
    own = bm25_scores(question, [item.text for item, _ in singles])
    best = max(own, default=0.0)
    return [
        round(FULL_BP * (OWN_SHARE * (score / best if best > 0 else 0.0) + RANK_SHARE / (1 + rank)))
        for score, (_, rank) in zip(own, singles, strict=True)
    ]


def _offer(
    items: Sequence[Item],
    place: Place,
    passage: Passage,
    rank: int,
    score_bp: int,
    sentences: Sequence[Sentence],
) -> Offer:
    doc = items[0].doc
    return Offer(
        doc_id=passage.doc_id,
        start=passage.start,
        end=passage.end,
        text=passage.text,
        source=items[0].source,
        title=doc.title,
        label=Visibility(level=doc.level, project=doc.project),
        chunk=f"{place[0]}.{place[1]}",
        rank=rank,
        score_bp=score_bp,
        sentences=tuple(sentences),
    )
