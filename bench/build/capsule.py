"""The capsule builder: from a sample without gold to sealed capsules and the ids that are sent.

    candidates -> visibility, freshness, quotability, duplicates -> retrieval -> selection
    -> compression (texts written anew: ``bench.build.rewriting``) -> budget -> seal -> render
    -> tokenize -> laws

Rules that this module owns:

* ``evidence_limit`` bounds what the evidence block costs: item ids and header ids together, on the
  final ids. Over it, items go whole: later rank before earlier, larger start before smaller. A
  required item never goes: if it cannot fit, there is no prompt (``budget.required.unfit``). A rewrite of
  the whole evidence goes or stays as one.
* The window must hold the fixed parts (BOS, prefix, tail), the whole evidence limit and the reserved
  output; nothing protected is ever shortened (``budget.protected.truncated``).
* Nothing but the sample, the arm, the tokenizer and the examples enters: the same input gives the
  same digests in any process. Gold enters only where the arm is an upper bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from bench.build import accounting
from bench.build.base import BuildContext, BuildError, BuiltPrompt, build_error
from bench.build.candidates import Candidates, Item, Outside, cut_sources, gather
from bench.build.chunking import ChunkCache
from bench.build.examples import Example
from bench.build.narrowing import Narrowed, narrow
from bench.build.prefix import prefix_constraints, require_window, usable_examples
from bench.build.rewriting import Rewritten, require_protected, rewrite_items, rewrite_whole, separators
from bench.build.sealing import seal_evidence, seal_prompt
from bench.build.stating import state
from bench.compression.base import PROTECTED, RAW
from bench.evidence.claims import Stated, stated_claims
from bench.evidence.disputes import REQUIRED_WORDS
from bench.selection.bill import header_tokens
from capsules import omission_laws
from capsules.codec import Sealed
from capsules.errors import CapsuleError
from capsules.evidence import EvidenceCapsule
from capsules.omission_laws import Accounts, CandidateItem
from capsules.prompt import Constraint, PromptCapsule
from capsules.rendering import Rendered, render
from capsules.span import ExactSpan, make_span
from capsules.tokenized import TokenizedPrompt, tokenize
from capsules.visibility import LEVELS, join_levels
from tasks.base import SampleInput


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A prompt with some items kept: sealed, rendered and tokenized."""

    sealed: tuple[Sealed[PromptCapsule] | Sealed[EvidenceCapsule], ...]
    prompt: PromptCapsule
    evidence: tuple[EvidenceCapsule, ...]
    rendered: Rendered
    tokenized: TokenizedPrompt


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What every draft of a build shares."""

    sample: SampleInput
    ctx: BuildContext
    constraints: tuple[Constraint, ...]
    candidates: Candidates
    counted: list[CandidateItem]
    narrowed: Narrowed
    stated: Stated
    spans: dict[str, ExactSpan]
    outside: Outside | None
    rewritten: Rewritten = field(default_factory=Rewritten)

    @property
    def left(self) -> list[Item]:
        """Items left after compression."""
        return [item for item in self.narrowed.kept if item.item not in self.rewritten.dropped]


class CapsuleBuilder:
    """The builder ``capsule``. Holds cut sources and their counts between samples."""

    def __init__(self, cache: ChunkCache | None = None) -> None:
        self._cache = cache or ChunkCache()

    def __call__(self, sample: SampleInput, ctx: BuildContext) -> BuiltPrompt:
        """Build the prompt of one sample.

        Raises:
            BuildError: No prompt can be built; the code says why.
            RegistryError: The arm names a stage that does not exist.
        """
        try:
            return self._build(sample, ctx)
        except (CapsuleError, UnicodeEncodeError) as error:
            raise build_error(error) from error

    def _build(self, sample: SampleInput, ctx: BuildContext) -> BuiltPrompt:
        arm, tokenizer = ctx.arm, ctx.tokenizer
        examples = usable_examples(sample, ctx)
        constraints = prefix_constraints(
            examples, arm.contract.name, arm.contradictions.tell, instruct=ctx.frame is not None
        )
        ctx.lap("prefix")
        pool = ctx.corpus.pool(sample, arm, tokenizer, ctx.gold) if ctx.corpus is not None else None
        ctx.lap("retrieval")
        chunking = arm.retrieval.chunking
        level = arm.authority.max_level
        sources = pool.sources if pool else cut_sources(sample, chunking, tokenizer, self._cache, level)
        every = ctx.corpus.sources(chunking, tokenizer) if ctx.corpus is not None else sources
        require_window(sample.question, constraints, ctx)
        candidates = gather(sample, sources, level, arm.freshness, pool)
        ctx.lap("candidates")
        header = header_tokens(tokenizer)
        narrowed = narrow(sample, candidates, sources, arm, ctx.gold, header, pool, ctx.lap)
        counted = accounting.candidate_items(candidates.named, candidates.denied, constraints, tokenizer)
        ctx.lap("candidates")
        parts = _Parts(
            sample=sample,
            ctx=ctx,
            constraints=constraints,
            candidates=candidates,
            counted=counted,
            narrowed=narrowed,
            stated=stated_claims(sample, every, arm, ctx.gold),
            spans={
                i.item: _span(i.source, candidates.texts[i.source], i.start, i.end) for i in narrowed.kept
            },
            outside=pool.outside if pool else None,
        )
        ctx.lap("claims")
        parts = replace(parts, rewritten=_compress(parts))
        ctx.lap("compression")
        kept, draft = _fit(parts)
        untouchable = narrowed.required if arm.compression.mode == PROTECTED else frozenset()
        require_protected(draft.prompt, draft.evidence, draft.rendered.text, untouchable)
        laws = omission_laws.check(
            Accounts(
                prompt=draft.prompt,
                evidence=draft.evidence,
                candidates=counted,
                rendered=draft.rendered,
                tokenized=draft.tokenized,
                encode=tokenizer.encode,
                frame=ctx.frame,
            )
        )
        ctx.lap("laws")
        return _built(parts, kept, draft, laws, examples)


@lru_cache(maxsize=1 << 15)
def _span(source: str, text: str, start: int, end: int) -> ExactSpan:
    """The span of an item: the same in every prompt that shows it."""
    return make_span(source, text, start, end, norm_id="quote/1")


def _compress(parts: _Parts) -> Rewritten:
    """Have a lossy compressor write the selected items anew, if the arm names one."""
    kept, mode = parts.narrowed.kept, parts.ctx.arm.compression.mode
    if mode == PROTECTED:
        candidates = parts.candidates
        seps = separators(candidates.named, candidates.texts)
        return rewrite_items(parts.sample, kept, parts.narrowed.required, parts.ctx, seps)
    if mode == RAW:
        draft = _draft(parts, kept, dict(parts.narrowed.dropped))
        by_id = {item.item: item for item in kept}
        ordered = [by_id[s.ref] for s in draft.rendered.segments if s.kind == "item" and s.ref in by_id]
        return rewrite_whole(parts.sample, ordered, draft.rendered, parts.ctx)
    return Rewritten()


def _fit(parts: _Parts) -> tuple[list[Item], _Draft]:
    """The draft with the most items, dropped in order, whose evidence block fits the limit."""
    limit, narrowed, rewritten = parts.ctx.arm.budget.evidence_limit, parts.narrowed, parts.rewritten
    ordered = sorted(parts.left, key=lambda i: (narrowed.rank_of(i), i.place, i.start))
    needed = [item for item in ordered if rewritten.whole or item.item in narrowed.required]
    others = [item for item in ordered if not rewritten.whole and item.item not in narrowed.required]
    dropped = {**narrowed.dropped, **rewritten.dropped}
    tokens = sum(rewritten.sent_tokens(item) for item in ordered)
    while True:
        if tokens <= limit:  # headers cost more, so no draft is needed to see that it cannot fit
            kept = [*needed, *others]
            draft = _draft(parts, kept, dropped)
            found = draft.tokenized.count("item", "header")
            if found <= limit or not kept:
                break
        if not others:
            need = f"{found} tokens" if tokens <= limit else f"{tokens} tokens, headers apart"
            raise BuildError(
                "budget.required.unfit",
                f"expected required items with their headers within evidence_limit {limit}, found {need}",
            )
        last = others.pop()
        dropped[last.item] = accounting.BUDGET
        tokens -= rewritten.sent_tokens(last)
    if found > limit:
        raise BuildError(
            "budget.protected.truncated",
            f"expected empty fences within evidence_limit {limit}, found {found} tokens",
        )
    return kept, draft


def _draft(parts: _Parts, kept: Sequence[Item], dropped: dict[str, str]) -> _Draft:
    sample, arm, tokenizer = parts.sample, parts.ctx.arm, parts.ctx.tokenizer
    required = parts.narrowed.required
    what = state(sample, parts.candidates, parts.narrowed, parts.stated, parts.spans, kept, arm)
    parts.ctx.lap("claims")
    evidence = seal_evidence(sample, what, arm)
    reasons = parts.candidates.dropped | dropped
    gone = accounting.omissions(parts.candidates.named, parts.candidates.denied, reasons, parts.outside)
    totals = accounting.totals(parts.counted)
    rewrites = parts.rewritten.of(span.span_id for e in evidence for span in e.record.exact_spans)
    prompt = seal_prompt(
        sample, evidence, required, parts.constraints, totals, gone, rewrites, arm, tokenizer
    )
    records = tuple(sealed.record for sealed in evidence)
    parts.ctx.lap("sealing")
    rendered = render(prompt.record, records, parts.candidates.texts)
    parts.ctx.lap("rendering")
    tokenized = tokenize(rendered, tokenizer, parts.ctx.frame)
    parts.ctx.lap("tokenizing")
    return _Draft(
        sealed=(prompt, *evidence),
        prompt=prompt.record,
        evidence=records,
        rendered=rendered,
        tokenized=tokenized,
    )


def _built(
    parts: _Parts, kept: Sequence[Item], draft: _Draft, laws: dict[str, bool], examples: Sequence[Example]
) -> BuiltPrompt:
    candidates, narrowed, tokenized = parts.candidates, parts.narrowed, draft.tokenized
    lossy = any(item.lossy for item in candidates.named) or any(s.lossy for s in tokenized.segments)
    levels = [e.visibility.level for e in draft.evidence] + [level for e in examples for level in e.levels]
    return BuiltPrompt(
        ids=tokenized.ids,
        stable_ids=tokenized.stable(),
        pieces=accounting.pieces(tokenized),
        shown=accounting.shown_sources(draft.rendered.shown, kept),
        stages=(
            accounting.stage("candidates", (*candidates.named, *candidates.denied)),
            accounting.stage("retrieval", narrowed.retrieved),
            accounting.stage("selection", narrowed.selected),
            accounting.stage("compression", parts.left),
            accounting.stage("budget", kept),
        ),
        silent_omissions=0,
        silent_tokens=0,
        prompt=draft.prompt,
        evidence=draft.evidence,
        sources=candidates.texts,
        project=parts.sample.project,
        level=join_levels(levels or LEVELS[:1]),
        flags=_flags(parts, kept, draft, lossy) + parts.rewritten.codes({i.item: i.text for i in kept}),
        laws=laws,
        compressor_us=narrowed.compressor_us + parts.rewritten.us,
        compressed=parts.rewritten.texts,
        sealed=draft.sealed,
        place=narrowed.place,
        place_report=narrowed.report,
    )


def _flags(parts: _Parts, kept: Sequence[Item], draft: _Draft, lossy: bool) -> tuple[str, ...]:
    """Codes for whoever reads the build's row: nothing here is an error."""
    expired, report = parts.candidates.expired, parts.narrowed.report
    words = {c.resolution for evidence in draft.evidence for c in evidence.contradictions}
    codes = [
        code
        for code, holds in (
            ("contradiction.required_kept", not words.isdisjoint(REQUIRED_WORDS.values())),
            ("evidence.empty", not kept),
            ("freshness.stale", any(item.item in expired for item in kept)),
            ("render.lossy", lossy),
        )
        if holds
    ]
    if report is not None and report.code is not None:
        codes.append(report.code)
    return tuple(sorted(codes))
