"""Samples and arms for the tests of the builders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bench.build.base import BuildContext, BuildError, BuiltPrompt
from bench.build.capsule import CapsuleBuilder
from bench.specs import (
    ArmSpec,
    AuthoritySpec,
    BudgetSpec,
    CompressionSpec,
    ContractSpec,
    RetrievalSpec,
    SelectionSpec,
)
from bench.tokenizers import ByteTokenizer
from capsules.claim import ClaimCandidate
from capsules.codec import seal
from capsules.omission import OUTSIDE_POOL
from capsules.prompt import PromptCapsule
from capsules.report import ValidationReport
from capsules.source import Origin
from capsules.store import MemoryStore
from capsules.validation import Given, validate
from tasks.base import Gold, Sample, SampleInput, SourceDoc, TextRange


def make_doc(doc_id: str, text: str, **more: Any) -> SourceDoc:
    return SourceDoc(
        **{
            "doc_id": doc_id,
            "text": text,
            "title": None,
            "origin": Origin(dataset="toy", row=doc_id),
            "license": "CC0-1.0",
            "project": "p",
            **more,
        }
    )


def make_sample(question: str, *docs: SourceDoc, **more: Any) -> SampleInput:
    return SampleInput(
        **{
            "sample_id": "s-1",
            "task": "toy",
            "project": "p",
            "question": question,
            "sources": docs,
            "as_of": "2026-01-01T00:00:00Z",
            **more,
        }
    )


def make_arm(layout: str = "capsule", **more: Any) -> ArmSpec:
    return ArmSpec(
        **{
            "arm_id": layout,
            "layout": layout,
            "builder": layout,
            "retrieval": RetrievalSpec(),
            "selection": SelectionSpec(),
            "compression": CompressionSpec(),
            "contract": ContractSpec(),
            "budget": BudgetSpec(window=100_000, evidence_limit=20_000),
            "authority": AuthoritySpec(),
            "caches": ("off",),
            **more,
        }
    )


BOATS = (
    "The ferry Alma crosses the sound in nine minutes. She was built in 1931.\n\n"
    "Her engine was changed in 1974. It burns 40 litres a day."
)
BIRDS = "Gulls nest on the east pier. Terns prefer the sandbank.\n\nNobody has counted them since 2011."
FISH = "Herring is smoked over alder. The ferry does not carry fish."


@pytest.fixture
def doc() -> Callable[..., SourceDoc]:
    """Makes a public document of project ``p``."""
    return make_doc


@pytest.fixture
def crossing() -> Callable[..., SourceDoc]:
    """Makes a document that says in how many minutes the ferry crosses; two of them contradict."""

    def make(minutes: int, as_of: str | None, **more: Any) -> SourceDoc:
        return make_doc(f"d{minutes}", f"The ferry Alma needs {minutes} minutes.", as_of=as_of, **more)

    return make


@pytest.fixture
def sample_of() -> Callable[..., SampleInput]:
    """Makes a sample of project ``p``."""
    return make_sample


@pytest.fixture
def arm_of() -> Callable[..., ArmSpec]:
    """Makes an arm with room for everything."""
    return make_arm


@pytest.fixture
def harbour() -> Sample:
    """Three public documents; the second sentence of the first settles the question."""
    docs = make_doc("boats", BOATS), make_doc("birds", BIRDS), make_doc("fish", FISH)
    start = BOATS.index("She was built in 1931.")
    gold = Gold(
        answers=("1931",),
        spans=(TextRange(doc_id="boats", start=start, end=start + 22),),
        distractors=("fish",),
    )
    return Sample(input=make_sample("When was the ferry Alma built?", *docs), gold=gold)


@pytest.fixture
def examples() -> tuple[Sample, ...]:
    """Two samples for few-shot examples."""
    found = []
    for n, (colour, thing) in enumerate((("red", "barn"), ("blue", "gate")), 1):
        text = f"Lars painted the {thing} in spring. Now the {thing} is {colour}. It pleases everyone."
        start = text.index(f"Now the {thing} is {colour}.")
        end = text.index(" It pleases")
        sample = make_sample(
            f"Which colour has the {thing}?",
            make_doc("other", f"Long ago there was a well near the {thing}."),
            make_doc("gold", text),
            sample_id=f"example-{n}",
        )
        gold = Gold(answers=(colour,), spans=(TextRange(doc_id="gold", start=start, end=end),))
        found.append(Sample(input=sample, gold=gold))
    return tuple(found)


@pytest.fixture
def context() -> Callable[..., BuildContext]:
    """Makes a context with the byte tokenizer and no examples."""

    def make(arm: ArmSpec | None = None, **more: Any) -> BuildContext:
        base = BuildContext(arm=arm or make_arm(), tokenizer=ByteTokenizer(), examples=())
        return replace(base, **more)

    return make


class Look:
    """Reads what a test wants to know from a built prompt."""

    @staticmethod
    def prompt(built: BuiltPrompt) -> PromptCapsule:
        assert built.prompt is not None
        return built.prompt

    @staticmethod
    def text(built: BuiltPrompt) -> str:
        return ByteTokenizer().decode(built.ids[1:])

    @staticmethod
    def reasons(built: BuiltPrompt) -> dict[str, list[str]]:
        """Texts of the omitted items by reason; ``?`` for each of those without a name of its own."""
        found: dict[str, list[str]] = {}
        for gone in Look.prompt(built).omissions:
            if gone.item is None or gone.reason == OUTSIDE_POOL:
                text = "?" * gone.count
            else:
                source, _, place = gone.item.rpartition(":")
                start, end = map(int, place.split("-"))
                text = built.sources[source][start:end]
            found.setdefault(gone.reason, []).append(text)
        return {reason: sorted(texts) for reason, texts in found.items()}

    @staticmethod
    def kept(built: BuiltPrompt) -> list[str]:
        return sorted(span.exact for e in built.evidence for span in e.exact_spans)

    @staticmethod
    def evidence_tokens(built: BuiltPrompt) -> int:
        return sum(p.n for p in built.pieces if p.kind in ("item", "header"))

    @staticmethod
    def claims(built: BuiltPrompt) -> list[ClaimCandidate]:
        return [claim for evidence in built.evidence for claim in evidence.claim_candidates]

    @staticmethod
    def missing(built: BuiltPrompt) -> list[tuple[str, str]]:
        return [(one.stage, one.why) for evidence in built.evidence for one in evidence.missing_evidence]

    @staticmethod
    def report(built: BuiltPrompt, now: str = "2026-01-01T00:00:00Z") -> ValidationReport:
        """The validation report of a built prompt, with everything stored."""
        store = MemoryStore()
        store.put_many([text.encode() for text in built.sources.values()])
        store.put_many([seal(evidence).data for evidence in built.evidence])
        prompt = seal(Look.prompt(built))
        given = Given(now=now, store=store, project=built.project)
        return validate(prompt.data, given, expect=prompt.digest)

    @staticmethod
    def failures(built: BuiltPrompt, now: str = "2026-01-01T00:00:00Z") -> list[str | None]:
        return [row.code for row in Look.report(built, now).checks if row.result == "fail"]

    @staticmethod
    def refusal(sample: SampleInput, context: BuildContext) -> str:
        """The code with which no capsule is built."""
        with pytest.raises(BuildError) as caught:
            CapsuleBuilder()(sample, context)
        return caught.value.code


@pytest.fixture
def look() -> type[Look]:
    return Look


PIER = (
    "Bread is baked at dawn. It is sold by noon.",
    "The ferry was built in 1931. She is grey.",
    "Gulls nest on the pier.\n\nThe ferry is old.",
    "Herring is smoked. Eel is not.",
)


@pytest.fixture
def docs() -> list[SourceDoc]:
    """Four small documents, to be a corpus."""
    return [make_doc(f"d{n}", text) for n, text in enumerate(PIER)]
