"""Claims, contradictions and what was looked for and not found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimCandidate:
    claim_id: str
    text: str
    span_ids: tuple[str, ...]
    status: str  # supported | unsupported | contradicted
    method: str  # gold | rule | model
    confidence_bp: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    between: tuple[str, str]  # span ids or claim ids
    kind: str  # numeric | negation | date | labelled
    resolution: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingEvidence:
    query: str
    stage: str
    why: str
