"""Retrievers by the name used in YAML; those with an embedding model take ``NAME@MODEL`` too."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bench.registry import resolve, takes
from bench.retrieval.base import Retriever
from bench.retrieval.bm25 import bm25
from bench.retrieval.dense import dense, dense_retriever
from bench.retrieval.full_context import full_context
from bench.retrieval.gold import gold
from bench.retrieval.hybrid import hybrid, hybrid_retriever

RETRIEVERS: Mapping[str, Retriever] = {
    "bm25": bm25,
    "dense": dense,
    "full_context": full_context,
    "gold": gold,
    "hybrid": hybrid,
}
WITH_MODEL: Mapping[str, Callable[[str], Retriever]] = {"dense": dense_retriever, "hybrid": hybrid_retriever}


def retriever(name: str) -> Retriever:
    """The retriever of this name, or of ``module:attribute``. An embedding model is loaded here.

    Raises:
        RegistryError: There is none, it is no retriever, or its model cannot be had.
    """
    base, _, model = name.partition("@")
    if base in WITH_MODEL:
        return WITH_MODEL[base](model)
    return resolve(RETRIEVERS, name, takes("query", "passages"), kind="retrieval")
