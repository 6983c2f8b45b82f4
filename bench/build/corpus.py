"""A corpus: documents that all samples of a task share, of which a retriever finds a pool for each.

Rules that this module owns:

* The pool is the chunks that the arm's retriever ranks first (``retrieval.pool``), and those that hold what
  the user's data requires. Candidates are the items of the documents of these chunks, whole: a prompt
  accounts for every sentence of a source that it shows, and tokens of an item depend on its source alone.
* The rest is one omission, ``retrieval.outside_pool``: how many items, and the ContentId of the canonical
  array of their sorted ids.
* A document that may not be shown is neither ranked nor in the rest: its items are denied, the same for
  every question, so that neither pool nor digest says anything about it.
* Documents of the same bytes are one source; the first that is permitted and still valid stands for it. An
  expired one is ranked: if it is in the pool, it is named with its reason.
* A naive arm searches all documents, by no rule.
* Texts are cut and counted once a (tokenizer, chunking), and indexed once a retriever and view, for the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bench.build.candidates import Item, Outside, Place, Pool, Source, is_permitted, standing
from bench.build.chunking import chunk_text
from bench.build.indexes import checked_indexes
from bench.retrieval.base import Passage, Query
from bench.retrieval.registry import ranker
from bench.specs import UPPER_BOUNDS, ArmSpec, Chunking, FreshnessSpec
from capsules.content_id import content_id
from capsules.timestamp import parse_time
from capsules.tokenizer import Tokenizer
from tasks.base import Gold, SampleInput, SourceDoc, TextRange


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What decides which documents an arm may search."""

    project: str
    max_level: str
    as_of: str
    freshness: FreshnessSpec


MOST_VIEWS = 16


class Corpus:
    """The documents of a task, with everything that is computed of them once a run.

    Args:
        docs: The documents; their ids are distinct.
    """

    def __init__(self, docs: Sequence[SourceDoc]) -> None:
        self.docs = tuple(docs)
        self.ids: Mapping[str, str] = {doc.doc_id: content_id(doc.text.encode()) for doc in docs}
        self._cut: dict[tuple[str, Chunking], list[Source]] = {}
        self._views: dict[tuple[str, Chunking, str, Rules | None], View] = {}

    def pool(
        self,
        sample: SampleInput,
        arm: ArmSpec,
        tokenizer: Tokenizer,
        gold: Gold | None,
        *,
        rules: bool = True,
    ) -> Pool:
        """What the arm's retriever finds for a sample.

        Args:
            sample: Has no sources of its own.
            arm: Names retriever, chunking and pool.
            tokenizer: Counts the items.
            gold: For upper bounds.
            rules: Whether visibility and standing decide what is searched.

        Raises:
            BuildError: The retriever answered with indexes that are none, or needs gold and has none.
            RegistryError: There is no such retriever.
        """
        sample.question.encode()  # tokenizers answer to a lone surrogate each in its own way
        limits = None
        if rules:
            limits = Rules(
                project=sample.project,
                max_level=arm.authority.max_level,
                as_of=sample.as_of,
                freshness=arm.freshness,
            )
        view = self.view(arm.retrieval.name, arm.retrieval.chunking, tokenizer, limits)
        seen = gold if arm.retrieval.name in UPPER_BOUNDS else None
        query = Query(question=sample.question, k=arm.retrieval.pool, gold=seen)
        return view.pool(query, sample.required if rules else ())

    def view(self, name: str, chunking: Chunking, tokenizer: Tokenizer, rules: Rules | None) -> View:
        """The corpus under these rules (a naive arm has none), cut and indexed for this retriever once."""
        key = (tokenizer.tokenizer_digest, chunking, name, rules)
        if key not in self._views:
            while len(self._views) >= MOST_VIEWS:
                del self._views[next(iter(self._views))]  # the oldest: samples differ in as_of
            self._views[key] = View(self.sources(chunking, tokenizer), name, rules)
        return self._views[key]

    def sources(self, chunking: Chunking, tokenizer: Tokenizer) -> Sequence[Source]:
        """All documents, cut, in their order."""
        key = (tokenizer.tokenizer_digest, chunking)
        if key not in self._cut:
            self._cut[key] = [
                Source(doc=doc, order=order, cut=chunk_text(doc.text, chunking, tokenizer))
                for order, doc in enumerate(self.docs)
            ]
        return self._cut[key]


class View:
    """The part of a corpus that one kind of arm may search, indexed.

    Attributes:
        places, passages: The chunks that are ranked, in the order of the corpus.
    """

    def __init__(self, sources: Sequence[Source], name: str, rules: Rules | None) -> None:
        self._name = name
        open_to = list(sources)
        self._denied: tuple[Item, ...] = ()
        if rules is not None:
            open_to = [s for s in sources if is_permitted(s.doc, rules.project, rules.max_level)]
            shown = {s.order for s in open_to}
            self._denied = tuple(i for s in sources if s.order not in shown for i in s.items())
            self._source_of = {s.doc.doc_id: s.cut.source for s in open_to}
            open_to = standing(open_to, rules.freshness, parse_time(rules.as_of))
        else:
            self._source_of = {s.doc.doc_id: s.cut.source for s in sources}
        self._sources = {s.order: s for s in open_to}
        self._order_of = {s.cut.source: s.order for s in open_to}
        self.places: list[Place] = [(s.order, n) for s in open_to for n in range(len(s.cut.chunks))]
        self.passages: list[Passage] = [self._sources[order].passage(n) for order, n in self.places]
        self._rank = ranker(name, self.passages)
        self._rest = _Rest(open_to) if rules is not None else None
        self._pooled = lru_cache(maxsize=1 << 16)(self._counted)

    def ranked(self, query: Query) -> list[int]:
        """Indexes of passages, best first.

        Raises:
            BuildError: ``stage.indexes``, ``gold.missing``.
        """
        return checked_indexes(self._rank(query), len(self.passages), "retrieval", self._name)

    def pool(self, query: Query, required: Iterable[TextRange]) -> Pool:
        """The pool of a question and what must be in it."""
        order = [self.places[i] for i in self.ranked(query)]
        order = list(dict.fromkeys([*order, *(place for one in required for place in self._places_at(one))]))
        documents = sorted({document for document, _ in order})
        return Pool(
            sources=tuple(self._pooled(document) for document in documents),
            order=tuple(order),
            denied=self._denied,
            outside=self._rest.without(documents) if self._rest is not None else None,
            source_of=self._source_of,
        )

    def _counted(self, document: int) -> Source:
        """A document with its items, made when a pool first holds it."""
        source = self._sources[document]
        return Source(doc=source.doc, order=source.order, cut=source.cut, counted=source.items())

    def _places_at(self, place: TextRange) -> list[Place]:
        order = self._order_of.get(self._source_of.get(place.doc_id, ""))
        if order is None:
            return []
        chunks = self._sources[order].cut.chunks
        return [(order, n) for n, c in enumerate(chunks) if c.start < place.end and place.start < c.end]


class _Rest:
    """The ids of a view's items as one canonical array, from which pools are cut out.

    Sorted ids stand together by source, for all ids begin with their source and these are of one length.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._span: dict[int, tuple[int, int]] = {}
        blocks: list[bytes] = []
        at = 0
        for source in sorted(sources, key=lambda s: s.cut.source):
            block = _block(f"{source.cut.source}:{i.start}-{i.end}" for i in source.cut.items)
            self._span[source.order] = (at, at + len(block))
            blocks.append(block)
            at += len(block)
        self._stream = memoryview(b"".join(blocks))
        self._counts = {source.order: len(source.cut.items) for source in sources}
        self._total = sum(self._counts.values())

    def without(self, documents: Sequence[int]) -> Outside | None:
        """What is left of the corpus beside these documents."""
        count = self._total - sum(self._counts[document] for document in documents)
        if not count:
            return None
        parts: list[bytes | memoryview] = []
        at = 0
        for start, end in sorted(self._span[document] for document in documents):
            parts += [self._stream[at:start]] * (at < start)
            at = end
        parts += [self._stream[at:]] * (at < len(self._stream))
        parts[0] = parts[0][1:]  # its comma: no item stands before it
        return Outside(count=count, digest=content_id(b"".join((b"[", *parts, b"]"))))


def _block(ids: Iterable[str]) -> bytes:
    """Sorted ids in JSON, each behind a comma; they hold nothing that JSON escapes."""
    return "".join(f',"{name}"' for name in sorted(ids)).encode()
