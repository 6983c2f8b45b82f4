"""What a sample offers: every sentence of every source, and why some may not be used at all.

The sources are those of the sample or, where the task brings a corpus, the documents of the retriever's
pool (``bench.build.corpus``).

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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.build.base import BuildError
from bench.build.chunking import ChunkCache, ChunkedText, TooManyItemsError
from bench.evidence.age import is_expired
from bench.retrieval.base import Passage
from bench.specs import Chunking, FreshnessSpec
from capsules.strict_json import MAX_ITEMS
from capsules.timestamp import parse_time
from capsules.tokenizer import Tokenizer
from capsules.visibility import LEVELS
from tasks.base import SampleInput, SourceDoc, TextRange

HARD = FreshnessSpec()
MOST_LISTED = 2 * MAX_ITEMS  # of one source: a capsule's array of kept items and one of omissions

Place = tuple[int, int]  # position of the document, then of the chunk in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A sentence of a source.

    Attributes:
        item: Its span_id.
        places: The chunks that hold it: position of the document in the sample, then of the chunk in it.
        text: The exact text, without SEP.
        tokens: Item tokens, with SEP.
    """

    item: str
    doc: SourceDoc
    places: tuple[Place, ...]
    source: str
    start: int
    end: int
    text: str
    tokens: int
    lossy: bool

    @property
    def place(self) -> Place:
        """The first chunk that holds it."""
        return self.places[0]


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
    """A document with its cut text.

    Attributes:
        order: Position in the sample or the corpus.
        counted: Its items, where they are kept between samples.
    """

    doc: SourceDoc
    order: int
    cut: ChunkedText
    counted: tuple[Item, ...] | None = None

    def items(self) -> tuple[Item, ...]:
        """The document's items, by start."""
        if self.counted is not None:
            return self.counted
        return tuple(
            Item(
                item=f"{self.cut.source}:{i.start}-{i.end}",
                doc=self.doc,
                places=tuple((self.order, number) for number in i.chunks),
                source=self.cut.source,
                start=i.start,
                end=i.end,
                text=self.cut.text[i.start : i.end],
                tokens=i.tokens,
                lossy=i.lossy,
            )
            for i in self.cut.items
        )

    def passage(self, number: int) -> Passage:
        """A chunk of the document."""
        chunk = self.cut.chunks[number]
        text = self.cut.text[chunk.start : chunk.end]
        return Passage(doc_id=self.doc.doc_id, start=chunk.start, end=chunk.end, text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """The rest of a corpus: how many items, and the ContentId of the canonical array of their sorted ids."""

    count: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """What a retriever found in a corpus for one sample.

    Attributes:
        sources: The documents of its chunks, by position in the corpus.
        order: The chunks, best first.
        denied: The corpus's items that may not be shown: the same for every question.
        outside: Everything else; ``None`` where nothing is left, and for naive arms.
        source_of: ContentId by doc_id, of every document of the corpus that may be shown.
    """

    sources: tuple[Source, ...]
    order: tuple[Place, ...]
    denied: tuple[Item, ...]
    outside: Outside | None
    source_of: Mapping[str, str]


def cut_sources(
    sample: SampleInput,
    chunking: Chunking,
    tokenizer: Tokenizer,
    cache: ChunkCache,
    max_level: str | None = None,
) -> list[Source]:
    """All documents of the sample, cut, in sample order.

    Args:
        sample: Has the documents.
        chunking: What a chunk is.
        tokenizer: Counts the items.
        cache: Keeps what was cut.
        max_level: The highest level that the arm may show, where capsules are to list every item of what
            may be shown: a document with too many is then refused before the rest of it is cut.

    Raises:
        BuildError: ``schema.limit``: a document has more than ``MOST_LISTED`` items.
        UnicodeEncodeError: A lone surrogate in a document or the question.
    """
    sample.question.encode()  # tokenizers answer to a lone surrogate each in its own way
    found = []
    for order, doc in enumerate(sample.sources):
        listed = max_level is not None and is_permitted(doc, sample.project, max_level)
        try:
            cut = cache.get(doc.text, chunking, tokenizer, MOST_LISTED if listed else None)
        except TooManyItemsError as error:
            raise BuildError(
                "schema.limit",
                f"document {doc.doc_id}: expected at most {MOST_LISTED:,} sentences, found more: a capsule "
                f"lists each, at most {MAX_ITEMS:,} kept and {MAX_ITEMS:,} omitted; give it as documents of "
                "a corpus, of which only the retriever's pool is listed",
            ) from error
        found.append(Source(doc=doc, order=order, cut=cut))
    return found


def gather(
    sample: SampleInput,
    sources: Sequence[Source],
    max_level: str,
    freshness: FreshnessSpec = HARD,
    pool: Pool | None = None,
) -> Candidates:
    """Sort a sample's items into usable, dropped and denied.

    Args:
        sample: The sample.
        sources: Its documents, or those of the pool.
        max_level: The highest level that the arm may show.
        freshness: What the age of a source does.
        pool: Where the sources come from, if they are not the sample's own.

    Raises:
        BuildError: ``evidence.required.omitted``: an item that the user's data requires may not or
            cannot be shown; ``source.missing``: a required range that is of no item.
    """
    permitted = [s for s in sources if is_permitted(s.doc, sample.project, max_level)]
    denied = [i for s in sources if not is_permitted(s.doc, sample.project, max_level) for i in s.items()]
    denied += pool.denied if pool is not None else ()
    source_of = {s.doc.doc_id: s.cut.source for s in permitted} if pool is None else pool.source_of
    now = parse_time(sample.as_of)
    named = [item for source in standing(permitted, freshness, now) for item in source.items()]
    expired = {i.item for i in named if is_expired(i.doc, freshness, now)}
    hard = freshness.policy == "hard"
    dropped = {i.item: "freshness.expired" for i in named if hard and i.item in expired}
    dropped |= {i.item: "quote_policy.not_quotable" for i in named if i.lossy and i.item not in dropped}
    required = _required(sample, source_of, named)
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


def standing(permitted: Iterable[Source], freshness: FreshnessSpec, now: int) -> list[Source]:
    """One document a source: the first that is still valid, else the first; in their order."""
    chosen: dict[str, Source] = {}
    for source in sorted(
        permitted, key=lambda s: is_expired(s.doc, freshness, now)
    ):  # stable: valid ones first
        chosen.setdefault(source.cut.source, source)
    return sorted(chosen.values(), key=lambda s: s.order)


def passages(items: Iterable[Item], sources: Sequence[Source]) -> dict[Place, Passage]:
    """The chunks that hold these items, by place, in place order."""
    by_order = {source.order: source for source in sources}
    places = sorted({place for item in items for place in item.places})
    return {place: by_order[place[0]].passage(place[1]) for place in places}


def is_permitted(doc: SourceDoc, project: str, max_level: str) -> bool:
    """Whether a document may be shown at all."""
    known = doc.level in LEVELS
    return known and doc.project == project and LEVELS.index(doc.level) <= LEVELS.index(max_level)


def items_at(place: TextRange, items: Iterable[Item], doc_source: str | None) -> list[Item]:
    """The items of a document's source that overlap a range of it."""
    return [i for i in items if i.source == doc_source and i.start < place.end and place.start < i.end]


def _required(sample: SampleInput, source_of: Mapping[str, str], named: Sequence[Item]) -> set[str]:
    own = {doc.doc_id for doc in sample.sources}
    required: set[str] = set()
    for place in sample.required:
        if place.doc_id not in source_of and (place.doc_id in own or not own):  # not own: of a corpus
            raise BuildError("evidence.required.omitted", "a required range is in a denied document")
        found = items_at(place, named, source_of.get(place.doc_id))
        if not found:
            raise BuildError(
                "source.missing",
                f"expected a sentence at {place.doc_id!r} {place.start}-{place.end} (required), found none",
            )
        required.update(item.item for item in found)
    return required
