"""From the candidates to the items that would be sent if the budget had no end.

Rules that this module owns: retrieval ranks chunks, selection takes some of the ranked ones, the
arm's policy settles contradictions between these (``bench.evidence.disputes``), compression drops
whole items of what stays (in the mode ``items``; the others come later, in
``bench.build.rewriting``). What goes at each stage gets the stage's reason. A required
item passes every stage: it is what the user's data requires or, where that is silent, the sentence
of the retriever's first chunk that is most relevant to the question. Gold reaches a retriever or
selector only where its name says that it is an upper bound.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.build.base import BuildError
from bench.build.candidates import Candidates, Item, Source, passages
from bench.compression.base import ITEMS, CompressionItem
from bench.compression.registry import compressor
from bench.evidence.disputes import SUPERSEDED, Found, settle
from bench.retrieval.base import Query, best_first
from bench.retrieval.bm25 import bm25_scores
from bench.retrieval.registry import retriever
from bench.selection.registry import selector
from bench.specs import UPPER_BOUNDS, ArmSpec
from tasks.base import Gold, SampleInput

Place = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """What is left after compression, and what went on the way.

    Attributes:
        retrieved, selected, kept: Items left after each stage, by position in the sample.
        dropped: Reason by span_id, for items that these stages took out.
        required: span_ids that the budget may not take out.
        found: Contradictions that the arm's detector found among the selected items.
        rank: Rank of a chunk by its place, 0 for the retriever's first.
        compressor_us: Time of the compressor, 0 for ``none``.
    """

    retrieved: tuple[Item, ...]
    selected: tuple[Item, ...]
    kept: tuple[Item, ...]
    dropped: dict[str, str]
    required: frozenset[str]
    found: tuple[Found, ...]
    rank: dict[Place, int]
    compressor_us: int

    def rank_of(self, item: Item) -> int:
        """Rank of the item's chunk; behind all others where it was not retrieved."""
        return self.rank.get(item.place, len(self.rank))


def narrow(
    sample: SampleInput, candidates: Candidates, sources: Sequence[Source], arm: ArmSpec, gold: Gold | None
) -> Narrowed:
    """Run retrieval, selection, the settling of contradictions, and compression.

    Raises:
        BuildError: A stage answered with indexes that are none, or needs gold and has none.
        RegistryError: A stage's name is unknown.
    """
    question, live = sample.question, candidates.live
    ranked, chosen = rank_and_select(question, live, sources, arm, gold)
    required = candidates.required or _best_sentence(question, live, ranked)
    dropped: dict[str, str] = {}
    retrieved = _stay(live, set(ranked), required, dropped, "retrieval.low_rank")
    selected = _stay(retrieved, set(chosen), required, dropped, "selection.not_needed")
    settled = settle(sample, selected, required, bool(candidates.required), arm.contradictions)
    dropped |= dict.fromkeys(settled.gone, SUPERSEDED)
    required = settled.required
    rank = {place: number for number, place in enumerate(ranked)}
    in_rank = sorted(settled.items, key=lambda i: (rank.get(i.place, len(rank)), i.place, i.start))
    kept, spent = _compress(question, in_rank, required, arm)
    names = {item.item for item in kept}
    dropped |= {i.item: "compression.dropped" for i in settled.items if i.item not in names}
    return Narrowed(
        retrieved=tuple(retrieved),
        selected=tuple(selected),
        kept=tuple(item for item in selected if item.item in names),
        dropped=dropped,
        required=frozenset(required),
        found=settled.found,
        rank=rank,
        compressor_us=spent,
    )


def rank_and_select(
    question: str, items: Iterable[Item], sources: Sequence[Source], arm: ArmSpec, gold: Gold | None
) -> tuple[list[Place], list[Place]]:
    """Places of the retrieved chunks and of the selected ones among them, best first."""
    chunks = passages(items, sources)
    places, texts = list(chunks), list(chunks.values())
    seen = gold if arm.retrieval.name in UPPER_BOUNDS else None
    query = Query(question=question, k=arm.retrieval.k, gold=seen)
    order = _indexes(retriever(arm.retrieval.name)(query, texts), len(texts), "retrieval", arm.retrieval.name)
    ranked, ranked_texts = [places[i] for i in order], [texts[i] for i in order]
    seen = gold if arm.selection.name in UPPER_BOUNDS else None
    query = Query(question=question, k=arm.selection.k, gold=seen)
    picked = selector(arm.selection.name)(query, ranked_texts)
    order = _indexes(picked, len(ranked), "selection", arm.selection.name)
    return ranked, [ranked[i] for i in order]


def _best_sentence(question: str, live: Sequence[Item], ranked: Sequence[Place]) -> frozenset[str]:
    first = [item for item in live if ranked and item.place == ranked[0]]
    order = best_first(bm25_scores(question, [item.text for item in first]))
    return frozenset(first[i].item for i in order[:1])


def _stay(
    items: Sequence[Item], places: set[Place], required: frozenset[str], dropped: dict[str, str], reason: str
) -> list[Item]:
    left = [item for item in items if item.place in places or item.item in required]
    names = {item.item for item in left}
    dropped.update({item.item: reason for item in items if item.item not in names})
    return left


def _compress(
    question: str, items: Sequence[Item], required: frozenset[str], arm: ArmSpec
) -> tuple[list[Item], int]:
    if arm.compression.mode != ITEMS:
        return list(items), 0
    asked = [CompressionItem(text=i.text, tokens=i.tokens, required=i.item in required) for i in items]
    compress = compressor(arm.compression.name)
    start = time.perf_counter_ns()
    order = compress(question, arm.compression.rate_bp, asked)
    spent = (time.perf_counter_ns() - start) // 1000
    kept = [items[i] for i in _indexes(order, len(items), "compression", arm.compression.name)]
    names = {item.item for item in kept}
    if any(item.item in required and item.item not in names for item in items):
        raise BuildError(
            "evidence.required.omitted", f"compression {arm.compression.name!r} dropped a required item"
        )
    return kept, spent if arm.compression.name != "none" else 0


def _indexes(found: Sequence[int], n: int, kind: str, name: str) -> list[int]:
    order = list(found)
    if len(set(order)) != len(order) or not all(type(i) is int and 0 <= i < n for i in order):
        raise BuildError(
            "stage.indexes", f"{kind} {name!r}: expected distinct indexes below {n}, found {order}"
        )
    return order
