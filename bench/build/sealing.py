"""From the kept items to sealed capsules: one EvidenceCapsule a level, one PromptCapsule.

Rules that this module owns:

* Evidence capsules stand in the order of the levels. Inside, sources stand by id and spans by
  start: never by score, so equal evidence gives equal bytes.
* The documents of a contradiction whose two sides are kept, and those of all spans of a claim, live in
  the most restricted capsule that it touches (a label may rise, never fall), which can name them all.
* A claim that its own span contradicts is a contradiction too, between the claim and the span.
* What is missing stands in the most restricted capsule. Where nothing is kept, a capsule without spans
  holds it, of the join of the levels of what could have been shown.
* A capsule is as sure as its least sure claim; without a claim it says only that its spans are exact.
* A capsule expires with the first of its documents.
* A capsule is named after its documents. Without claims and without missing evidence, which speak of the
  question, nothing in it does: questions over the same evidence share its digest, the fence tag, and so
  the cached blocks of the evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bench.build.candidates import Item
from bench.evidence.age import expiry
from bench.evidence.claims import Claim, check_claim, judged
from bench.evidence.disputes import Dispute
from bench.evidence.support import CERTAIN_BP
from bench.specs import ArmSpec, AuthoritySpec
from capsules.authority import Authority
from capsules.budget import TokenBudget
from capsules.claim import ClaimCandidate, Contradiction, MissingEvidence
from capsules.codec import Sealed, seal
from capsules.evidence import SCHEMA_ID as EVIDENCE_SCHEMA
from capsules.evidence import Confidence, EvidenceCapsule, Freshness, QuotePolicy
from capsules.names import capsule_id
from capsules.omission import Candidates, Omission, Rewrite
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What goes into the evidence capsules.

    Attributes:
        items: Kept items.
        spans: The span of each item, by span_id (a larger mapping is fine).
        claims: All of whose spans are kept.
        disputes: Contradictions between kept items.
        missing: What was looked for and not found.
        floor: Level of the capsule that holds what is missing, where nothing is kept.
    """

    items: Sequence[Item]
    spans: Mapping[str, ExactSpan]
    claims: Sequence[Claim]
    disputes: Sequence[Dispute]
    missing: tuple[MissingEvidence, ...] = ()
    floor: str = LEVELS[0]


def seal_evidence(sample: SampleInput, kept: Kept, arm: ArmSpec) -> list[Sealed[EvidenceCapsule]]:
    """The evidence capsules, in the order of the levels; none where nothing is kept and nothing is missing.

    Raises:
        BuildError: A claim that may not be sealed; see ``bench.evidence.claims``.
    """
    levels = _levels(kept)
    used = [level for level in LEVELS if level in levels.values()]
    if not used and kept.missing:
        used = [kept.floor]
    sealed = []
    for level in used:
        items = [item for item in kept.items if levels[item.source] == level]
        missing = kept.missing if level == used[-1] else ()
        sealed.append(seal(_evidence(sample, items, kept, level, missing, arm)))
    return sealed


def seal_prompt(
    sample: SampleInput,
    evidence: Sequence[Sealed[EvidenceCapsule]],
    required: frozenset[str],
    constraints: tuple[Constraint, ...],
    candidates: Candidates,
    omissions: tuple[Omission, ...],
    rewrites: tuple[Rewrite, ...],
    arm: ArmSpec,
    tokenizer: Tokenizer,
) -> Sealed[PromptCapsule]:
    """The prompt capsule over sealed evidence."""
    refs = [
        EvidenceRef(id=e.digest, required=any(s.span_id in required for s in e.record.exact_spans))
        for e in evidence
    ]
    return seal(
        PromptCapsule(
            schema_id=PROMPT_SCHEMA,
            capsule_id=capsule_id(sample.project, sample.task, sample.sample_id, "prompt"),
            task=sample.task,
            project=sample.project,
            active_object=ActiveObject(kind="question", ref=sample.sample_id, text=sample.question),
            surface_snippet=None,
            constraints=constraints,
            authority=_authority(arm.authority, sample.project),
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
            rewrites=rewrites,
        )
    )


@lru_cache(maxsize=64)
def _authority(grant: AuthoritySpec, project: str) -> Authority:
    """What the prompts of an arm are allowed: the same for all of a project."""
    return Authority(
        principal=grant.principal,
        project=project,
        operations=tuple(sorted(grant.operations)),
        providers=tuple(sorted(grant.providers)),
        max_level=grant.max_level,
        not_before=grant.not_before,
        expires_at=grant.expires_at,
    )


def _levels(kept: Kept) -> dict[str, str]:
    """The level of each source, raised where a contradiction or a claim reaches a more restricted one."""
    levels = {item.source: item.doc.level for item in kept.items}
    source_of = {item.item: item.source for item in kept.items}
    links = [({dispute.left.source, dispute.right.source}, LEVELS[0]) for dispute in kept.disputes]
    links += [({source_of[name] for name in claim.items}, claim.level) for claim in kept.claims]
    before: dict[str, str] = {}
    while before != levels:  # levels only rise, so this ends
        before = dict(levels)
        for sources, floor in links:
            level = max((floor, *(levels[source] for source in sources)), key=LEVELS.index)
            levels.update(dict.fromkeys(sources, level))
    return levels


def _evidence(
    sample: SampleInput,
    items: Sequence[Item],
    kept: Kept,
    level: str,
    missing: tuple[MissingEvidence, ...],
    arm: ArmSpec,
) -> EvidenceCapsule:
    ordered = sorted(items, key=lambda item: (item.source, item.start))
    docs = {item.source: item.doc for item in ordered}
    here = {item.item: item.text for item in ordered}
    claims, conflicts = _claims([c for c in kept.claims if here.keys() >= set(c.items)], here, level, arm)
    ends = [end for doc in docs.values() if (end := expiry(doc, arm.freshness)) is not None]
    return EvidenceCapsule(
        schema_id=EVIDENCE_SCHEMA,
        capsule_id=capsule_id(
            sample.project, sample.task, _object(sample, docs.values()), f"evidence-{level}"
        ),
        source_refs=tuple(_source_ref(source, doc) for source, doc in docs.items()),
        exact_spans=tuple(kept.spans[item.item] for item in ordered),
        claim_candidates=claims,
        contradictions=(
            *(
                Contradiction(between=(d.left.item, d.right.item), kind=d.kind, resolution=d.resolution)
                for d in kept.disputes
                if d.left.item in here
            ),
            *conflicts,
        ),
        freshness=Freshness(
            as_of=sample.as_of, expires_at=min(ends, default=None), policy=arm.freshness.policy
        ),
        confidence=Confidence(
            bp=min((claim.confidence_bp for claim in claims), default=CERTAIN_BP if items else 0),
            method=claims[0].method if claims else "rule",
        ),
        visibility=Visibility(level=level, project=sample.project),
        quote_policy=QuotePolicy(
            mode="verbatim",
            norm_id=NORM_ID,
            min_chars=arm.contract.min_chars,
            max_chars=max(MAX_QUOTE_CHARS, arm.contract.min_chars),
            unique=False,
        ),
        missing_evidence=missing,
    )


def _claims(
    claims: Iterable[Claim], texts: Mapping[str, str], level: str, arm: ArmSpec
) -> tuple[tuple[ClaimCandidate, ...], list[Contradiction]]:
    """The claims of one capsule, each checked and judged, and what contradicts them."""
    made: list[ClaimCandidate] = []
    conflicts: list[Contradiction] = []
    for number, claim in enumerate(claims, 1):
        check_claim(claim, level, list(texts))
        status, confidence_bp, against = judged(claim, [texts[name] for name in claim.items], arm)
        name = f"claim-{number}"
        made.append(
            ClaimCandidate(
                claim_id=name,
                text=claim.text,
                span_ids=claim.items,
                status=status,
                method=claim.method,
                confidence_bp=confidence_bp,
            )
        )
        conflicts += [Contradiction(between=(name, at), kind=kind, resolution=None) for at, kind in against]
    return tuple(made), conflicts


def _object(sample: SampleInput, docs: Iterable[SourceDoc]) -> str:
    """What evidence of these documents is named after: their ids, sorted; without any, the sample."""
    return "\n".join(sorted(doc.doc_id for doc in docs)) or sample.sample_id


@lru_cache(maxsize=1 << 14)
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
