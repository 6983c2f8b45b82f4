"""A realistic pair of capsules with their sources, and builders of variants of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from beside import load
from byte_ids import ByteTokenizer

from capsules import codec
from capsules.authority import Authority
from capsules.budget import TokenBudget
from capsules.claim import ClaimCandidate, Contradiction, MissingEvidence
from capsules.content_id import content_id
from capsules.evidence import Confidence, EvidenceCapsule, Freshness, QuotePolicy
from capsules.names import capsule_id
from capsules.omission import Candidates, DroppedRange, Omission, Rewrite
from capsules.prompt import (
    ActiveObject,
    Constraint,
    EvidenceRef,
    OutputContract,
    PromptCapsule,
    SurfaceSnippet,
)
from capsules.source import Origin, SourceRef, SourceText, source_text
from capsules.span import ExactSpan, make_span
from capsules.visibility import Visibility

# The second text begins with U+FEFF and holds an astral character; "5 mg" stands three times in the first.
TEXTS = {
    "label": "Zinc 5 mg; iron 5 mg; zinc 5 mg. Do not exceed 25 mg a day — ask a “qualified” person first.",
    "notes": "\ufeffRow 7 🧪: café, cafe\u0301. The limit was 40 mg until 2019.\r\nSee the label.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """What a test needs at hand: valid capsules and the texts they point into."""

    sources: dict[str, SourceText]  # by name: label, notes
    texts: dict[str, str]  # raw text by ContentId
    evidence: EvidenceCapsule
    prompt: PromptCapsule


def _ref(name: str, source: SourceText, title: str | None) -> SourceRef:
    return SourceRef(
        source=source.source,
        bytes=len(source.data),
        media_type="text/plain",
        origin=Origin(dataset="example", row=name),
        license="CC0-1.0",
        title=title,
        retrieved_as_of=None if title else "2024-02-29T12:00:00Z",
    )


def _span(source: SourceText, quote: str, nth: int = 1) -> ExactSpan:
    start = -1
    for _ in range(nth):
        start = source.text.index(quote, start + 1)
    return make_span(source.source, source.text, start, start + len(quote), norm_id="quote/1")


def _evidence(sources: dict[str, SourceText]) -> EvidenceCapsule:
    label, notes = sources["label"], sources["notes"]
    dose, limit, old = (
        _span(label, "5 mg", 2),
        _span(label, "Do not exceed 25 mg a day"),
        _span(notes, "40 mg"),
    )
    return EvidenceCapsule(
        schema_id="evidence-capsule/1",
        capsule_id=capsule_id("demo", "dosage", "q-1", "evidence-internal"),
        source_refs=tuple(
            sorted((_ref("label", label, "Label"), _ref("notes", notes, None)), key=lambda ref: ref.source)
        ),
        exact_spans=tuple(sorted((dose, limit, old), key=lambda span: (span.source, span.start))),
        claim_candidates=(
            ClaimCandidate(
                claim_id="c2",
                text="At most 25 mg a day.",
                span_ids=(limit.span_id, dose.span_id),
                status="supported",
                method="rule",
                confidence_bp=10_000,
            ),
            ClaimCandidate(
                claim_id="c1",
                text="At most 40 mg a day.",
                span_ids=(old.span_id,),
                status="contradicted",
                method="gold",
                confidence_bp=0,
            ),
        ),
        contradictions=(
            Contradiction(between=("c1", "c2"), kind="numeric", resolution=None),
            Contradiction(between=(limit.span_id, "c1"), kind="date", resolution="The label is newer."),
        ),
        freshness=Freshness(as_of="2024-03-01T00:00:00Z", expires_at="2025-03-01T00:00:00Z", policy="hard"),
        confidence=Confidence(bp=9_050, method="retriever-rank"),
        visibility=Visibility(level="internal", project="demo"),
        quote_policy=QuotePolicy(
            mode="verbatim", norm_id="quote/1", min_chars=1, max_chars=400, unique=False
        ),
        missing_evidence=(MissingEvidence(query="limit for children", stage="retrieval", why="no hit"),),
    )


def _authority() -> Authority:
    return Authority(
        principal="reader-1",
        project="demo",
        operations=("answer", "inspect"),
        providers=("local",),
        max_level="internal",
        not_before="2024-01-01T00:00:00Z",
        expires_at="2026-01-01T00:00:00Z",
    )


def _omissions(label: SourceText) -> tuple[Omission, ...]:
    def gone(item: str | None, reason: str, tokens: int | None, count: int = 1) -> Omission:
        stage = reason.partition(".")[0]
        return Omission(item=item, stage=stage, reason=reason, tokens=tokens, required=False, count=count)

    return (
        gone(f"{label.source}:11-15", "budget.limit", 2),
        gone("example-2", "budget.limit", 60),
        gone(content_id(b'["row-8","row-9"]'), "retrieval.outside_pool", None, 2),
        gone(None, "visibility.denied", 31, 2),
    )


def _prompt(evidence: EvidenceCapsule, sources: dict[str, SourceText]) -> PromptCapsule:
    label = sources["label"]
    limit = next(span for span in evidence.exact_spans if span.exact.startswith("Do not"))
    return PromptCapsule(
        schema_id="prompt-capsule/1",
        capsule_id=capsule_id("demo", "dosage", "Q 1: how much?", "prompt"),
        task="dosage",
        project="demo",
        active_object=ActiveObject(kind="question", ref="q-1", text="How much zinc a day?"),
        surface_snippet=SurfaceSnippet(text="A label.", derived_from=(limit.span_id,), level="internal"),
        constraints=(
            Constraint(id="task", kind="instruction", text="Answer from the sources only."),
            Constraint(id="form", kind="verification", text="Quote word for word."),
            Constraint(id="needs", kind="runtime", text="capsules>=1,<2"),
        ),
        authority=_authority(),
        evidence_capsule_refs=(EvidenceRef(id=codec.digest_of(evidence), required=True),),
        output_contract=OutputContract(name="quote", max_quotes=3, min_chars=4),
        token_budget=TokenBudget(
            tokenizer_id="hf:example",
            tokenizer_digest=content_id(b"tokenizer"),
            window=2_048,
            reserved_output=256,
            evidence_limit=512,
            protected=("active_object", "authority", "constraints", "output_contract"),
        ),
        candidates=Candidates(items=10, tokens=180),
        omissions=_omissions(label),
        rewrites=(
            Rewrite(
                items=(limit.span_id,),
                text="Do not exceed 25 mg",
                compressor="fake/1",
                dropped=(DroppedRange(item=limit.span_id, start=limit.start + 19, end=limit.end),),
                tokens_before=9,
                tokens_sent=6,
            ),
        ),
    )


@pytest.fixture(scope="session")
def example() -> Example:
    """Two sources, an EvidenceCapsule of three spans (about 3 KB) and the PromptCapsule that uses it."""
    sources = {name: source_text(text.encode()) for name, text in TEXTS.items()}
    evidence = _evidence(sources)
    return Example(
        sources=sources,
        texts={source.source: source.text for source in sources.values()},
        evidence=evidence,
        prompt=_prompt(evidence, sources),
    )


@pytest.fixture(scope="session")
def make_evidence(example: Example) -> Callable[..., EvidenceCapsule]:
    """The example's EvidenceCapsule with some fields changed; raises what its construction raises."""

    def make(**changes: Any) -> EvidenceCapsule:
        return replace(example.evidence, **changes)

    return make


@pytest.fixture(scope="session")
def make_prompt(example: Example) -> Callable[..., PromptCapsule]:
    """The example's PromptCapsule with some fields changed; raises what its construction raises."""

    def make(**changes: Any) -> PromptCapsule:
        return replace(example.prompt, **changes)

    return make


@pytest.fixture(params=["evidence", "prompt"])
def record(request: pytest.FixtureRequest, example: Example) -> EvidenceCapsule | PromptCapsule:
    """Both capsules of the example, one after the other."""
    return getattr(example, request.param)


@pytest.fixture
def byte_tokenizer() -> ByteTokenizer:
    """One id a byte."""
    return ByteTokenizer()


def _load(name: str) -> ModuleType:
    """A module of helpers beside the tests, which cannot import each other."""
    return load(Path(__file__).parent / f"{name}.py", f"capsules_tests_{name}")


@pytest.fixture(scope="session")
def eq() -> ModuleType:
    """``contracts.py``: equivalence contracts and their members."""
    return _load("contracts")


@pytest.fixture(scope="session")
def al() -> ModuleType:
    """``shelves.py``: equivalent prompts and their contract."""
    return _load("shelves")


@pytest.fixture(scope="session")
def shelf(al: Any, example: Example) -> Any:
    """Two equivalent prompts, stored."""
    return al.shelf_of(example)


@pytest.fixture(scope="session")
def rb() -> ModuleType:
    """``rebuilding.py``: a small prompt over two sources, to be rebuilt."""
    return _load("rebuilding")
