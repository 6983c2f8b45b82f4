"""No gold in builders: with all gold scrambled, every arm that is no upper bound builds the same capsules."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bench.build_stage import Bench, Built, build_all
from bench.compression.base import Ask, Reply
from bench.records import BuildRow
from bench.specs import RetrievalSpec, RunSpec
from bench.tokenizers import HfTokenizer
from capsules.omission import OUTSIDE_POOL
from capsules.store import MemoryStore
from tasks.base import Gold, Sample, SourceDoc, TaskData, TextRange
from tasks.registry import load_task

SELECTION = tuple(f"+arm@arms.{name}={name}" for name in ("capsule_fovea", "capsule_mmr", "capsule_oracle"))


def scrambled(sample: Sample, corpus: Sequence[SourceDoc] = ()) -> Sample:
    """The same input with gold that is wrong in every part."""
    docs = sample.input.sources or corpus
    doc = docs[-1]
    gold = Gold(
        answers=("nothing of the kind",),
        spans=(TextRange(doc_id=doc.doc_id, start=0, end=min(5, len(doc.text))),),
        distractors=(),
        expired=tuple(d.doc_id for d in docs),
        denied=(),
    )
    return dataclasses.replace(sample, gold=gold)


def halved(ask: Ask) -> Reply:
    """What a lossy compressor might answer."""
    return Reply(texts=tuple(text[: len(text) // 2] for text in ask.texts), error=None, us=1)


def built(spec: RunSpec, data: TaskData, tokenizer: HfTokenizer) -> Built:
    bench = Bench(
        spec=spec, data=data, tokenizer=tokenizer, store=MemoryStore(), now=spec.task.as_of, rewrite=halved
    )
    return build_all(bench, lambda n: None)


def identities(rows: tuple[BuildRow, ...], arm_id: str) -> list[tuple[object, ...]]:
    return [
        (row.sample_id, row.ids_digest, row.prompt_capsule, row.evidence_capsules)
        for row in rows
        if row.arm_id == arm_id
    ]


@pytest.fixture
def spec(spec_of: Callable[..., RunSpec]) -> RunSpec:
    """Four samples; every shipped arm and those that are given gold."""
    base = spec_of(
        "limit=4",
        "+arm@arms.capsule_extractive=capsule_extractive",
        "+arm@arms.capsule_evidence=capsule_evidence",
        "+arm@arms.capsule_pointer=capsule_pointer",
        "+arm@arms.capsule_quote_constrained=capsule_quote_constrained",
        "+arm@arms.written_anew=capsule_self_information",
        "+arm@arms.written_anew_raw=capsule_self_information_raw",
        *SELECTION,
    )
    capsule = next(arm for arm in base.arms if arm.arm_id == "capsule")
    bound = dataclasses.replace(capsule, arm_id="bound", retrieval=RetrievalSpec(name="gold"))
    return dataclasses.replace(base, arms=(*base.arms, bound))


def test_scrambled_gold_changes_no_capsule_but_those_of_an_upper_bound(spec: RunSpec) -> None:
    tokenizer = HfTokenizer(Path(spec.tokenizer.removeprefix("hf:")), "bytes")
    data = load_task(spec.task)
    other = dataclasses.replace(data, samples=tuple(scrambled(sample) for sample in data.samples))
    first, second = built(spec, data, tokenizer), built(spec, other, tokenizer)
    assert first.samples != second.samples  # the gold did change
    for arm in spec.arms:
        same = identities(first.builds, arm.arm_id) == identities(second.builds, arm.arm_id)
        assert same == (arm.arm_id not in ("bound", "capsule_oracle")), arm.arm_id


def as_corpus(data: TaskData) -> TaskData:
    """The same samples, their documents in a corpus that they share."""
    docs = {doc.doc_id: doc for sample in data.samples for doc in sample.input.sources}
    samples = (
        dataclasses.replace(one, input=dataclasses.replace(one.input, sources=())) for one in data.samples
    )
    return dataclasses.replace(data, samples=tuple(samples), corpus=tuple(docs.values()))


def test_scrambled_gold_changes_no_pool(spec: RunSpec) -> None:
    small = dataclasses.replace(
        spec,
        arms=tuple(
            dataclasses.replace(arm, retrieval=dataclasses.replace(arm.retrieval, k=2, pool=3))
            for arm in spec.arms
        ),
    )
    tokenizer = HfTokenizer(Path(spec.tokenizer.removeprefix("hf:")), "bytes")
    data = as_corpus(load_task(spec.task))
    wrong = tuple(scrambled(sample, data.corpus) for sample in data.samples)
    first = built(small, data, tokenizer)
    second = built(small, dataclasses.replace(data, samples=wrong), tokenizer)
    assert {row.status for row in first.builds} == {"ok"}
    with_rest = {row.arm_id for row in first.builds for gone in row.omissions if gone[0] == OUTSIDE_POOL}
    assert with_rest == {arm.arm_id for arm in small.arms if arm.layout == "capsule"}
    for arm in small.arms:
        same = identities(first.builds, arm.arm_id) == identities(second.builds, arm.arm_id)
        assert same == (arm.arm_id not in ("bound", "capsule_oracle")), arm.arm_id
