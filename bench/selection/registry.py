"""Selectors by the name used in YAML."""

from __future__ import annotations

from collections.abc import Mapping

from bench.registry import resolve, takes
from bench.selection.base import Selector
from bench.selection.fovea import fovea
from bench.selection.mmr import mmr
from bench.selection.oracle import oracle
from bench.selection.top_k import top_k

SELECTORS: Mapping[str, Selector] = {"fovea": fovea, "mmr": mmr, "oracle": oracle, "top_k": top_k}


def selector(name: str) -> Selector:
    """The selector of this name, or of ``module:attribute``.

    Raises:
        RegistryError: There is none, or it is no selector.
    """
    return resolve(SELECTORS, name, takes("query", "offers"), kind="selection")
