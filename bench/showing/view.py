"""What there is to show of a capsule, as plain values.

Rules that this module owns:

* Everything shown comes from the capsule, from the sources in the store, and from a validation at the
  time that is named. A source that the store does not hold is said to be missing, never guessed.
* Texts come out as they are stored; whoever displays them writes invisible characters out. With
  ``hide`` every text of data is replaced by its length: ids, numbers and words of closed lists stay.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanView:
    """A span and what stands around it in its source; ``known``: whether the store holds the source."""

    span_id: str
    document: str
    place: str
    before: str
    text: str
    after: str
    known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimView:
    """A claim, how it stands, and the spans that it derives from."""

    claim_id: str
    text: str
    status: str
    method: str
    confidence: str
    support: tuple[SpanView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideView:
    """One side of a contradiction: a span or a claim."""

    name: str
    document: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContradictionView:
    """Two sides that cannot both hold, and how that was resolved."""

    kind: str
    left: SideView
    right: SideView
    resolution: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceView:
    """An evidence capsule; ``unread`` says why nothing of it can be shown."""

    digest: str
    required: bool
    facts: tuple[tuple[str, str], ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    spans: tuple[SpanView, ...] = ()
    claims: tuple[ClaimView, ...] = ()
    contradictions: tuple[ContradictionView, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    unread: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OmissionView:
    """An item that was left out; ``text`` is ``None`` where it is hidden or its source is not at hand."""

    item: str
    tokens: str
    required: bool
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonView:
    """All omissions of one reason."""

    reason: str
    items: int
    tokens: int
    entries: tuple[OmissionView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidityView:
    """What validation says at a time: in one line, and every failure."""

    line: str
    ok: bool | None
    failures: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteView:
    """A text that a compressor wrote, and what was lost by it."""

    name: str
    text: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CapsuleView:
    """A capsule, ready to be shown."""

    digest: str
    schema_id: str
    capsule_id: str
    question: str | None
    facts: tuple[tuple[str, str], ...]
    validity: ValidityView
    constraints: tuple[tuple[str, str], ...] = ()
    reasons: tuple[ReasonView, ...] = ()
    rewrites: tuple[RewriteView, ...] = ()
    evidence: tuple[EvidenceView, ...] = ()

    @property
    def omitted(self) -> int:
        """How many items were left out."""
        return sum(reason.items for reason in self.reasons)
