"""Retrievers by the name used in YAML."""

from __future__ import annotations

from collections.abc import Mapping

from bench.registry import resolve, takes
from bench.retrieval.base import Retriever
from bench.retrieval.bm25 import bm25
from bench.retrieval.full_context import full_context
from bench.retrieval.gold import gold

RETRIEVERS: Mapping[str, Retriever] = {"bm25": bm25, "full_context": full_context, "gold": gold}


def retriever(name: str) -> Retriever:
    """The retriever of this name, or of ``module:attribute``.

    Raises:
        RegistryError: There is none, or it is no retriever.
    """
    return resolve(RETRIEVERS, name, takes("query", "passages"), kind="retrieval")
