"""The accounts of a rebuilt prompt: what each item costs now, what was omitted and why, and the laws.

Items of unchanged sources keep their numbers. Those of a changed source are counted anew, each with the
white space before it; what left keeps the tokens that it had, for it was a candidate as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from capsules import omission_laws
from capsules.evidence import EvidenceCapsule
from capsules.omission import DENIED, OUTSIDE_POOL, Candidates, Omission
from capsules.omission_laws import Accounts, CandidateItem
from capsules.prompt import PromptCapsule
from capsules.reanchor import Anchored, Range, item_tokens, unclaimed
from capsules.rebuild import UNRESOLVABLE, old_text
from capsules.rendering import constraint_text, is_rendered, render
from capsules.rules import SPAN_ID_PATTERN, Problem
from capsules.source import SourceText
from capsules.span import ExactSpan, make_span, span_id
from capsules.tokenized import tokenize
from capsules.tokenizer import Tokenizer

NOT_NEEDED = "selection.not_needed"

_SPAN_ID = re.compile(SPAN_ID_PATTERN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A prompt and its evidence as they were, and what became of the items of changed sources.

    Attributes:
        texts: Old raw texts, by ContentId.
        omitted: The omitted items of changed sources, as spans of the old text, by span_id.
    """

    prompt: PromptCapsule
    evidence: Sequence[EvidenceCapsule]
    texts: Mapping[str, str]
    changed: Mapping[str, SourceText | None]
    omitted: Mapping[str, ExactSpan]
    anchored: Anchored
    tokenizer: Tokenizer

    def kept(self) -> list[ExactSpan]:
        """All spans of the evidence, in prompt order."""
        return [span for capsule in self.evidence for span in capsule.exact_spans]


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """Item tokens of the changed sources.

    Attributes:
        before: Of the spans of the evidence, by old span_id.
        after: Of everything in the new sources, by new span_id.
        added: The span_ids of what belonged to no item.
    """

    before: Mapping[str, int]
    after: Mapping[str, int]
    added: tuple[str, ...]


def item_range(item: str | None) -> tuple[str, int, int] | None:
    """Source, start and end of an item that is a span; ``None`` for any other."""
    if item is None or not _SPAN_ID.fullmatch(item):
        return None
    source, _, numbers = item.rpartition(":")
    start, _, end = numbers.partition("-")
    return source, int(start), int(end)


def omitted_places(prompt: PromptCapsule) -> dict[str, tuple[str, int, int]]:
    """The omitted items that are spans. Those whose source was lost before stay lost and are left out."""
    places = {gone.item: item_range(gone.item) for gone in prompt.omissions if gone.reason != UNRESOLVABLE}
    return {item: place for item, place in places.items() if item is not None and place is not None}


def lost_sources(prompt: PromptCapsule) -> set[str]:
    """The sources of items that an earlier rebuild could not anchor: the accounts still hold them."""
    places = [item_range(gone.item) for gone in prompt.omissions if gone.reason == UNRESOLVABLE]
    return {place[0] for place in places if place is not None}


def omitted_spans(
    prompt: PromptCapsule, texts: Mapping[str, str], changed: Mapping[str, SourceText | None]
) -> dict[str, ExactSpan]:
    """The omitted items of changed sources as spans of the old texts.

    Raises:
        SchemaError: ``source.missing``, ``source.digest.changed``; ``span.range``.
    """
    return {
        item: make_span(source, old_text(texts, source), start, end)
        for item, (source, start, end) in omitted_places(prompt).items()
        if source in changed
    }


def keep_books(job: Job) -> Books:
    """Count the items of the changed sources, before and after.

    Raises:
        RenderError: The items could not be sent as they were (``render.gap``, ``span.range``).
    """
    before: dict[str, int] = {}
    after: dict[str, int] = {}
    added: list[str] = []
    for source, new in job.changed.items():
        kept = [span for span in job.kept() if span.source == source]
        items = [*kept, *(span for span in job.omitted.values() if span.source == source)]
        only = {(span.start, span.end) for span in kept}
        counts = item_tokens(job.texts[source], map(_range, items), job.tokenizer, only=only)
        before |= {span_id(source, *place): n for place, n in counts.items()}
        if new is None:
            continue
        now = [job.anchored.spans[s.span_id] for s in items if s.span_id in job.anchored.spans]
        ranges = [_range(span) for span in now]
        fresh = unclaimed(new.text, ranges)
        added += [span_id(new.source, *place) for place in fresh]
        counts = item_tokens(new.text, [*ranges, *fresh], job.tokenizer)
        after |= {span_id(new.source, *place): n for place, n in counts.items()}
    return Books(before=before, after=after, added=tuple(added))


def _range(span: ExactSpan) -> Range:
    return span.start, span.end


def rebuilt_omissions(job: Job, books: Books) -> tuple[Omission, ...]:
    """The omissions as they are now, in their order."""
    found: list[Omission] = []
    for gone in job.prompt.omissions:
        if gone.item is None or gone.item not in job.omitted:
            found.append(gone)
            continue
        span = job.anchored.spans.get(gone.item)
        if span is None:
            found.append(replace(gone, stage=_stage(UNRESOLVABLE), reason=UNRESOLVABLE))
        else:
            found.append(replace(gone, item=span.span_id, tokens=books.after[span.span_id]))
    lost = (name for name in books.before if name not in job.anchored.spans)
    found += [_omission(name, UNRESOLVABLE, books.before[name]) for name in lost]
    found += [_omission(name, NOT_NEEDED, books.after[name]) for name in books.added]
    return tuple(sorted(found, key=lambda gone: (gone.stage, gone.reason, gone.item or "")))


def _omission(item: str, reason: str, tokens: int) -> Omission:
    return Omission(item=item, stage=_stage(reason), reason=reason, tokens=tokens, required=False, count=1)


def _stage(reason: str) -> str:
    return reason.partition(".")[0]


def rebuilt_candidates(job: Job, books: Books) -> Candidates:
    """The totals: every item that can be counted anew is, and what was added is a candidate too."""
    stored = {gone.item: gone.tokens or 0 for gone in job.prompt.omissions}
    tokens = job.prompt.candidates.tokens + sum(books.after.values())
    for old in job.anchored.spans:
        tokens -= books.before[old] if old in books.before else stored[old]
    items = job.prompt.candidates.items + len(books.added)
    return Candidates(items=items, tokens=tokens)


def check_accounts(job: Job, prompt: PromptCapsule, evidence: Sequence[EvidenceCapsule]) -> list[Problem]:
    """Render and tokenize a rebuilt prompt, check the four laws on its ids, and hold it against its limits.

    Raises:
        OmissionLawError: ``omission.unaccounted``: the accounts did not add up before.
        RenderError: It could not be rendered before.
    """
    texts = dict(job.texts)
    texts.update({new.source: new.text for new in job.changed.values() if new is not None})
    rendered = render(prompt, evidence, texts)
    sent = tokenize(rendered, job.tokenizer)
    accounts = Accounts(
        prompt=prompt,
        evidence=evidence,
        candidates=tuple(_candidates(job, prompt, evidence, texts)),
        rendered=rendered,
        tokenized=sent,
        encode=job.tokenizer.encode,
    )
    omission_laws.check(accounts)
    budget = prompt.token_budget
    cost, room = sent.count("item", "header"), budget.window - budget.reserved_output
    problems = []
    if cost > budget.evidence_limit:
        expected = f"at most {budget.evidence_limit} ids of evidence"
        problems.append(
            Problem("budget.evidence.exceeded", "/token_budget/evidence_limit", expected, str(cost))
        )
    if len(sent.ids) > room:
        expected = f"at most {room} ids"
        problems.append(
            Problem("budget.protected.truncated", "/token_budget/window", expected, str(len(sent.ids)))
        )
    return problems


def _candidates(
    job: Job, prompt: PromptCapsule, evidence: Sequence[EvidenceCapsule], texts: Mapping[str, str]
) -> Iterator[CandidateItem]:
    """All candidates, with tokens counted from the texts where these are at hand, else as recorded."""
    ranges: dict[str, dict[Range, None]] = {}
    for capsule in evidence:
        for span in capsule.exact_spans:
            ranges.setdefault(span.source, {})[_range(span)] = None
    for source, kept in ranges.items():
        omitted = [(start, end) for at, start, end in omitted_places(prompt).values() if at == source]
        counts = item_tokens(texts[source], [*kept, *omitted], job.tokenizer, only=kept.keys())
        for (start, end), tokens in counts.items():
            name = span_id(source, start, end)
            yield CandidateItem(item=name, tokens=tokens, source=source, start=start, end=end)
    for constraint in prompt.constraints:
        text = constraint_text(constraint.text) if is_rendered(constraint.kind) else ""
        yield CandidateItem(item=constraint.id, tokens=len(job.tokenizer.encode(text)))
    for gone in prompt.omissions:
        if gone.reason == DENIED:  # only their sum is known
            for number in range(gone.count):
                yield CandidateItem(item="", tokens=0 if number else gone.tokens or 0, named=False)
        elif gone.item is not None and gone.reason != OUTSIDE_POOL:
            item = CandidateItem(item=gone.item, tokens=gone.tokens or 0)
            place = item_range(gone.item)
            yield item if place is None else replace(item, source=place[0], start=place[1], end=place[2])
