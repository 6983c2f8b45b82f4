"""Recall@k: how much of the gold evidence the first k passages hold, by retriever.

Rules that this module owns:

* Passages are exactly those that a builder hands to a retriever: the chunks of permitted, valid documents.
* A gold span is found if every passage that holds a part of it is among the first k. A span that lies in no
  passage (its document is denied or expired) is never found and stays in the denominator.
* A sample's recall is the share of its gold spans that are found; the mean is over samples with gold spans,
  and so is the bootstrap (``bench.metrics.bootstrap``).
* A retriever is asked once a (sample, k): nothing is assumed about its shorter answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from bench.build.candidates import cut_sources, gather, passages
from bench.build.chunking import ChunkCache
from bench.metrics.bootstrap import bootstrap_means
from bench.retrieval.base import Passage, Query
from bench.retrieval.registry import retriever
from bench.specs import UPPER_BOUNDS
from bench.tokenizers import ByteTokenizer
from tasks.base import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRow:
    """Recall of one retriever at one k.

    Attributes:
        n: Samples with gold spans.
        spans: Their gold spans.
        mean_bp: Mean recall, in basis points; ``None`` without samples.
        low_bp, high_bp: Its 95 % interval; ``None`` for fewer than two samples, and where all samples
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A sample's passages, and for each gold span the indexes that hold it (``None``: some are missing)."""

    sample: Sample
    texts: tuple[Passage, ...]
    needed: tuple[frozenset[int] | None, ...]


def prepare(samples: Sequence[Sample], chunk: str, max_level: str) -> list[Asked]:
    """The samples with gold spans, cut into passages.

    Raises:
        BuildError: Unknown chunking, or a sample whose required evidence may not be shown.
    """
    cache, tokenizer, found = ChunkCache(), ByteTokenizer(), []
    for sample in samples:
        if not sample.gold.spans:
            continue
        sources = cut_sources(sample.input, chunk, tokenizer, cache)
        chunks = passages(gather(sample.input, sources, max_level).live, sources)
        index = {
            (sources[order].cut.source, number): i for i, (order, number) in enumerate(chunks)
        }  # by bytes: documents of the same bytes are one source
        cuts = {source.doc.doc_id: source.cut for source in sources}
        needed = []
        for span in sample.gold.spans:
            cut = cuts[span.doc_id]
            parts = [
                index.get((cut.source, number))
                for number, (start, end) in enumerate(cut.chunks)
                if start < span.end and span.start < end
            ]
            whole = frozenset(i for i in parts if i is not None)
            needed.append(whole if parts and None not in parts else None)
        found.append(Asked(sample=sample, texts=tuple(chunks.values()), needed=tuple(needed)))
    return found


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
    vectors: list[list[float]] = []
    for name, k in cells:
        find, bound = retriever(name), name in UPPER_BOUNDS
        values = []
        for one in asked:
            query = Query(question=one.sample.input.question, k=k, gold=one.sample.gold if bound else None)
            first = set(find(query, one.texts))
            hits = sum(needed is not None and needed <= first for needed in one.needed)
            values.append(hits / len(one.needed))
            advance(1)
        vectors.append(values)
    intervals = bootstrap_means(vectors, draws=draws, seed=seed)
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


def _bp(share: float) -> int:
    return round(share * 10_000)
