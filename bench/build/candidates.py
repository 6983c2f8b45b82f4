"""What a sample offers: every sentence of every source, and why some may not be used at all.

Rules that this module owns, in this order:

* ``visibility.denied``: the document is of a foreign project, or above the arm's ``max_level`` (an
  unknown level is above every level). Denied items are counted and summed, never named.
* Documents of the same bytes are one source, so their items are candidates once; the first of them that
  is permitted and still valid at the sample's ``as_of`` stands for the source.
* ``freshness.expired``: no document of the source is valid any more (``bench.evidence.age``); under the
  policy ``soft`` expired items stay.
* ``quote_policy.not_quotable``: the tokenizer cannot show the item as it is (``render.lossy``).
* ``duplicate.same_text``: an earlier item has the same text. Items that the user's data requires count as
  earlier than all others, so a required item is never the one that goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.build.base import BuildError
from bench.build.chunking import ChunkCache, ChunkedText
from bench.evidence.age import is_expired
from bench.retrieval.base import Passage
from bench.specs import FreshnessSpec
from capsules.timestamp import parse_time
from capsules.tokenizer import Tokenizer
from capsules.visibility import LEVELS
from tasks.base import SampleInput, SourceDoc, TextRange

HARD = FreshnessSpec()


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A sentence of a source.

    Attributes:
        item: Its span_id.
        place: Position of the document in the sample, then of the chunk in it.
        text: The exact text, without SEP.
        tokens: Item tokens, with SEP.
    """

    item: str
    doc: SourceDoc
    place: tuple[int, int]
    source: str
    start: int
    end: int
    text: str
    tokens: int
    lossy: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """All candidates of a sample.

    Attributes:
        named: Permitted items, by position in the sample and start.
        denied: Items that may not be shown.
        dropped: Reason by span_id, for named items that are out before retrieval.
        required: span_ids that the user's data requires.
        expired: span_ids of sources that are no longer valid, dropped or not.
        texts: Raw text by ContentId, of permitted documents.
    """

    named: tuple[Item, ...]
    denied: tuple[Item, ...]
    dropped: dict[str, str]
    required: frozenset[str]
    expired: frozenset[str]
    texts: dict[str, str]

    @property
    def live(self) -> list[Item]:
        """Items that retrieval may rank."""
        return [item for item in self.named if item.item not in self.dropped]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A document with its cut text."""

    doc: SourceDoc
    order: int
    cut: ChunkedText

    def items(self) -> list[Item]:
        """The document's items, by start."""
        return [
            Item(
                item=f"{self.cut.source}:{i.start}-{i.end}",
                doc=self.doc,
                place=(self.order, i.chunk),
                source=self.cut.source,
                start=i.start,
                end=i.end,
                text=self.cut.text[i.start : i.end],
                tokens=i.tokens,
                lossy=i.lossy,
            )
            for i in self.cut.items
        ]


def cut_sources(sample: SampleInput, chunking: str, tokenizer: Tokenizer, cache: ChunkCache) -> list[Source]:
    """All documents of the sample, cut, in sample order.

    Raises:
        UnicodeEncodeError: A lone surrogate in a document or the question.
    """
    sample.question.encode()  # tokenizers answer to a lone surrogate each in its own way
    return [
        Source(doc=doc, order=order, cut=cache.get(doc.text, chunking, tokenizer))
        for order, doc in enumerate(sample.sources)
    ]


def gather(
    sample: SampleInput, sources: Sequence[Source], max_level: str, freshness: FreshnessSpec = HARD
) -> Candidates:
    """Sort a sample's items into usable, dropped and denied.

    Raises:
        BuildError: ``evidence.required.omitted``: an item that the user's data requires may not or
            cannot be shown; ``source.missing``: a required range that is of no item.
    """
    permitted = [s for s in sources if is_permitted(s.doc, sample.project, max_level)]
    denied = [i for s in sources if not is_permitted(s.doc, sample.project, max_level) for i in s.items()]
    now = parse_time(sample.as_of)
    standing: dict[str, Source] = {}
    valid_first = sorted(permitted, key=lambda s: is_expired(s.doc, freshness, now))  # stable
    for source in valid_first:
        standing.setdefault(source.cut.source, source)
    chosen = sorted(standing.values(), key=lambda s: s.order)
    named = [item for source in chosen for item in source.items()]
    expired = {i.item for i in named if is_expired(i.doc, freshness, now)}
    hard = freshness.policy == "hard"
    dropped = {i.item: "freshness.expired" for i in named if hard and i.item in expired}
    dropped |= {i.item: "quote_policy.not_quotable" for i in named if i.lossy and i.item not in dropped}
    required = _required(sample, permitted, named)
    seen: set[str] = set()
    for item in sorted(named, key=lambda i: i.item not in required):  # stable: required ones first
        if item.item not in dropped:
            if item.text in seen and item.item not in required:
                dropped[item.item] = "duplicate.same_text"
            seen.add(item.text)
    for item in named:
        if item.item in required and item.item in dropped:
            reason = dropped[item.item]
            raise BuildError("evidence.required.omitted", f"required item {item.item} is out: {reason}")
    return Candidates(
        named=tuple(named),
        denied=tuple(denied),
        dropped=dropped,
        required=frozenset(required),
        expired=frozenset(expired),
        texts={s.cut.source: s.cut.text for s in permitted},
    )


def passages(items: Iterable[Item], sources: Sequence[Source]) -> dict[tuple[int, int], Passage]:
    """The chunks that hold these items, by place, in place order."""
    by_order = {source.order: source for source in sources}
    found: dict[tuple[int, int], Passage] = {}
    for place in sorted({item.place for item in items}):
        source = by_order[place[0]]
        start, end = source.cut.chunks[place[1]]
        text = source.cut.text[start:end]
        found[place] = Passage(doc_id=source.doc.doc_id, start=start, end=end, text=text)
    return found


def is_permitted(doc: SourceDoc, project: str, max_level: str) -> bool:
    """Whether a document may be shown at all."""
    known = doc.level in LEVELS
    return known and doc.project == project and LEVELS.index(doc.level) <= LEVELS.index(max_level)


def items_at(place: TextRange, items: Iterable[Item], doc_source: str | None) -> list[Item]:
    """The items of a document's source that overlap a range of it."""
    return [i for i in items if i.source == doc_source and i.start < place.end and place.start < i.end]


def _required(sample: SampleInput, permitted: Sequence[Source], named: Sequence[Item]) -> set[str]:
    by_doc = {source.doc.doc_id: source.cut.source for source in permitted}
    known = {doc.doc_id for doc in sample.sources}
    required: set[str] = set()
    for place in sample.required:
        if place.doc_id in known and place.doc_id not in by_doc:
            raise BuildError("evidence.required.omitted", "a required range is in a denied document")
        found = items_at(place, named, by_doc.get(place.doc_id))
        if not found:
            raise BuildError(
                "source.missing",
                f"expected a sentence at {place.doc_id!r} {place.start}-{place.end} (required), found none",
            )
        required.update(item.item for item in found)
    return required
