"""The EvidenceCapsule: spans, what they support, how old they are, what is missing.

References inside the record must resolve: each span's source is listed (``source.missing``), claims
name its spans, contradictions its spans or claims (``schema.reference``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from capsules.arrays import Distinct, Sorted, itself
from capsules.claim import ClaimCandidate, Contradiction, MissingEvidence
from capsules.rules import (
    BasisPoints,
    CapsuleId,
    Count,
    Flag,
    Name,
    NormId,
    Problem,
    SchemaIdRule,
    Time,
    WordRule,
)
from capsules.shape import Record, law
from capsules.source import SourceRef
from capsules.span import ExactSpan
from capsules.visibility import Visibility

SCHEMA_ID = "evidence-capsule/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness(Record):
    """The time that the evidence speaks for, and until when."""

    as_of: Time
    expires_at: Time | None
    policy: Annotated[str, WordRule("hard", "soft")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence(Record):
    """How sure the evidence is as a whole, in basis points, and by which method."""

    bp: BasisPoints
    method: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotePolicy(Record):
    """How the evidence may be quoted."""

    mode: Annotated[str, WordRule("verbatim", "elided")]
    norm_id: NormId
    min_chars: Count
    max_chars: Count
    unique: Flag

    @law("min_chars", "max_chars")
    def _range(self) -> Iterator[Problem]:
        if self.min_chars > self.max_chars:
            yield Problem(
                "schema.limit", "/max_chars", f"at least min_chars ({self.min_chars})", str(self.max_chars)
            )


def _source(ref: SourceRef) -> str:
    return ref.source


def _place(span: ExactSpan) -> tuple[str, int, int]:
    return span.source, span.start, span.end


def _claim_id(claim: ClaimCandidate) -> str:
    return claim.claim_id


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceCapsule(Record):
    """Independently verifiable evidence of one (project, visibility level)."""

    schema_id: Annotated[str, SchemaIdRule(SCHEMA_ID)]
    capsule_id: CapsuleId
    source_refs: Annotated[tuple[SourceRef, ...], Sorted("source", _source)]
    exact_spans: Annotated[tuple[ExactSpan, ...], Sorted("(source, start, end)", _place)]
    claim_candidates: Annotated[tuple[ClaimCandidate, ...], Distinct("claim_id", _claim_id)]
    contradictions: Annotated[tuple[Contradiction, ...], Distinct("entries", itself)]
    freshness: Freshness
    confidence: Confidence
    visibility: Visibility
    quote_policy: QuotePolicy
    missing_evidence: Annotated[tuple[MissingEvidence, ...], Distinct("entries", itself)]

    @law("source_refs", "exact_spans")
    def _sources_listed(self) -> Iterator[Problem]:
        listed = {ref.source for ref in self.source_refs}
        for index, span in enumerate(self.exact_spans):
            if span.source not in listed:
                yield Problem(
                    "source.missing", f"/exact_spans/{index}/source", "a source of source_refs", span.source
                )

    @law("exact_spans", "claim_candidates")
    def _claims_resolve(self) -> Iterator[Problem]:
        spans = {span.span_id for span in self.exact_spans}
        for index, claim in enumerate(self.claim_candidates):
            for place, span_id in enumerate(claim.span_ids):
                if span_id not in spans:
                    at = f"/claim_candidates/{index}/span_ids/{place}"
                    yield Problem("schema.reference", at, "a span_id of exact_spans", "another")

    @law("exact_spans", "claim_candidates", "contradictions")
    def _contradictions_resolve(self) -> Iterator[Problem]:
        known = {span.span_id for span in self.exact_spans}
        known.update(claim.claim_id for claim in self.claim_candidates)
        for index, contradiction in enumerate(self.contradictions):
            for place, name in enumerate(contradiction.between):
                if name not in known:
                    at = f"/contradictions/{index}/between/{place}"
                    yield Problem("schema.reference", at, "a span_id or claim_id of the capsule", "another")
