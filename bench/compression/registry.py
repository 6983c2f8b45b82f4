"""Compressors by the name used in YAML.

Those of the mode ``items`` are functions. Those that write texts anew are known here by name alone; who
answers for them is in ``bench.compression_stage``. ``module:attribute`` is a function of either kind: the
mode says which.
"""

from __future__ import annotations

from collections.abc import Mapping

from bench.compression.base import ITEMS, Compressor, TextCompressor
from bench.compression.extractive import extractive
from bench.compression.none import none
from bench.registry import RegistryError, resolve, takes

COMPRESSORS: Mapping[str, Compressor] = {"extractive": extractive, "none": none}

SELF_INFORMATION, LLMLINGUA, LLMLINGUA2 = "self_information", "llmlingua", "llmlingua2"
LOSSY = (LLMLINGUA, LLMLINGUA2, SELF_INFORMATION)
LIBRARY = (LLMLINGUA, LLMLINGUA2)


def compressor(name: str) -> Compressor:
    """The compressor of whole items of this name, or of ``module:attribute``.

    Raises:
        RegistryError: There is none, or it is no compressor.
    """
    return resolve(COMPRESSORS, name, takes("question", "rate_bp", "items"), kind="compression")


def text_compressor(name: str) -> TextCompressor:
    """The function of ``module:attribute`` that writes texts anew.

    Raises:
        RegistryError: There is none, or it is no such function.
    """
    functions: Mapping[str, TextCompressor] = {}
    return resolve(functions, name, takes("question", "rate_bp", "texts"), kind="compression")


def require_compressor(name: str, mode: str) -> None:
    """Check that a compressor exists for a mode.

    Raises:
        RegistryError: There is none.
    """
    if name not in (*COMPRESSORS, *LOSSY) and ":" not in name:
        valid = ", ".join((*COMPRESSORS, *LOSSY))
        raise RegistryError(f"unknown compression {name!r}: expected one of {valid}, or module:attribute")
    if mode == ITEMS:
        if name in LOSSY:
            raise RegistryError(f"compression {name!r} writes texts anew: expected mode protected or raw")
        compressor(name)
    elif name in COMPRESSORS:
        raise RegistryError(f"compression {name!r} keeps whole items: expected mode {ITEMS}, found {mode}")
    elif name not in LOSSY:
        text_compressor(name)
