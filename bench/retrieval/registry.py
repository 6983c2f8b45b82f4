"""Retrievers by the name used in YAML; those with an embedding model take ``NAME@MODEL`` too.

A retriever of your own may have a method ``ranker(passages) -> (query) -> indexes``, which is asked once a
corpus; without it, it is given all passages of the corpus for every question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bench.registry import resolve, takes
from bench.retrieval.base import Passage, Ranker, Retriever
from bench.retrieval.bm25 import bm25, bm25_ranker
from bench.retrieval.dense import dense, dense_retriever
from bench.retrieval.full_context import full_context
from bench.retrieval.gold import gold, gold_ranker
from bench.retrieval.hybrid import hybrid, hybrid_ranker, hybrid_retriever

RETRIEVERS: Mapping[str, Retriever] = {
    "bm25": bm25,
    "dense": dense,
    "full_context": full_context,
    "gold": gold,
    "hybrid": hybrid,
}
WITH_MODEL: Mapping[str, Callable[[str], Retriever]] = {"dense": dense_retriever, "hybrid": hybrid_retriever}
EVERYTHING = "full_context"  # keeps every passage, whatever k and the pool are
_RANKERS: Mapping[str, Callable[[Sequence[Passage]], Ranker]] = {"bm25": bm25_ranker, "gold": gold_ranker}


def retriever(name: str) -> Retriever:
    """The retriever of this name, or of ``module:attribute``. An embedding model is loaded here.

    Raises:
        RegistryError: There is none, it is no retriever, or its model cannot be had.
    """
    base, _, model = name.partition("@")
    if base in WITH_MODEL:
        return WITH_MODEL[base](model)
    return resolve(RETRIEVERS, name, takes("query", "passages"), kind="retrieval")


def ranker(name: str, passages: Sequence[Passage]) -> Ranker:
    """The retriever of this name over a corpus, indexed here once.

    Raises:
        RegistryError: As :func:`retriever`.
    """
    base, _, model = name.partition("@")
    if base in _RANKERS:
        return _RANKERS[base](passages)
    if base == "dense":
        return dense_retriever(model).ranker(passages)
    if base == "hybrid":
        return hybrid_ranker(dense_retriever(model).ranker(passages), passages)
    found = retriever(name)
    make: Callable[[Sequence[Passage]], Ranker] | None = getattr(found, "ranker", None)
    return make(passages) if make is not None else lambda query: found(query, passages)
