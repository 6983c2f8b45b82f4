"""From the candidates to the items that would be sent if the budget had no end.

Rules that this module owns: retrieval ranks chunks, selection takes some of the ranked ones or of their
sentences, the arm's policy settles contradictions between these (``bench.evidence.disputes``), compression
drops whole items of what stays (in the mode ``items``; the others come later, in
``bench.build.rewriting``). What goes at each stage gets the stage's reason. A required
item passes every stage: it is what the user's data requires or, where that is silent, the sentence
of the retriever's first chunk that is most relevant to the question. Gold reaches a retriever or
selector only where its name says that it is an upper bound. An item's rank, by which the budget takes
items out, is its place in the selector's order; what stays only because it is required comes after, by the
retriever's rank.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.build.base import BuildError
from bench.build.candidates import Candidates, Item, Place, Pool, Source, passages
from bench.build.indexes import checked_indexes
from bench.build.laps import Lap, no_lap
from bench.build.offers import CHUNK, before, offers
from bench.compression.base import ITEMS, CompressionItem
from bench.compression.registry import compressor
from bench.evidence.disputes import SUPERSEDED, Found, settle
from bench.retrieval.base import Passage, Query, best_first
from bench.retrieval.bm25 import bm25_scores
from bench.retrieval.registry import EVERYTHING, retriever
from bench.selection.base import Offer, SelectionQuery
from bench.selection.place_report import PlaceReport
from bench.selection.registry import selector
from bench.selection.stage import Chosen, choose
from bench.specs import UPPER_BOUNDS, ArmSpec
from capsules.place import Place as SealedPlace
from tasks.base import Gold, SampleInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """What is left after compression, and what went on the way.

    Attributes:
        retrieved, selected, kept: Items left after each stage, by position in the sample.
        dropped: Reason by span_id, for items that these stages took out.
        required: span_ids that the budget may not take out.
        found: Contradictions that the arm's detector found among the selected items.
        rank: Rank of each selected item, 0 for the first.
        compressor_us: Time of the compressor, 0 for ``none``.
        place, report: The place that the selector found and why it suffices, if it looks for one.
    """

    retrieved: tuple[Item, ...]
    selected: tuple[Item, ...]
    kept: tuple[Item, ...]
    dropped: dict[str, str]
    required: frozenset[str]
    found: tuple[Found, ...]
    rank: dict[str, int]
    compressor_us: int
    place: SealedPlace | None
    report: PlaceReport | None

    def rank_of(self, item: Item) -> int:
        """Rank of a selected item."""
        return self.rank[item.item]


def narrow(
    sample: SampleInput,
    candidates: Candidates,
    sources: Sequence[Source],
    arm: ArmSpec,
    gold: Gold | None,
    header_tokens: int,
    pool: Pool | None = None,
    lap: Lap = no_lap,
) -> Narrowed:
    """Run retrieval, selection, the settling of contradictions, and compression.

    Args:
        sample: Asks the question.
        candidates: What the sample offers.
        sources: Its documents, cut.
        arm: The factors.
        gold: For the stages whose name says that they are upper bounds.
        header_tokens: What a header costs (``bench.selection.bill``).
        pool: Where the sources come from, if they are not the sample's own: it is ranked already.
        lap: Told of each stage that has ended.

    Raises:
        BuildError: A stage answered with indexes that are none, needs gold and has none, or what is required
            does not fit.
        RegistryError: A stage's name is unknown.
    """
    question, live = sample.question, candidates.live
    ranked = rank(question, live, sources, arm, gold, pool)
    required = candidates.required or _best_sentence(question, live, list(ranked))
    dropped: dict[str, str] = {}
    in_ranked = {item.item for item in live if any(place in ranked for place in item.places)}
    retrieved = _stay(live, in_ranked, required, dropped, "retrieval.low_rank")
    lap("retrieval")
    offered = offers(question, arm.selection.unit, ranked, live, before(sources), required)
    chosen = _select(sample.sample_id, question, offered, arm, gold, header_tokens)
    selected = _stay(retrieved, chosen.items, required, dropped, "selection.not_needed")
    lap("selection")
    settled = settle(sample, selected, required, bool(candidates.required), arm.contradictions)
    dropped |= dict.fromkeys(settled.gone, SUPERSEDED)
    required = settled.required
    lap("contradictions")
    ranks = _ranks(selected, offered, chosen, list(ranked))
    in_rank = sorted(settled.items, key=lambda i: (ranks[i.item], i.place, i.start))
    kept, spent = _compress(question, in_rank, required, arm)
    lap("compression")
    names = {item.item for item in kept}
    dropped |= {i.item: "compression.dropped" for i in settled.items if i.item not in names}
    return Narrowed(
        retrieved=tuple(retrieved),
        selected=tuple(selected),
        kept=tuple(item for item in selected if item.item in names),
        dropped=dropped,
        required=frozenset(required),
        found=settled.found,
        rank=ranks,
        compressor_us=spent,
        place=chosen.place,
        report=chosen.report,
    )


def rank(
    question: str,
    items: Iterable[Item],
    sources: Sequence[Source],
    arm: ArmSpec,
    gold: Gold | None,
    pool: Pool | None = None,
) -> dict[Place, Passage]:
    """The retrieved chunks by place, best first.

    Raises:
        BuildError: The retriever answered with indexes that are none, or needs gold and has none.
        RegistryError: Its name is unknown.
    """
    chunks = passages(items, sources)
    if pool is not None:
        return _pooled(pool, chunks, arm)
    places, texts = list(chunks), list(chunks.values())
    seen = gold if arm.retrieval.name in UPPER_BOUNDS else None
    query = Query(question=question, k=arm.retrieval.k, gold=seen)
    found = retriever(arm.retrieval.name)(query, texts)
    order = checked_indexes(found, len(texts), "retrieval", arm.retrieval.name)
    return {places[i]: texts[i] for i in order}


def _pooled(pool: Pool, chunks: Mapping[Place, Passage], arm: ArmSpec) -> dict[Place, Passage]:
    """The first ``k`` of the pool that hold an item which may be used."""
    ranked = [place for place in pool.order if place in chunks]
    if arm.retrieval.name != EVERYTHING:
        ranked = ranked[: arm.retrieval.k]
    return {place: chunks[place] for place in ranked}


def rank_and_select(
    sample: SampleInput,
    items: Sequence[Item],
    sources: Sequence[Source],
    arm: ArmSpec,
    gold: Gold | None,
    pool: Pool | None = None,
) -> tuple[list[Place], list[Place]]:
    """Places of the retrieved chunks and of the selected ones among them, best first."""
    ranked = rank(sample.question, items, sources, arm, gold, pool)
    offered = offers(sample.question, CHUNK, ranked, items, before(sources), frozenset())
    chosen = _select(sample.sample_id, sample.question, offered, arm, gold, 0)
    places = list(ranked)
    return places, [places[offered[i].rank] for i in chosen.order]


def _select(
    ref: str, question: str, offered: Sequence[Offer], arm: ArmSpec, gold: Gold | None, header_tokens: int
) -> Chosen:
    query = SelectionQuery(
        question=question,
        k=arm.selection.k,
        gold=gold if arm.selection.name in UPPER_BOUNDS else None,
        ref=ref,
        spec=arm.selection,
        header_tokens=header_tokens,
        header_each=arm.contract.name.startswith("pointer"),
    )
    return choose(selector(arm.selection.name), query, offered)


def _ranks(
    selected: Iterable[Item], offered: Sequence[Offer], chosen: Chosen, ranked: Sequence[Place]
) -> dict[str, int]:
    taken: dict[str, int] = {}
    for place, index in enumerate(chosen.order):
        for sentence in offered[index].sentences:
            taken.setdefault(sentence.item, place)
    behind = {place: len(chosen.order) + number for number, place in enumerate(ranked)}
    last = len(chosen.order) + len(ranked)
    return {
        item.item: taken.get(item.item, min(behind.get(place, last) for place in item.places))
        for item in selected
    }


def _best_sentence(question: str, live: Sequence[Item], ranked: Sequence[Place]) -> frozenset[str]:
    first = [item for item in live if ranked and ranked[0] in item.places]
    order = best_first(bm25_scores(question, [item.text for item in first]))
    return frozenset(first[i].item for i in order[:1])


def _stay(
    items: Sequence[Item],
    names: Collection[str],
    required: frozenset[str],
    dropped: dict[str, str],
    reason: str,
) -> list[Item]:
    left = [item for item in items if item.item in names or item.item in required]
    staying = {item.item for item in left}
    dropped.update({item.item: reason for item in items if item.item not in staying})
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
    kept = [items[i] for i in checked_indexes(order, len(items), "compression", arm.compression.name)]
    names = {item.item for item in kept}
    if any(item.item in required and item.item not in names for item in items):
        raise BuildError(
            "evidence.required.omitted", f"compression {arm.compression.name!r} dropped a required item"
        )
    return kept, spent if arm.compression.name != "none" else 0
