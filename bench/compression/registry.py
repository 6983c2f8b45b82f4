"""Compressors by the name used in YAML."""

from __future__ import annotations

from collections.abc import Mapping

from bench.compression.base import Compressor
from bench.compression.extractive import extractive
from bench.compression.none import none
from bench.registry import resolve, takes

COMPRESSORS: Mapping[str, Compressor] = {"extractive": extractive, "none": none}


def compressor(name: str) -> Compressor:
    """The compressor of this name, or of ``module:attribute``.

    Raises:
        RegistryError: There is none, or it is no compressor.
    """
    return resolve(COMPRESSORS, name, takes("question", "rate_bp", "items"), kind="compression")
