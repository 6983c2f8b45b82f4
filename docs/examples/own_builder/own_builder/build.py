"""A builder: one sample in, sealed capsules and the ids to send out.

It shows every passage that its selector takes, best passages first until the evidence limit is reached, and
writes down why each of the other sentences was left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.build import accounting
from bench.build.base import BuildContext, BuildError, BuiltPrompt, build_error
from bench.build.candidates import Candidates, Item, cut_sources, gather, passages
from bench.build.chunking import ChunkCache
from bench.retrieval.base import Query
from bench.selection.registry import selector
from capsules import omission_laws
from capsules.authority import Authority
from capsules.budget import TokenBudget
from capsules.codec import digest_of
from capsules.errors import CapsuleError
from capsules.evidence import Confidence, EvidenceCapsule, Freshness, QuotePolicy
from capsules.names import capsule_id
from capsules.omission import Candidates as Totals
from capsules.omission import Omission
from capsules.prompt import ActiveObject, Constraint, EvidenceRef, OutputContract, PromptCapsule
from capsules.rendering import render
from capsules.source import SourceRef
from capsules.span import make_span
from capsules.tokenized import tokenize
from capsules.visibility import LEVELS, Visibility, join_levels
from tasks.base import SampleInput

CACHE = ChunkCache()  # cuts and counts each source text once

RULES = (
    Constraint(id="task", kind="instruction", text="Answer from the sources below and from nothing else."),
    Constraint(id="form", kind="style", text="Answer with one short quote, as <q>quote</q> [number]."),
)


def build(sample: SampleInput, context: BuildContext) -> BuiltPrompt:
    """Build the prompt of one sample.

    Raises:
        BuildError: No prompt can be built; its code says why.
    """
    try:
        return _build(sample, context)
    except CapsuleError as error:
        raise build_error(error) from error


def _build(sample: SampleInput, context: BuildContext) -> BuiltPrompt:
    arm, tokenizer = context.arm, context.tokenizer
    sources = cut_sources(sample, arm.retrieval.chunking, tokenizer, CACHE)
    # Takes out what may not be shown: foreign projects, too private, expired, said twice.
    candidates = gather(sample, sources, arm.authority.max_level)
    found = passages(candidates.live, sources)
    places = list(found)
    chosen = selector(arm.selection.name)(
        Query(question=sample.question, k=arm.selection.k), list(found.values())
    )
    selected = [item for index in chosen for item in candidates.live if item.place == places[index]]
    kept = _fitting(selected, arm.budget.evidence_limit)
    reasons = dict(candidates.dropped)
    for item in candidates.live:
        if item not in kept:
            reasons[item.item] = "budget.limit" if item in selected else "selection.not_needed"
    evidence = tuple(_evidence(sample, level, kept, candidates, context) for level in _levels(kept))
    counted = accounting.candidate_items(candidates.named, candidates.denied, RULES, tokenizer)
    omitted = accounting.omissions(candidates.named, candidates.denied, reasons)
    prompt = _prompt(sample, evidence, accounting.totals(counted), omitted, context)
    rendered = render(prompt, evidence, candidates.texts)
    tokenized = tokenize(rendered, tokenizer)
    if len(tokenized.ids) + arm.budget.reserved_output > arm.budget.window:
        raise BuildError(
            "budget.window.exceeded", f"expected {arm.budget.window} tokens, found {len(tokenized.ids)}"
        )
    accounts = omission_laws.Accounts(
        prompt=prompt,
        evidence=evidence,
        candidates=counted,
        rendered=rendered,
        tokenized=tokenized,
        encode=tokenizer.encode,
    )
    stages = (
        ("candidates", [*candidates.named, *candidates.denied]),
        ("retrieval", candidates.live),
        ("selection", selected),
        ("compression", selected),
        ("budget", kept),
    )
    return BuiltPrompt(
        ids=tokenized.ids,
        stable_ids=tokenized.ids[: tokenized.count("bos", "prefix")],
        pieces=accounting.pieces(tokenized),
        shown=accounting.shown_sources(rendered.shown, kept),
        stages=tuple(accounting.stage(name, items) for name, items in stages),
        silent_omissions=0,
        silent_tokens=0,
        prompt=prompt,
        evidence=evidence,
        sources=candidates.texts,
        project=sample.project,
        level=join_levels([item.doc.level for item in kept] or LEVELS[:1]),
        laws=omission_laws.check(accounts),
    )


def _fitting(selected: Sequence[Item], limit: int) -> list[Item]:
    """The first items whose tokens fit the limit together; headers take their share of it too."""
    kept: list[Item] = []
    spent = 0
    for item in selected:
        spent += item.tokens
        if spent > limit:
            break
        kept.append(item)
    return kept


def _levels(kept: Sequence[Item]) -> list[str]:
    """One evidence capsule a visibility level, public first."""
    return sorted({item.doc.level for item in kept}, key=LEVELS.index)


def _evidence(
    sample: SampleInput, level: str, kept: Sequence[Item], candidates: Candidates, context: BuildContext
) -> EvidenceCapsule:
    items = sorted((i for i in kept if i.doc.level == level), key=lambda i: (i.source, i.start))
    docs = {item.source: item.doc for item in items}
    return EvidenceCapsule(
        schema_id="evidence-capsule/1",
        # named after its documents, not the question: then the same evidence is one capsule for all questions
        capsule_id=capsule_id(
            sample.project,
            sample.task,
            "\n".join(sorted(doc.doc_id for doc in docs.values())),
            f"evidence-{level}",
        ),
        source_refs=tuple(
            SourceRef(
                source=source,
                bytes=len(doc.text.encode()),
                media_type=doc.media_type,
                origin=doc.origin,
                license=doc.license,
                title=doc.title,
                retrieved_as_of=doc.as_of,
            )
            for source, doc in docs.items()
        ),
        exact_spans=tuple(
            make_span(i.source, candidates.texts[i.source], i.start, i.end, norm_id="quote/1") for i in items
        ),
        claim_candidates=(),
        contradictions=(),
        freshness=Freshness(
            as_of=sample.as_of,
            expires_at=min((d.expires_at for d in docs.values() if d.expires_at), default=None),
            policy="hard",
        ),
        confidence=Confidence(bp=10_000, method="rule"),
        visibility=Visibility(level=level, project=sample.project),
        quote_policy=QuotePolicy(
            mode="verbatim",
            norm_id="quote/1",
            min_chars=context.arm.contract.min_chars,
            max_chars=2000,
            unique=False,
        ),
        missing_evidence=(),
    )


def _prompt(
    sample: SampleInput,
    evidence: Sequence[EvidenceCapsule],
    totals: Totals,
    omitted: tuple[Omission, ...],
    context: BuildContext,
) -> PromptCapsule:
    arm, tokenizer, grant = context.arm, context.tokenizer, context.arm.authority
    return PromptCapsule(
        schema_id="prompt-capsule/1",
        capsule_id=capsule_id(sample.project, sample.task, sample.sample_id, "prompt"),
        task=sample.task,
        project=sample.project,
        active_object=ActiveObject(kind="question", ref=sample.sample_id, text=sample.question),
        surface_snippet=None,
        constraints=RULES,
        authority=Authority(
            principal=grant.principal,
            project=sample.project,
            operations=grant.operations,
            providers=grant.providers,
            max_level=grant.max_level,
            not_before=grant.not_before,
            expires_at=grant.expires_at,
        ),
        evidence_capsule_refs=tuple(EvidenceRef(id=digest_of(one), required=False) for one in evidence),
        output_contract=OutputContract(
            name=arm.contract.name, max_quotes=arm.contract.max_quotes, min_chars=arm.contract.min_chars
        ),
        token_budget=TokenBudget(
            tokenizer_id=tokenizer.tokenizer_id,
            tokenizer_digest=tokenizer.tokenizer_digest,
            window=arm.budget.window,
            reserved_output=arm.budget.reserved_output,
            evidence_limit=arm.budget.evidence_limit,
            protected=("active_object", "authority", "constraints", "output_contract"),
        ),
        candidates=totals,
        omissions=omitted,
        rewrites=(),
    )
