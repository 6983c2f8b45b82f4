"""Small prompts over short texts: what the tests of rendering and of the omission laws lay out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from capsules.authority import Authority
from capsules.budget import TokenBudget
from capsules.codec import seal
from capsules.content_id import content_id, derived_key
from capsules.errors import RenderError
from capsules.evidence import Confidence, EvidenceCapsule, Freshness, QuotePolicy
from capsules.omission import Candidates, Omission
from capsules.prompt import ActiveObject, Constraint, EvidenceRef, OutputContract, PromptCapsule
from capsules.rendering import render
from capsules.source import Origin, SourceRef
from capsules.span import make_span
from capsules.visibility import Visibility

TEXT = "One is here. Two follows.\n\nThree stands apart. Four ends."
ITEMS = [(0, 12), (13, 25), (27, 46), (47, 57)]


def evidence_of(
    texts: Sequence[str], kept: Sequence[Sequence[tuple[int, int]]], level: str = "public"
) -> EvidenceCapsule:
    pairs = sorted(zip([content_id(t.encode()) for t in texts], texts, kept, strict=True))
    refs = [
        SourceRef(
            source=source,
            bytes=len(text.encode()),
            media_type="text/plain",
            origin=Origin(dataset="d", row="r"),
            license="CC0-1.0",
            title=None,
            retrieved_as_of=None,
        )
        for source, text, _ in pairs
    ]
    return EvidenceCapsule(
        schema_id="evidence-capsule/1",
        capsule_id=f"p:t:s:evidence-{level}",
        source_refs=tuple(refs),
        exact_spans=tuple(make_span(s, t, a, b) for s, t, ranges in pairs for a, b in sorted(ranges)),
        claim_candidates=(),
        contradictions=(),
        freshness=Freshness(as_of="2026-01-01T00:00:00Z", expires_at=None, policy="hard"),
        confidence=Confidence(bp=10_000, method="rule"),
        visibility=Visibility(level=level, project="p"),
        quote_policy=QuotePolicy(mode="verbatim", norm_id="quote/1", min_chars=1, max_chars=9, unique=False),
        missing_evidence=(),
    )


def prompt_of(
    evidence: Sequence[EvidenceCapsule],
    omitted: Sequence[str] = (),
    question: str = "Why?",
    constraints: Sequence[Constraint] = (Constraint(id="i", kind="instruction", text="Quote."),),
    contract: str = "quote",
) -> PromptCapsule:
    gone = [
        Omission(item=i, stage="budget", reason="budget.limit", tokens=1, required=False, count=1)
        for i in sorted(omitted)
    ]
    return PromptCapsule(
        schema_id="prompt-capsule/1",
        capsule_id="p:t:s:prompt",
        task="t",
        project="p",
        active_object=ActiveObject(kind="question", ref="s", text=question),
        surface_snippet=None,
        constraints=tuple(constraints),
        authority=Authority(
            principal="me",
            project="p",
            operations=("generate",),
            providers=("local",),
            max_level="internal",
            not_before="2020-01-01T00:00:00Z",
            expires_at="2100-01-01T00:00:00Z",
        ),
        evidence_capsule_refs=tuple(EvidenceRef(id=seal(e).digest, required=False) for e in evidence),
        output_contract=OutputContract(name=contract, max_quotes=1, min_chars=1),
        token_budget=TokenBudget(
            tokenizer_id="hf:test",
            tokenizer_digest=content_id(b"test"),
            window=4096,
            reserved_output=64,
            evidence_limit=1024,
            protected=("constraints",),
        ),
        candidates=Candidates(
            items=sum(len(e.exact_spans) for e in evidence) + len(constraints) + len(gone), tokens=0
        ),
        omissions=tuple(gone),
        rewrites=(),
    )


def texts_of(*texts: str) -> dict[str, str]:
    return {content_id(t.encode()): t for t in texts}


def tag_of(prompt: PromptCapsule, counter: int = 0) -> str:
    ids = [ref.id.encode() for ref in prompt.evidence_capsule_refs]
    return derived_key("fence/v1", *ids, str(counter).encode())[3:13]


def refused_with(
    code: str, prompt: PromptCapsule, evidence: list[EvidenceCapsule], texts: dict[str, str]
) -> None:
    with pytest.raises(RenderError) as caught:
        render(prompt, evidence, texts)
    assert caught.value.code == code
