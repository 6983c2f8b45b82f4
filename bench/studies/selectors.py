"""What selectors find for their tokens: gold evidence shown, sample by sample, at equal costs.

Rules that this module owns:

* The selection stage alone is measured, on the retriever's pool: what a builder keeps beside it (the best
  sentence of the first hit) is left out for all contenders alike; what the user's data requires is not.
* Tokens are item tokens and headers, as ``budget.evidence_limit`` bounds them. *At a budget* every contender
  may spend as much; *at the place* each may spend in each sample what FOVEA's place costs there.
* A gold span is shown if every item that holds a part of it is. A sample's recall is the share of its gold
  spans that are shown; it is sufficient if all are. A span that no candidate holds is never shown.
* Excess is what was spent over the smallest gold cover (the oracle without a budget), in the samples where
  the evidence is sufficient.
* A sample that a stage refuses counts as nothing shown, in every denominator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from bench.build.base import BuildError
from bench.build.candidates import Item, cut_sources, gather
from bench.build.chunking import ChunkCache
from bench.build.narrowing import rank
from bench.build.offers import CHUNK, SENTENCE, UNITS, before, offers
from bench.selection.base import Offer, SelectionQuery
from bench.selection.bill import header_tokens
from bench.selection.registry import selector
from bench.selection.stage import Chosen, choose
from bench.specs import ArmSpec, SelectionSpec
from capsules.tokenizer import Tokenizer
from tasks.base import Sample

EVERYTHING = 1 << 30  # more chunks or sentences than any sample has
PLACE = "place"

CONTENDERS: Mapping[str, SelectionSpec] = {
    "fovea": SelectionSpec(name="fovea", unit=SENTENCE, k=EVERYTHING, fill=True),
    "top_k": SelectionSpec(name="top_k", unit=CHUNK, k=EVERYTHING),
    "top_k_sentence": SelectionSpec(name="top_k", unit=SENTENCE, k=EVERYTHING),
    "mmr": SelectionSpec(name="mmr", unit=SENTENCE, k=EVERYTHING),
    "oracle": SelectionSpec(name="oracle", unit=SENTENCE, k=EVERYTHING),
}
"""Who is compared; ``oracle`` is an upper bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A sample before selection.

    Attributes:
        offered: What there is to choose from, by unit; empty with ``code``.
        needed: For each gold span the items that hold it; ``None`` where some item of it is no candidate.
        code: Why nothing can be selected, ``None`` where it can.
    """

    sample: Sample
    offered: Mapping[str, Sequence[Offer]]
    needed: tuple[frozenset[str] | None, ...]
    code: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What one contender shows of one sample.

    Attributes:
        recall: Share of gold spans.
        sufficient: Whether all are shown.
        tokens: Spent.
        excess: Tokens over the smallest gold cover; ``None`` where the evidence is not sufficient.
    """

    recall: float
    sufficient: bool
    tokens: int
    excess: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One contender at one budget, over all samples in their order."""

    contender: str
    budget: str  # tokens, or "place"
    shown: tuple[Shown, ...]


def ask(samples: Sequence[Sample], arm: ArmSpec, tokenizer: Tokenizer) -> list[Asked]:
    """The samples with gold spans, retrieved and cut into what selectors are offered.

    Raises:
        RegistryError: The retriever is unknown.
    """
    cache = ChunkCache()
    return [_ask(sample, arm, tokenizer, cache) for sample in samples if sample.gold.spans]


def _ask(sample: Sample, arm: ArmSpec, tokenizer: Tokenizer, cache: ChunkCache) -> Asked:
    try:
        sources = cut_sources(sample.input, arm.retrieval.chunking, tokenizer, cache)
        candidates = gather(sample.input, sources, arm.authority.max_level)
        ranked = rank(sample.input.question, candidates.live, sources, arm, None)
    except BuildError as error:
        return Asked(sample=sample, offered={}, needed=(None,) * len(sample.gold.spans), code=error.code)
    follows = before(sources)
    return Asked(
        sample=sample,
        offered={
            unit: offers(sample.input.question, unit, ranked, candidates.live, follows, candidates.required)
            for unit in UNITS
        },
        needed=_needed(sample, [item for source in sources for item in source.items()], candidates.live),
        code=None,
    )


def _needed(sample: Sample, items: Sequence[Item], live: Sequence[Item]) -> tuple[frozenset[str] | None, ...]:
    usable = {item.item for item in live}
    needed: list[frozenset[str] | None] = []
    for span in sample.gold.spans:
        held = frozenset(
            item.item
            for item in items
            if item.doc.doc_id == span.doc_id and item.start < span.end and span.start < item.end
        )
        needed.append(held if held and held <= usable else None)
    return tuple(needed)


def compare(
    asked: Sequence[Asked],
    contenders: Mapping[str, SelectionSpec],
    budgets: Sequence[int],
    tokenizer: Tokenizer,
    advance: Callable[[int], object],
) -> list[Cell]:
    """Every contender at every budget and at the place, in this order."""
    header = header_tokens(tokenizer)
    covers = [_spend(one, contenders["oracle"], header) for one in asked]
    places = [_spend(one, replace(contenders["fovea"], fill=False), header) for one in asked]
    cells: list[Cell] = []
    for budget in (*map(str, budgets), PLACE):
        for name, spec in contenders.items():
            shown = []
            for one, cover, place in zip(asked, covers, places, strict=True):
                if budget == PLACE:
                    limit = place.tokens if place is not None else 0
                    chosen = place if name == "fovea" else _spend(one, replace(spec, tokens=limit), header)
                else:
                    chosen = _spend(one, replace(spec, tokens=int(budget)), header)
                shown.append(_shown(one, chosen, cover))
                advance(1)
            cells.append(Cell(contender=name, budget=budget, shown=tuple(shown)))
    return cells


def _spend(one: Asked, spec: SelectionSpec, header: int) -> Chosen | None:
    """What the contender takes; ``None`` where there is nothing to take from or the stage refuses."""
    if one.code is not None:
        return None
    query = SelectionQuery(
        question=one.sample.input.question,
        k=spec.k,
        gold=one.sample.gold if spec.name == "oracle" else None,
        ref=one.sample.input.sample_id,
        spec=spec,
        header_tokens=header,
        header_each=False,
    )
    try:
        return choose(selector(spec.name), query, one.offered[spec.unit])
    except BuildError:
        return None


def _shown(one: Asked, chosen: Chosen | None, cover: Chosen | None) -> Shown:
    if chosen is None:
        return Shown(recall=0.0, sufficient=False, tokens=0, excess=None)
    hits = sum(needed is not None and needed <= chosen.items for needed in one.needed)
    sufficient = hits == len(one.needed)
    return Shown(
        recall=hits / len(one.needed),
        sufficient=sufficient,
        tokens=chosen.tokens,
        excess=chosen.tokens - cover.tokens if sufficient and cover is not None else None,
    )
