"""From the kept items to sealed capsules: one EvidenceCapsule a level, one PromptCapsule.

Rules that this module owns:

* Evidence capsules stand in the order of the levels. Inside, sources stand by id and spans by
  start: never by score, so equal evidence gives equal bytes.
* The documents of a labelled contradiction whose two sides are kept live in the most restricted
  capsule that it touches (a label may rise, never fall), where the contradiction can name both.
* Each required sentence is a claim by rule: its own text, supported by its span.
* A capsule expires with the first of its documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.build.candidates import Item, items_at
from bench.specs import ArmSpec
from capsules.authority import Authority
from capsules.budget import TokenBudget
from capsules.claim import ClaimCandidate, Contradiction
from capsules.codec import Sealed, seal
from capsules.evidence import SCHEMA_ID as EVIDENCE_SCHEMA
from capsules.evidence import Confidence, EvidenceCapsule, Freshness, QuotePolicy
from capsules.names import capsule_id
from capsules.omission import Candidates, Omission
from capsules.prompt import SCHEMA_ID as PROMPT_SCHEMA
from capsules.prompt import ActiveObject, Constraint, EvidenceRef, OutputContract, PromptCapsule
from capsules.source import SourceRef
from capsules.span import ExactSpan
from capsules.tokenizer import Tokenizer
from capsules.visibility import LEVELS, Visibility
from tasks.base import SampleInput, SourceDoc

PROTECTED = ("active_object", "authority", "constraints", "output_contract")
NORM_ID = "quote/1"
MAX_QUOTE_CHARS = 2000
CERTAIN_BP = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What goes into the evidence capsules.

    Attributes:
        items: Kept items.
        spans: The span of each item, by span_id (a larger mapping is fine).
        required: span_ids that had to be kept.
    """

    items: Sequence[Item]
    spans: Mapping[str, ExactSpan]
    required: frozenset[str]


def seal_evidence(sample: SampleInput, kept: Kept, arm: ArmSpec) -> list[Sealed[EvidenceCapsule]]:
    """The evidence capsules, in the order of the levels; none where nothing is kept."""
    pairs = _contradictions(sample, kept.items)
    levels = _levels(kept.items, pairs)
    sealed = []
    for level in LEVELS:
        items = [item for item in kept.items if levels[item.source] == level]
        if items:
            sealed.append(seal(_evidence(sample, items, kept, level, pairs, arm)))
    return sealed


def seal_prompt(
    sample: SampleInput,
    evidence: Sequence[Sealed[EvidenceCapsule]],
    required: frozenset[str],
    constraints: tuple[Constraint, ...],
    candidates: Candidates,
    omissions: tuple[Omission, ...],
    arm: ArmSpec,
    tokenizer: Tokenizer,
) -> Sealed[PromptCapsule]:
    """The prompt capsule over sealed evidence."""
    refs = [
        EvidenceRef(id=e.digest, required=any(s.span_id in required for s in e.record.exact_spans))
        for e in evidence
    ]
    grant = arm.authority
    return seal(
        PromptCapsule(
            schema_id=PROMPT_SCHEMA,
            capsule_id=capsule_id(sample.project, sample.task, sample.sample_id, "prompt"),
            task=sample.task,
            project=sample.project,
            active_object=ActiveObject(kind="question", ref=sample.sample_id, text=sample.question),
            surface_snippet=None,
            constraints=constraints,
            authority=Authority(
                principal=grant.principal,
                project=sample.project,
                operations=tuple(sorted(grant.operations)),
                providers=tuple(sorted(grant.providers)),
                max_level=grant.max_level,
                not_before=grant.not_before,
                expires_at=grant.expires_at,
            ),
            evidence_capsule_refs=tuple(refs),
            output_contract=OutputContract(
                name=arm.contract.name, max_quotes=arm.contract.max_quotes, min_chars=arm.contract.min_chars
            ),
            token_budget=TokenBudget(
                tokenizer_id=tokenizer.tokenizer_id,
                tokenizer_digest=tokenizer.tokenizer_digest,
                window=arm.budget.window,
                reserved_output=arm.budget.reserved_output,
                evidence_limit=arm.budget.evidence_limit,
                protected=PROTECTED,
            ),
            candidates=candidates,
            omissions=omissions,
            rewrites=(),
        )
    )


def _contradictions(sample: SampleInput, items: Sequence[Item]) -> list[tuple[Item, Item, str]]:
    """The labelled contradictions of which both sides are kept, as pairs of items."""
    sources = {item.doc.doc_id: item.source for item in items}
    found: list[tuple[Item, Item, str]] = []
    for label in sample.contradictions:
        left = items_at(label.left, items, sources.get(label.left.doc_id))
        right = items_at(label.right, items, sources.get(label.right.doc_id))
        if left and right and left[0].item != right[0].item:
            found.append((left[0], right[0], label.kind))
    return list(dict.fromkeys(found))


def _levels(items: Sequence[Item], pairs: Sequence[tuple[Item, Item, str]]) -> dict[str, str]:
    """The level of each source, raised where a contradiction reaches a more restricted one."""
    levels = {item.source: item.doc.level for item in items}
    for _ in pairs:  # a chain of n contradictions is joined after n rounds at most
        for left, right, _kind in pairs:
            level = max(levels[left.source], levels[right.source], key=LEVELS.index)
            levels[left.source] = levels[right.source] = level
    return levels


def _evidence(
    sample: SampleInput,
    items: Sequence[Item],
    kept: Kept,
    level: str,
    pairs: Sequence[tuple[Item, Item, str]],
    arm: ArmSpec,
) -> EvidenceCapsule:
    ordered = sorted(items, key=lambda item: (item.source, item.start))
    docs = {item.source: item.doc for item in ordered}
    here = {item.item for item in ordered}
    required = [item for item in ordered if item.item in kept.required]
    return EvidenceCapsule(
        schema_id=EVIDENCE_SCHEMA,
        capsule_id=capsule_id(sample.project, sample.task, sample.sample_id, f"evidence-{level}"),
        source_refs=tuple(_source_ref(source, doc) for source, doc in docs.items()),
        exact_spans=tuple(kept.spans[item.item] for item in ordered),
        claim_candidates=tuple(
            ClaimCandidate(
                claim_id=f"claim-{number}",
                text=item.text,
                span_ids=(item.item,),
                status="supported",
                method="rule",
                confidence_bp=CERTAIN_BP,
            )
            for number, item in enumerate(required, 1)
        ),
        contradictions=tuple(
            Contradiction(between=(left.item, right.item), kind=kind, resolution=None)
            for left, right, kind in pairs
            if left.item in here
        ),
        freshness=Freshness(
            as_of=sample.as_of,
            expires_at=min((d.expires_at for d in docs.values() if d.expires_at is not None), default=None),
            policy="hard",
        ),
        confidence=Confidence(bp=CERTAIN_BP, method="rule"),
        visibility=Visibility(level=level, project=sample.project),
        quote_policy=QuotePolicy(
            mode="verbatim",
            norm_id=NORM_ID,
            min_chars=arm.contract.min_chars,
            max_chars=max(MAX_QUOTE_CHARS, arm.contract.min_chars),
            unique=False,
        ),
        missing_evidence=(),
    )


def _source_ref(source: str, doc: SourceDoc) -> SourceRef:
    return SourceRef(
        source=source,
        bytes=len(doc.text.encode()),
        media_type=doc.media_type,
        origin=doc.origin,
        license=doc.license,
        title=doc.title,
        retrieved_as_of=doc.as_of,
    )
