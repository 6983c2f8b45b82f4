"""Claims, contradictions and what was looked for and not found.

A claim names the spans that it derives from, whether or not they support it; its label is their
join. An empty list is allowed here and denied at validation (``label.undetermined``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from capsules.arrays import Distinct, itself
from capsules.rules import BasisPoints, Name, Problem, SpanId, Text, WordRule
from capsules.shape import Record, law


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimCandidate(Record):
    """A statement and the spans that it derives from."""

    claim_id: Name
    text: Text
    span_ids: Annotated[tuple[SpanId, ...], Distinct("span_id", itself)]
    status: Annotated[str, WordRule("supported", "unsupported", "contradicted")]
    method: Annotated[str, WordRule("gold", "rule", "model")]
    confidence_bp: BasisPoints


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction(Record):
    """Two spans or claims that cannot both hold."""

    between: tuple[Name, Name]  # span ids or claim ids
    kind: Annotated[str, WordRule("numeric", "negation", "date", "labelled")]
    resolution: Text | None

    @law("between")
    def _two(self) -> Iterator[Problem]:
        if self.between[0] == self.between[1]:
            yield Problem("schema.duplicate", "/between/1", "another id than the first", "the same")


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingEvidence(Record):
    """What was asked for and not found, at which stage and why."""

    query: Text
    stage: Name
    why: Text
