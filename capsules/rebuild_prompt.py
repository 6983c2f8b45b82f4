"""Rebuild of a prompt capsule: its evidence, its accounts, and everything in it that names a span.

* An item that cannot be anchored is omitted as ``source.unresolvable`` under its old span_id, with the tokens
  that it had; omitted items are anchored like kept ones and keep their reason.
* What stands in a changed source and belongs to no item is a candidate that nobody selected: it is cut
  into sentences and omitted as ``selection.not_needed``. So the accounts cover the new source whole.
* Candidates = kept + omitted, in number and in tokens; the four omission laws are checked on the new ids
  before anything is handed out (not with rewrites: whoever sends those validates them with the tokenizer).
* An evidence capsule that lost all its spans stays, empty: it says what is missing, and no label is lowered.
* A snippet leaves with any span that it derives from. A rewrite cannot be made again here: where one of its
  items left, or stands in another order, there is no capsule (``rewrite.stale``).
* No capsule either where required evidence was lost, where a protected field would be shortened, or where
  the new ids exceed the evidence limit (``budget.evidence.exceeded``) or the window.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from capsules.codec import digest_of, seal
from capsules.errors import SchemaError
from capsules.evidence import EvidenceCapsule
from capsules.omission import DroppedRange, Rewrite
from capsules.prompt import EvidenceRef, PromptCapsule, SurfaceSnippet
from capsules.rebuild import (
    REQUIRED,
    Changes,
    Part,
    RebuildReport,
    Rebuilt,
    Version,
    anchor_all,
    changed_sources,
    lost_spans,
    merged_sources,
    rebuild_part,
    span_fates,
)
from capsules.rebuild_accounts import (
    Books,
    Job,
    check_accounts,
    keep_books,
    lost_sources,
    omitted_places,
    omitted_spans,
    rebuilt_candidates,
    rebuilt_omissions,
)
from capsules.rules import Problem
from capsules.tokenizer import Tokenizer


def rebuild_prompt(
    prompt: PromptCapsule,
    evidence: Sequence[EvidenceCapsule],
    texts: Mapping[str, str],
    changes: Changes,
    tokenizer: Tokenizer,
    *,
    required: Collection[str] | None = None,
    retrieved_as_of: str | None = None,
) -> Rebuilt:
    """Rebuild a prompt capsule and its evidence.

    Args:
        prompt: The capsule as it was.
        evidence: Its evidence capsules, in the order of its refs.
        texts: The old raw texts of all sources that the evidence or an omitted item of a changed source
            stands in, by ContentId.
        changes: What changed, of these and of any other sources.
        tokenizer: That of the prompt's budget.
        required: span_ids without which there is no capsule; ``None``: every span of an evidence capsule
            whose ref is required.
        retrieved_as_of: When the new bytes were retrieved, for their source refs.

    Raises:
        OmissionLawError: The accounts of the prompt did not add up before.
        ParseError: ``source.utf8.invalid``, ``bytes.size.exceeded``: new bytes that are no source.
        RenderError: The prompt could not be rendered before.
        SchemaError: ``evidence.ref.missing``: other evidence than the prompt refers to;
            ``tokenizer.mismatch``; ``source.missing``, ``source.digest.changed``: an old text that is not
            at hand or not that of its source; ``span.*``: a span that disagreed with it before.
    """
    _require_input(prompt, evidence, tokenizer)
    named = {ref.source for capsule in evidence for ref in capsule.source_refs}
    named |= {source for source, _, _ in omitted_places(prompt).values()}
    changed = changed_sources(named, changes)
    if not changed:
        return _unchanged(prompt, evidence)
    omitted = omitted_spans(prompt, texts, changed)
    spans = [span for capsule in evidence for span in capsule.exact_spans]
    anchored = anchor_all([*spans, *omitted.values()], texts, changed)
    job = Job(
        prompt=prompt,
        evidence=evidence,
        texts=texts,
        changed=changed,
        omitted=omitted,
        anchored=anchored,
        tokenizer=tokenizer,
    )
    needed = _needed(prompt, evidence) if required is None else set(required)
    fates = span_fates(evidence, anchored)
    problems = [*merged_sources(named | lost_sources(prompt), changed), *lost_spans(fates, needed)]
    report = RebuildReport(
        versions=_versions(prompt, evidence),
        spans=fates,
        omitted=tuple(anchored.fates[item] for item in omitted),
    )
    if problems:
        return Rebuilt(evidence=(), prompt=None, report=report, problems=tuple(problems))
    return _rebuild(job, report, [rebuild_part(c, anchored, changed, retrieved_as_of) for c in evidence])


def _require_input(prompt: PromptCapsule, evidence: Sequence[EvidenceCapsule], tokenizer: Tokenizer) -> None:
    wanted = [ref.id for ref in prompt.evidence_capsule_refs]
    found = [digest_of(capsule) for capsule in evidence]
    if wanted != found:
        raise SchemaError(
            "evidence.ref.missing", f"expected {wanted}, found {found}", at="/evidence_capsule_refs"
        )
    digest = prompt.token_budget.tokenizer_digest
    if tokenizer.tokenizer_digest != digest:
        raise SchemaError("tokenizer.mismatch", f"expected {digest}, found {tokenizer.tokenizer_digest}")


def _unchanged(prompt: PromptCapsule, evidence: Sequence[EvidenceCapsule]) -> Rebuilt:
    versions = tuple(replace(version, after=version.before) for version in _versions(prompt, evidence))
    fates = span_fates(evidence, anchor_all([], {}, {}))
    return Rebuilt(
        evidence=tuple(seal(capsule) for capsule in evidence),
        prompt=seal(prompt),
        report=RebuildReport(versions=versions, spans=fates),
    )


def _versions(prompt: PromptCapsule, evidence: Sequence[EvidenceCapsule]) -> tuple[Version, ...]:
    found = [(capsule.capsule_id, digest_of(capsule)) for capsule in evidence]
    found.append((prompt.capsule_id, digest_of(prompt)))
    return tuple(Version(capsule_id=name, before=digest, after=None) for name, digest in found)


def _needed(prompt: PromptCapsule, evidence: Sequence[EvidenceCapsule]) -> set[str]:
    return {
        span.span_id
        for ref, capsule in zip(prompt.evidence_capsule_refs, evidence, strict=True)
        for span in capsule.exact_spans
        if ref.required
    }


def _rebuild(job: Job, report: RebuildReport, parts: Sequence[Part]) -> Rebuilt:
    prompt, books = job.prompt, keep_books(job)
    sealed = tuple(seal(part.capsule) for part in parts)
    records = [part.capsule for part in parts]
    snippet = _snippet(job)
    rewrites, problems = _rewrites(job, books, records)
    problems += _required_problems(job, parts)
    snippet_left = snippet is None and prompt.surface_snippet is not None
    if snippet_left and "surface_snippet" in prompt.token_budget.protected:
        problems.append(
            Problem("budget.protected.truncated", "/surface_snippet", "the protected snippet", "a lost span")
        )
    report = replace(
        report,
        added=books.added,
        claims=tuple((part.capsule.capsule_id, claim) for part in parts for claim in part.claims),
        contradictions=sum(part.contradictions for part in parts),
        snippet=snippet_left,
    )
    if not problems:
        refs = zip(prompt.evidence_capsule_refs, sealed, strict=True)
        rebuilt = replace(
            prompt,
            surface_snippet=snippet,
            evidence_capsule_refs=tuple(
                EvidenceRef(id=new.digest, required=ref.required) for ref, new in refs
            ),
            candidates=rebuilt_candidates(job, books),
            omissions=rebuilt_omissions(job, books),
            rewrites=rewrites,
        )
        problems += [] if rewrites else check_accounts(job, rebuilt, records)
    if problems:
        return Rebuilt(evidence=(), prompt=None, report=report, problems=tuple(problems))
    done = seal(rebuilt)
    after = (*(each.digest for each in sealed), done.digest)
    versions = tuple(replace(old, after=new) for old, new in zip(report.versions, after, strict=True))
    return Rebuilt(evidence=sealed, prompt=done, report=replace(report, versions=versions))


def _required_problems(job: Job, parts: Sequence[Part]) -> list[Problem]:
    """A required evidence capsule must still hold a span if it did."""
    return [
        Problem(REQUIRED, f"/evidence_capsule_refs/{index}", "at least one span that was anchored", "none")
        for index, (ref, old, part) in enumerate(
            zip(job.prompt.evidence_capsule_refs, job.evidence, parts, strict=True)
        )
        if ref.required and old.exact_spans and not part.capsule.exact_spans
    ]


def _now(job: Job, name: str) -> str | None:
    """The id now of a span of the evidence; ``None`` if it left."""
    if name.rpartition(":")[0] not in job.changed:
        return name
    span = job.anchored.spans.get(name)
    return None if span is None else span.span_id


def _snippet(job: Job) -> SurfaceSnippet | None:
    snippet = job.prompt.surface_snippet
    if snippet is None:
        return None
    names = [name for old in snippet.derived_from if (name := _now(job, old)) is not None]
    whole = len(names) == len(snippet.derived_from)
    return replace(snippet, derived_from=tuple(names)) if whole else None


def _rewrites(
    job: Job, books: Books, records: Sequence[EvidenceCapsule]
) -> tuple[tuple[Rewrite, ...], list[Problem]]:
    """The rewrites, with their items where they stand now, in the order of the prompt as it is now."""
    before = {span.span_id: place for place, span in enumerate(job.kept())}
    spans = (span for capsule in records for span in capsule.exact_spans)
    after = {span.span_id: place for place, span in enumerate(spans)}
    found: list[tuple[int, Rewrite]] = []
    problems = []
    for index, rewrite in enumerate(job.prompt.rewrites):
        ordered = sorted(rewrite.items, key=lambda item: before.get(item, -1))
        places = [after.get(_now(job, item) or "", -1) for item in ordered]
        moved = _moved(job, books, rewrite)
        if -1 in places or places != sorted(places) or moved is None:
            expected = "items that stand as they stood, in more tokens than were sent"
            problems.append(Problem("rewrite.stale", f"/rewrites/{index}", expected, "others"))
        else:
            found.append((places[0], moved))
    return tuple(rewrite for _, rewrite in sorted(found, key=lambda pair: pair[0])), problems


def _moved(job: Job, books: Books, rewrite: Rewrite) -> Rewrite | None:
    """A rewrite under the ids of its items now; ``None`` if one left or nothing is saved any more."""
    names = {item: _now(job, item) for item in rewrite.items}
    tokens = rewrite.tokens_before
    for old, new in names.items():
        if new is None:
            return None
        if old in books.before:
            tokens += books.after[new] - books.before[old]
    if rewrite.tokens_sent >= tokens:
        return None
    return replace(
        rewrite,
        items=tuple(name for name in names.values() if name is not None),
        dropped=tuple(_moved_range(job, gone) for gone in rewrite.dropped),
        tokens_before=tokens,
    )


def _moved_range(job: Job, gone: DroppedRange) -> DroppedRange:
    span = job.anchored.spans.get(gone.item)
    if span is None:  # of an unchanged source
        return gone
    shift = span.start - int(gone.item.rpartition(":")[2].partition("-")[0])
    return DroppedRange(item=span.span_id, start=gone.start + shift, end=gone.end + shift)
