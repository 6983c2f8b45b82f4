"""Rebuild: the same capsules, under the same names, after some of their sources have changed.

* A capsule that none of the changes touches comes out byte for byte as it was, with the same id.
* Spans are re-anchored (``capsules.reanchor``), never searched for by likeness. One that cannot be anchored
  leaves, and with it what rests on it: claims that derive from it, contradictions between it and
  another, sources that nothing points into any more. A claim that left is recorded as missing evidence.
* A rebuild selects nothing: what stands new in a source is not taken into the evidence. Nor does it lower
  a label, lengthen a validity or carry an old retrieval time over to new bytes.
* Where required evidence cannot be anchored there is no capsule, but problems that say why.

The records are checked as they are made; whoever sends them validates them like any other capsule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from capsules.claim import ClaimCandidate, Contradiction, MissingEvidence
from capsules.codec import Sealed, digest_of, seal
from capsules.content_id import content_id
from capsules.errors import SchemaError
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule
from capsules.reanchor import Anchored, SpanFate, reanchor
from capsules.rules import Problem
from capsules.source import SourceRef, SourceText, source_text
from capsules.span import ExactSpan

REQUIRED = "evidence.required.omitted"
UNRESOLVABLE = "source.unresolvable"

Changes = Mapping[str, bytes | None]  # by the id that a source had: its bytes now; None: it is gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A capsule by name, and its id before and after; ``None`` where it left or was not rebuilt."""

    capsule_id: str
    before: str
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildReport:
    """What a rebuild did. It names ids and numbers, never text.

    Attributes:
        versions: Every capsule that was looked at, evidence first.
        spans: The fate of every span of the evidence, in its order.
        omitted: The fate of every omitted item of a changed source.
        added: What stands new in the changed sources of a prompt: omitted items, by their new span_id.
        claims: (capsule_id, claim_id) of the claims that left.
        contradictions: How many contradictions left.
        snippet: Whether the surface snippet left.
    """

    versions: tuple[Version, ...]
    spans: tuple[SpanFate, ...]
    omitted: tuple[SpanFate, ...] = ()
    added: tuple[str, ...] = ()
    claims: tuple[tuple[str, str], ...] = ()
    contradictions: int = 0
    snippet: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """The capsules as they are now, or the problems for which there are none.

    Attributes:
        evidence: In the order given, without those that left.
        prompt: ``None`` without a prompt capsule to rebuild.
        problems: Why there are no capsules; empty if there are.
    """

    evidence: tuple[Sealed[EvidenceCapsule], ...]
    prompt: Sealed[PromptCapsule] | None
    report: RebuildReport
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One evidence capsule rebuilt, and what left it."""

    capsule: EvidenceCapsule
    claims: tuple[str, ...]
    contradictions: int


def rebuild_evidence(
    capsule: EvidenceCapsule,
    texts: Mapping[str, str],
    changes: Changes,
    *,
    required: Iterable[str] = (),
    retrieved_as_of: str | None = None,
) -> Rebuilt:
    """Rebuild one evidence capsule by itself.

    Args:
        capsule: The capsule as it was.
        texts: The old raw text of each of its changed sources, by ContentId.
        changes: What changed, of these and of any other sources.
        required: span_ids without which there is no capsule.
        retrieved_as_of: When the new bytes were retrieved, for their source refs.

    Returns:
        The capsule, empty if every span was lost: it says what is missing. None, with problems, if a
        required span was lost, or if a source became the same as another.

    Raises:
        ParseError: ``source.utf8.invalid``, ``bytes.size.exceeded``: new bytes that are no source.
        SchemaError: ``source.missing``, ``source.digest.changed``: an old text that is not at hand or
            not that of its source; ``span.*``: a span that disagreed with it before.
    """
    named = [ref.source for ref in capsule.source_refs]
    changed = changed_sources(named, changes)
    anchored = anchor_all(capsule.exact_spans, texts, changed)
    fates = span_fates([capsule], anchored)
    problems = [*merged_sources(named, changed), *lost_spans(fates, set(required))]
    before = Version(capsule_id=capsule.capsule_id, before=digest_of(capsule), after=None)
    if problems:
        report = RebuildReport(versions=(before,), spans=fates)
        return Rebuilt(evidence=(), prompt=None, report=report, problems=tuple(problems))
    part = rebuild_part(capsule, anchored, changed, retrieved_as_of)
    sealed = seal(part.capsule)
    report = RebuildReport(
        versions=(replace(before, after=sealed.digest),),
        spans=fates,
        claims=tuple((capsule.capsule_id, claim) for claim in part.claims),
        contradictions=part.contradictions,
    )
    return Rebuilt(evidence=(sealed,), prompt=None, report=report)


def changed_sources(named: Iterable[str], changes: Changes) -> dict[str, SourceText | None]:
    """The sources among ``named`` that are really other ones now, as they are now.

    Raises:
        ParseError: ``source.utf8.invalid``, ``bytes.size.exceeded``.
    """
    found: dict[str, SourceText | None] = {}
    for source in sorted(set(named) & changes.keys()):
        data = changes[source]
        if data is None:
            found[source] = None
        elif content_id(data) != source:
            found[source] = source_text(data)
    return found


def merged_sources(named: Iterable[str], changed: Mapping[str, SourceText | None]) -> list[Problem]:
    """A problem for each source that became the same as another: its items would stand twice."""
    taken = set(named) - changed.keys()
    problems = []
    for source, new in changed.items():
        if new is not None and new.source in taken:
            problems.append(
                Problem("schema.duplicate", "/source_refs", "sources that differ", f"{source} twice")
            )
        elif new is not None:
            taken.add(new.source)
    return problems


def anchor_all(
    spans: Iterable[ExactSpan], texts: Mapping[str, str], changed: Mapping[str, SourceText | None]
) -> Anchored:
    """Anchor all spans of changed sources; spans of other sources are left alone.

    Raises:
        SchemaError: ``source.missing``, ``source.digest.changed``, ``span.*``.
    """
    by_source: dict[str, list[ExactSpan]] = {source: [] for source in changed}
    for span in spans:
        if span.source in by_source:
            by_source[span.source].append(span)
    whole = Anchored(fates={}, spans={})
    for source, new in changed.items():
        part = reanchor(by_source[source], old_text(texts, source), new)
        whole.fates.update(part.fates)
        whole.spans.update(part.spans)
    return whole


def old_text(texts: Mapping[str, str], source: str) -> str:
    """The old text of a source, verified.

    Raises:
        SchemaError: ``source.missing``, ``source.digest.changed``.
    """
    if source not in texts:
        raise SchemaError("source.missing", f"expected the old text of source {source}, found none")
    actual = content_id(texts[source].encode("utf-8", "surrogatepass"))
    if actual != source:
        raise SchemaError("source.digest.changed", f"expected the text of {source}, found that of {actual}")
    return texts[source]


def span_fates(evidence: Iterable[EvidenceCapsule], anchored: Anchored) -> tuple[SpanFate, ...]:
    """The fate of every span, in order; those of unchanged sources were kept."""
    return tuple(
        anchored.fates.get(span.span_id)
        or SpanFate(span_id=span.span_id, fate="kept", new_id=span.span_id, places=1)
        for capsule in evidence
        for span in capsule.exact_spans
    )


def lost_spans(fates: Sequence[SpanFate], needed: set[str]) -> list[Problem]:
    """A problem for each required span that could not be anchored."""
    return [
        Problem(REQUIRED, f"/exact_spans/{index}", f"span {fate.span_id} anchored", fate.fate)
        for index, fate in enumerate(fates)
        if fate.new_id is None and fate.span_id in needed
    ]


def rebuild_part(
    capsule: EvidenceCapsule,
    anchored: Anchored,
    changed: Mapping[str, SourceText | None],
    retrieved_as_of: str | None,
) -> Part:
    """An evidence capsule with its spans where they stand now."""
    spans = {
        span.span_id: span if span.source not in changed else anchored.spans.get(span.span_id)
        for span in capsule.exact_spans
    }
    here = {old: span for old, span in spans.items() if span is not None}
    claims = [
        replace(claim, span_ids=tuple(here[span_id].span_id for span_id in claim.span_ids))
        for claim in capsule.claim_candidates
        if here.keys() >= set(claim.span_ids)
    ]
    left = _left(capsule, claims)
    names = {old: span.span_id for old, span in here.items()} | {c.claim_id: c.claim_id for c in claims}
    contradictions = [
        Contradiction(
            between=(names[pair.between[0]], names[pair.between[1]]),
            kind=pair.kind,
            resolution=pair.resolution,
        )
        for pair in capsule.contradictions
        if names.keys() >= set(pair.between)
    ]
    missing = [MissingEvidence(query=claim, stage="source", why=UNRESOLVABLE) for claim in left]
    rebuilt = replace(
        capsule,
        source_refs=_source_refs(capsule, here, changed, retrieved_as_of),
        exact_spans=tuple(sorted(here.values(), key=lambda span: (span.source, span.start, span.end))),
        claim_candidates=tuple(claims),
        contradictions=tuple(contradictions),
        missing_evidence=tuple(dict.fromkeys((*capsule.missing_evidence, *missing))),
    )
    lost = len(capsule.contradictions) - len(contradictions)
    return Part(capsule=rebuilt, claims=left, contradictions=lost)


def _left(capsule: EvidenceCapsule, claims: Sequence[ClaimCandidate]) -> tuple[str, ...]:
    stayed = {claim.claim_id for claim in claims}
    return tuple(claim.claim_id for claim in capsule.claim_candidates if claim.claim_id not in stayed)


def _source_refs(
    capsule: EvidenceCapsule,
    here: Mapping[str, ExactSpan],
    changed: Mapping[str, SourceText | None],
    retrieved_as_of: str | None,
) -> tuple[SourceRef, ...]:
    """Refs to what the sources are now; a source that lost all its spans is referred to no more."""
    before = {span.source for span in capsule.exact_spans}
    now = {span.source for span in here.values()}
    refs = []
    for ref in capsule.source_refs:
        new = changed.get(ref.source)
        if ref.source not in changed:
            refs.append(ref)
        elif new is not None and (new.source in now or ref.source not in before):
            refs.append(replace(ref, source=new.source, bytes=len(new.data), retrieved_as_of=retrieved_as_of))
    return tuple(sorted(refs, key=lambda ref: ref.source))
