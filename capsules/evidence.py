"""The EvidenceCapsule: spans, what they support, how old they are, what is missing."""

from __future__ import annotations

from dataclasses import dataclass

from capsules.claim import ClaimCandidate, Contradiction, MissingEvidence
from capsules.source import SourceRef
from capsules.span import ExactSpan
from capsules.visibility import Visibility

SCHEMA_ID = "evidence-capsule/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    as_of: str
    expires_at: str | None
    policy: str  # hard | soft


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    bp: int
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotePolicy:
    mode: str  # verbatim | elided
    norm_id: str
    min_chars: int
    max_chars: int
    unique: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceCapsule:
    """Independently verifiable evidence of one (project, visibility level)."""

    schema_id: str
    capsule_id: str
    source_refs: tuple[SourceRef, ...]
    exact_spans: tuple[ExactSpan, ...]
    claim_candidates: tuple[ClaimCandidate, ...]
    contradictions: tuple[Contradiction, ...]
    freshness: Freshness
    confidence: Confidence
    visibility: Visibility
    quote_policy: QuotePolicy
    missing_evidence: tuple[MissingEvidence, ...]
