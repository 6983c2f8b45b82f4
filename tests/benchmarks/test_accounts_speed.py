"""What the books cost: sealing a prompt of 100 candidates and checking its four omission laws.

Recorded, never asserted; the goal is 5 ms. The tokenizer has one id a byte and costs next to nothing, so
what is measured is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from capsules.authority import Authority
from capsules.budget import TokenBudget
from capsules.codec import Sealed, seal
from capsules.content_id import content_id
from capsules.evidence import Confidence, EvidenceCapsule, Freshness, QuotePolicy
from capsules.omission import Candidates, Omission
from capsules.omission_laws import LAWS, Accounts, CandidateItem, check
from capsules.prompt import ActiveObject, Constraint, EvidenceRef, OutputContract, PromptCapsule
from capsules.rendering import render
from capsules.source import Origin, SourceRef
from capsules.span import ExactSpan, make_span
from capsules.tokenized import tokenize
from capsules.visibility import Visibility

pytestmark = pytest.mark.benchmark_ratio

CANDIDATES, KEPT = 100, 40  # one of the candidates is the instruction
SENTENCES = [f"Sentence {number} says that valve {number} shut at {number % 9} bar. " for number in range(99)]
TEXT = "".join(SENTENCES)
SOURCE = content_id(TEXT.encode())


class Bytes:
    """One id a byte."""

    tokenizer_id = "hf:bytes"
    tokenizer_digest = content_id(b"bytes")
    bos_id: int | None = None
    control_ids: frozenset[int] = frozenset()

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode()


def spans() -> list[ExactSpan]:
    found, start = [], 0
    for sentence in SENTENCES:
        found.append(make_span(SOURCE, TEXT, start, start + len(sentence) - 1))
        start += len(sentence)
    return found


def evidence_of(kept: list[ExactSpan]) -> EvidenceCapsule:
    origin = Origin(dataset="benchmark", row="1")
    return EvidenceCapsule(
        schema_id="evidence-capsule/1",
        capsule_id="demo:speed:q-1:evidence-public",
        source_refs=(
            SourceRef(
                source=SOURCE,
                bytes=len(TEXT.encode()),
                media_type="text/plain",
                origin=origin,
                license="CC0-1.0",
                title=None,
                retrieved_as_of=None,
            ),
        ),
        exact_spans=tuple(kept),
        claim_candidates=(),
        contradictions=(),
        freshness=Freshness(as_of="2024-05-01T00:00:00Z", expires_at=None, policy="hard"),
        confidence=Confidence(bp=10_000, method="rule"),
        visibility=Visibility(level="public", project="demo"),
        quote_policy=QuotePolicy(
            mode="verbatim", norm_id="quote/1", min_chars=1, max_chars=400, unique=False
        ),
        missing_evidence=(),
    )


def prompt_of(evidence: Sealed[EvidenceCapsule], omissions: list[Omission], tokens: int) -> PromptCapsule:
    return PromptCapsule(
        schema_id="prompt-capsule/1",
        capsule_id="demo:speed:q-1:prompt",
        task="speed",
        project="demo",
        active_object=ActiveObject(kind="question", ref="q-1", text="When did valve 7 shut?"),
        surface_snippet=None,
        constraints=(Constraint(id="task", kind="instruction", text="Quote word for word."),),
        authority=Authority(
            principal="tester",
            project="demo",
            operations=("generate",),
            providers=("local",),
            max_level="internal",
            not_before="2024-01-01T00:00:00Z",
            expires_at="2025-01-01T00:00:00Z",
        ),
        evidence_capsule_refs=(EvidenceRef(id=evidence.digest, required=True),),
        output_contract=OutputContract(name="quote", max_quotes=1, min_chars=4),
        token_budget=TokenBudget(
            tokenizer_id=Bytes.tokenizer_id,
            tokenizer_digest=Bytes.tokenizer_digest,
            window=16_384,
            reserved_output=64,
            evidence_limit=8_192,
            protected=("authority", "constraints"),
        ),
        candidates=Candidates(items=CANDIDATES, tokens=tokens),
        omissions=tuple(sorted(omissions, key=lambda each: each.item or "")),
        rewrites=(),
    )


class Books:
    """Spans, omissions and candidates of one prompt; everything but what is timed."""

    def __init__(self) -> None:
        every = spans()
        self.evidence = evidence_of(every[:KEPT])
        # Item tokens are those of the rendered segment, so everything is rendered once to know them.
        shown = self.shown(every)
        self.candidates = [
            CandidateItem(item=item, source=SOURCE, start=span.start, end=span.end, tokens=shown[item])
            for item, span in ((span.span_id, span) for span in every)
        ]
        self.candidates.append(CandidateItem(item="task", tokens=shown["task"]))
        self.omissions = [
            Omission(
                item=span.span_id,
                stage="budget",
                reason="budget.limit",
                tokens=shown[span.span_id],
                required=False,
                count=1,
            )
            for span in every[KEPT:]
        ]

    def shown(self, every: list[ExactSpan]) -> dict[str, int]:
        whole = evidence_of(every)
        rendered = render(prompt_of(seal(whole), [], 0), [whole], {SOURCE: TEXT})
        return {part.ref: part.n for part in tokenize(rendered, Bytes()).segments if part.ref is not None}

    def sealed(self) -> tuple[Sealed[EvidenceCapsule], Sealed[PromptCapsule]]:
        evidence = seal(self.evidence)
        total = sum(each.tokens for each in self.candidates)
        return evidence, seal(prompt_of(evidence, self.omissions, total))

    def accounts(self, prompt: PromptCapsule) -> Accounts:
        rendered = render(prompt, [self.evidence], {SOURCE: TEXT})
        return Accounts(
            prompt=prompt,
            evidence=(self.evidence,),
            candidates=self.candidates,
            rendered=rendered,
            tokenized=tokenize(rendered, Bytes()),
            encode=Bytes().encode,
        )


@pytest.fixture(scope="module")
def books() -> Books:
    return Books()


def record(benchmark: Any, call: Callable[[], object]) -> None:
    benchmark(call)
    benchmark.extra_info.update(candidates=CANDIDATES, median_ms=benchmark.stats.stats.median * 1e3)


def test_sealing_and_checking_the_omission_laws(benchmark: Any, books: Books) -> None:
    """The goal is 5 ms: both records made, sealed, and the four laws recounted on what is sent."""
    accounts = books.accounts(books.sealed()[1].record)
    assert check(accounts) == dict.fromkeys(LAWS, True)

    def seal_and_check() -> None:
        books.sealed()
        check(accounts)

    record(benchmark, seal_and_check)


def test_the_same_with_rendering_and_tokenizing(benchmark: Any, books: Books) -> None:
    """Without a goal: all that a builder does after it has chosen."""
    record(benchmark, lambda: check(books.accounts(books.sealed()[1].record)))
