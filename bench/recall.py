"""Recall@k: how much of the gold evidence the first k passages hold, by retriever.

Rules that this module owns:

* Passages are exactly those that a builder hands to a retriever: the chunks of permitted, valid documents;
  of a corpus, the chunks of permitted documents, indexed once.
* A gold span is found if each of its sentences is in a passage among the first k. A span that lies in no
  passage (its document is denied or expired) is never found and stays in the denominator.
* A sample's recall is the share of its gold spans that are found; the mean is over samples with gold spans,
  and so is the bootstrap (``bench.metrics.bootstrap``), which draws sets of sources.
* A retriever is asked once a (sample, k): nothing is assumed about its shorter answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from bench.build.candidates import cut_sources, gather, passages
from bench.build.chunking import ChunkCache, ChunkedText
from bench.build.corpus import Corpus, Rules
from bench.metrics.bootstrap import bootstrap_means
from bench.metrics.clusters import cluster_of
from bench.retrieval.base import Passage, Query, Ranker
from bench.retrieval.registry import EVERYTHING, ranker, retriever
from bench.specs import UPPER_BOUNDS, Chunking, FreshnessSpec
from bench.tokenizers import ByteTokenizer
from tasks.base import Sample, SourceDoc, TextRange


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRow:
    """Recall of one retriever at one k.

    Attributes:
        n: Samples with gold spans.
        spans: Their gold spans.
        mean_bp: Mean recall, in basis points; ``None`` without samples.
        low_bp, high_bp: Its 95 % interval; ``None`` for fewer than two sets of sources, and where all samples
            have the same recall: the bootstrap cannot see an uncertainty there.
    """

    retriever: str
    k: int
    n: int
    spans: int
    mean_bp: int | None
    low_bp: int | None
    high_bp: int | None

    def to_value(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {name: getattr(self, name) for name in self.__slots__}


Needed = tuple[frozenset[int], ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A sample, what is searched for it, and what must be found.

    Attributes:
        texts: Its passages.
        shared: Whether they are the corpus's, the same object for every sample.
        needed: For each gold span the passages that hold each sentence of it; ``None``: a part of it lies
            in no passage.
    """

    sample: Sample
    texts: Sequence[Passage]
    shared: bool
    needed: tuple[Needed, ...]


def prepare(
    samples: Sequence[Sample], docs: Sequence[SourceDoc], chunking: Chunking, max_level: str
) -> list[Asked]:
    """The samples with gold spans, cut into passages.

    Args:
        samples: Of the task.
        docs: Its corpus; empty where samples have sources of their own.
        chunking: What a passage is.
        max_level: Documents above it are not searched.

    Raises:
        BuildError: Unknown chunking, or a sample whose required evidence may not be shown.
    """
    cache, tokenizer, found = ChunkCache(), ByteTokenizer(), []
    corpus = Corpus(docs)
    for sample in samples:
        if not sample.gold.spans:
            continue
        if docs:
            rules = Rules(
                project=sample.input.project,
                max_level=max_level,
                as_of=sample.input.as_of,
                freshness=FreshnessSpec(),
            )
            view = corpus.view(EVERYTHING, chunking, tokenizer, rules)
            sources, places, texts = corpus.sources(chunking, tokenizer), view.places, view.passages
        else:
            sources = cut_sources(sample.input, chunking, tokenizer, cache)
            chunks = passages(gather(sample.input, sources, max_level).live, sources)
            places, texts = list(chunks), list(chunks.values())
        by_order = {source.order: source for source in sources}
        # by bytes: documents of the same bytes are one source
        index = {(by_order[order].cut.source, number): i for i, (order, number) in enumerate(places)}
        cuts = {source.doc.doc_id: source.cut for source in sources}
        needed = tuple(_needed(cuts[span.doc_id], span, index) for span in sample.gold.spans)
        found.append(Asked(sample=sample, texts=texts, shared=bool(docs), needed=needed))
    return found


def _needed(cut: ChunkedText, span: TextRange, index: Mapping[tuple[str, int], int]) -> Needed:
    """The passages that hold each sentence of a span."""
    held = [
        frozenset(i for number in item.chunks if (i := index.get((cut.source, number))) is not None)
        for item in cut.items
        if item.start < span.end and span.start < item.end
    ]
    return tuple(held) if held and all(held) else None


def measure(
    asked: Sequence[Asked],
    names: Sequence[str],
    ks: Sequence[int],
    *,
    draws: int,
    seed: int,
    advance: Callable[[int], object],
) -> list[RecallRow]:
    """Recall of every retriever at every k, in the order given.

    Raises:
        RegistryError: A retriever's name is unknown, or its model cannot be had.
    """
    cells = [(name, k) for name in names for k in ks]
    askers = {name: _Asker(name) for name in names}
    vectors: list[list[float]] = []
    for name, k in cells:
        values, bound = [], name in UPPER_BOUNDS
        for one in asked:
            query = Query(question=one.sample.input.question, k=k, gold=one.sample.gold if bound else None)
            first = askers[name](query, one)
            hits = sum(
                needed is not None and not any(first.isdisjoint(held) for held in needed)
                for needed in one.needed
            )
            values.append(hits / len(one.needed))
            advance(1)
        vectors.append(values)
    clusters = [cluster_of(_texts(one.sample), place) for place, one in enumerate(asked)]
    intervals = bootstrap_means(vectors, draws=draws, seed=seed, clusters=[clusters] * len(vectors))
    return [
        RecallRow(
            retriever=name,
            k=k,
            n=len(values),
            spans=sum(len(one.needed) for one in asked),
            mean_bp=_bp(fsum(values) / len(values)) if values else None,
            low_bp=_bp(interval.low) if interval and not interval.flat else None,
            high_bp=_bp(interval.high) if interval and not interval.flat else None,
        )
        for (name, k), values, interval in zip(cells, vectors, intervals, strict=True)
    ]


def _texts(sample: Sample) -> list[str]:
    return [doc.text for doc in sample.input.sources]


class _Asker:
    """A retriever that indexes what several samples share, once."""

    def __init__(self, name: str) -> None:
        self._name, self._find = name, retriever(name)
        self._rankers: dict[int, Ranker] = {}

    def __call__(self, query: Query, one: Asked) -> set[int]:
        if not one.shared:
            return set(self._find(query, one.texts))
        key = id(one.texts)  # alive as long as the samples
        if key not in self._rankers:
            self._rankers[key] = ranker(self._name, one.texts)
        return set(self._rankers[key](query))


def _bp(share: float) -> int:
    return round(share * 10_000)
