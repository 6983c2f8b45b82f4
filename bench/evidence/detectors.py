"""Detectors by the name used in YAML: ``rule``, ``rule_named``, ``nli@MODEL``, or ``module:attribute``.

Rules that this module owns: a detector sees pairs of sentences and nothing else, so no label and no gold
can reach it; it answers every pair, with one of the closed kinds or ``None``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.build.base import BuildError
from bench.evidence.detector import KINDS, Detector, named_detector, rule_detector
from bench.registry import resolve, takes

DETECTORS: Mapping[str, Detector] = {"rule": rule_detector, "rule_named": named_detector}
NLI = "nli@MODEL (MODEL: a folder, or ORG/NAME@<40 hex>)"


def detector(name: str, *, optional: bool = False) -> Detector:
    """The detector of this name, with its answers checked.

    Args:
        name: One of ``DETECTORS``, ``nli@MODEL`` or ``module:attribute``.
        optional: Whether there, ``none`` stands for no detector, for messages.

    Raises:
        RegistryError: There is none, it is no detector, or its model cannot be had.
    """
    kind, at, model = name.partition("@")
    if kind == "nli" and at:
        from bench.evidence.nli import nli_detector

        return _checked(name, nli_detector(model))
    also = (NLI, "none") if optional else (NLI,)
    found = resolve(DETECTORS, name, takes("pairs"), kind="detector of contradictions", also=also)
    return _checked(name, found)


def _checked(name: str, ask: Detector) -> Detector:
    def detect(pairs: Sequence[tuple[str, str]]) -> list[str | None]:
        kinds = list(ask(pairs))
        if len(kinds) != len(pairs) or not all(one is None or one in KINDS for one in kinds):
            raise BuildError(
                "stage.indexes",
                f"detector {name!r}: expected {len(pairs)} answers, each None or one of {', '.join(KINDS)}, "
                f"found {len(kinds)} others",
            )
        return kinds

    return detect
