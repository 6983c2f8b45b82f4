"""What is shown of an evidence capsule: spans in context, claims with support, contradictions, gaps."""

from __future__ import annotations

import re
from collections.abc import Callable

from bench.showing.view import ClaimView, ContradictionView, EvidenceView, SideView, SpanView
from capsules.content_id import CONTENT_ID_PATTERN
from capsules.errors import CapsuleError
from capsules.evidence import EvidenceCapsule, Freshness
from capsules.span import ExactSpan
from capsules.store import Store

CONTEXT = 80  # code points of the source before and after a span

_SPAN_ID = re.compile(rf"({CONTENT_ID_PATTERN}):([0-9]+)-([0-9]+)")


class Sources:
    """The texts of sources, read once, and how a text is shown."""

    def __init__(self, store: Store | None, shown: Callable[[str], str]) -> None:
        self._store = store
        self._texts: dict[str, str | None] = {}
        self.shown = shown

    def text(self, source: str) -> str | None:
        """The raw text of a source; ``None`` if the store does not hold it."""
        if source not in self._texts:
            try:
                data = self._store.get(source).data if self._store is not None else None
                self._texts[source] = None if data is None else data.decode()
            except (CapsuleError, UnicodeDecodeError):
                self._texts[source] = None
        return self._texts[source]

    def of_span_id(self, name: str) -> str | None:
        """The text at a span_id, as it is shown; ``None`` for other names and sources not at hand."""
        found = _SPAN_ID.fullmatch(name)
        text = self.text(found[1]) if found else None
        return None if found is None or text is None else self.shown(text[int(found[2]) : int(found[3])])


def evidence_view(
    digest: str, required: bool, evidence: EvidenceCapsule, sources: Sources, now: str | None
) -> EvidenceView:
    """Everything that is shown of an evidence capsule."""
    names = {ref.source: f"{ref.origin.dataset} {ref.origin.row}" for ref in evidence.source_refs}
    spans = {span.span_id: _span(span, names.get(span.source, ""), sources) for span in evidence.exact_spans}
    label, quotes = evidence.visibility, evidence.quote_policy
    return EvidenceView(
        digest=digest,
        required=required,
        facts=(
            ("label", f"{label.level}, project {label.project}"),
            ("freshness", _freshness(evidence.freshness, now)),
            ("confidence", f"{_percent(evidence.confidence.bp)} by {evidence.confidence.method}"),
            (
                "quotes",
                f"{quotes.mode}, {quotes.min_chars} to {quotes.max_chars} characters, {quotes.norm_id}",
            ),
        ),
        sources=tuple(
            (
                ref.source,
                f"{ref.origin.dataset} {ref.origin.row}"
                + (f", {sources.shown(ref.title)}" if ref.title else "")
                + f", {ref.bytes} bytes, {ref.license}, as of {ref.retrieved_as_of or 'unknown'}",
            )
            for ref in evidence.source_refs
        ),
        spans=tuple(spans.values()),
        claims=tuple(
            ClaimView(
                claim_id=claim.claim_id,
                text=sources.shown(claim.text),
                status=claim.status,
                method=claim.method,
                confidence=_percent(claim.confidence_bp),
                support=tuple(spans[name] for name in claim.span_ids),
            )
            for claim in evidence.claim_candidates
        ),
        contradictions=_contradictions(evidence, spans, sources),
        missing=tuple(
            (sources.shown(gone.query), f"{gone.stage}: {sources.shown(gone.why)}")
            for gone in evidence.missing_evidence
        ),
    )


def _contradictions(
    evidence: EvidenceCapsule, spans: dict[str, SpanView], sources: Sources
) -> tuple[ContradictionView, ...]:
    claims = {claim.claim_id: claim for claim in evidence.claim_candidates}

    def side(name: str) -> SideView:
        if name in spans:
            return SideView(name=name, document=spans[name].document, text=spans[name].text)
        claim = claims[name]
        documents = dict.fromkeys(spans[span_id].document for span_id in claim.span_ids)
        return SideView(name=name, document=", ".join(documents), text=sources.shown(claim.text))

    return tuple(
        ContradictionView(
            kind=clash.kind,
            left=side(clash.between[0]),
            right=side(clash.between[1]),
            resolution=None if clash.resolution is None else sources.shown(clash.resolution),
        )
        for clash in evidence.contradictions
    )


def _span(span: ExactSpan, document: str, sources: Sources) -> SpanView:
    text = sources.text(span.source)
    shown = sources.shown
    before = span.prefix if text is None else text[max(0, span.start - CONTEXT) : span.start]
    after = span.suffix if text is None else text[span.end : span.end + CONTEXT]
    more = f", occurrence {span.occurrence} of {span.occurrences}" if span.occurrences > 1 else ""
    return SpanView(
        span_id=span.span_id,
        document=document,
        place=f"{span.start}-{span.end}{more}",
        before=shown(before) if before else "",
        text=shown(span.exact),
        after=shown(after) if after else "",
        known=text is not None,
    )


def _freshness(fresh: Freshness, now: str | None) -> str:
    expires = f"expires {fresh.expires_at} ({fresh.policy})" if fresh.expires_at else "never expires"
    said = f"as of {fresh.as_of}, {expires}"
    if now is None or fresh.expires_at is None:
        return said
    return f"{said}: {'EXPIRED' if now >= fresh.expires_at else 'fresh'} at {now}"


def _percent(bp: int) -> str:
    return f"{bp / 100:g} %"
