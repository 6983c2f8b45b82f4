"""Builders by the name used in YAML, or ``module:attribute`` (docs/own-builder.md)."""

from __future__ import annotations

from collections.abc import Mapping

from bench.build.base import Builder
from bench.build.capsule import CapsuleBuilder
from bench.build.naive import NaiveBuilder
from bench.compression.registry import require_compressor
from bench.evidence.detectors import detector
from bench.evidence.stored_claims import stored_answers
from bench.registry import resolve, takes
from bench.retrieval.registry import retriever
from bench.selection.registry import selector
from bench.specs import ArmSpec

_NAIVE = NaiveBuilder()

BUILDERS: Mapping[str, Builder] = {"capsule": CapsuleBuilder(), "naive": _NAIVE, "naive_volatile": _NAIVE}


def builder(name: str) -> Builder:
    """The builder of this name, or of ``module:attribute``.

    Raises:
        RegistryError: There is none, or it is no builder.
    """
    return resolve(BUILDERS, name, takes("sample", "context"), kind="builder")


def require_names(arm: ArmSpec) -> None:
    """Resolve every name of an arm, so that a misspelt one fails before any work.

    Raises:
        RegistryError: A name is unknown, or what it brings is of another protocol.
    """
    builder(arm.builder)
    retriever(arm.retrieval.name)
    selector(arm.selection.name)
    require_compressor(arm.compression.name, arm.compression.mode)
    if arm.contradictions.detector != "none":
        detector(arm.contradictions.detector, optional=True)
    if arm.claims.answers is not None and arm.claims.digest is not None:
        stored_answers(arm.claims.answers, arm.claims.digest)
