"""Samples read and capsules built a second, and prompts of five passages against haystack-ai in the same run.

Ratios and rates, of CPU time, go to ``extra_info``; nothing about time is asserted. The tokenizer has one id
a byte, so that what is measured is ours. Both sides hold their corpus in memory and have it indexed before
the clock starts; what is timed is top-5 BM25 retrieval and the prompt. The peer fills a template. Ours also
hashes, seals, accounts, renders and tokenizes, and, where it says so, stores, reads back and validates.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.build import accounting, capsule, registry, sealing
from bench.build.base import BuildContext
from bench.build.capsule import CapsuleBuilder
from bench.build_stage import Bench, Building, build_all, context_of
from bench.config import to_spec
from bench.hydra_app import compose_config
from bench.retrieval import bm25
from bench.specs import ArmSpec, BudgetSpec, RetrievalSpec, RunSpec, SelectionSpec
from bench.tokenizers import ByteTokenizer
from capsules import checks_accounts, record_text, span
from capsules.store import MemoryStore
from tasks.base import Sample, SourceDoc, TaskData
from tasks.registry import load_task

pytestmark = pytest.mark.benchmark_ratio

TASKS = ("nq_oracle", "jsquad")
BUILT = 48  # samples a round
ASKED, ROUNDS = 24, 3
ROOM = BudgetSpec(window=2_000_000, evidence_limit=1_000_000)
TEMPLATE = """Answer the question from the sources, in the words of one of them.

{% for document in documents %}[{{ loop.index }}] {{ document.content }}
{% endfor %}
Question: {{ question }}
Answer:"""


@pytest.fixture(scope="module")
def spec_of(capsule_data: Path) -> Callable[..., RunSpec]:
    """The spec of a whole task with the arm ``capsule`` alone, and room for everything."""

    def make(task: str, *more: str) -> RunSpec:
        spec = to_spec(compose_config(["experiment=build", f"task={task}", "limit=null", *more]))
        (arm,) = (replace(arm, budget=ROOM) for arm in spec.arms if arm.arm_id == "capsule")
        return replace(spec, arms=(arm,), task=replace(spec.task, data_dir=str(capsule_data)))

    return make


@pytest.mark.parametrize("task", TASKS)
def test_samples_read(task: str, spec_of: Callable[..., RunSpec], benchmark: Any) -> None:
    spec = spec_of(task)
    data = benchmark.pedantic(load_task, args=(spec.task,), rounds=1, iterations=1)
    (taken,) = best(lambda: load_task(spec.task))
    benchmark.extra_info.update(samples=len(data.samples), samples_per_s=round(len(data.samples) / taken))


@pytest.mark.parametrize("task", TASKS)
def test_capsules_built(
    task: str, spec_of: Callable[..., RunSpec], benchmark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A builder that has seen nothing yet, with the store and every check, and without both."""
    spec = spec_of(task)
    data = load_task(replace(spec.task, limit=BUILT))
    arguments = spec.arms[0], data.samples, data.examples
    benchmark.pedantic(without_checks, args=arguments, rounds=ROUNDS)

    def checked() -> None:
        monkeypatch.setattr(registry, "BUILDERS", {"capsule": new_builder()})
        with_checks(spec, data)

    built, verified = best(lambda: without_checks(*arguments), checked)
    benchmark.extra_info.update(
        capsules_per_s=round(BUILT / built, 1),
        verified_capsules_per_s=round(BUILT / verified, 1),
        share_of_verification=round(1 - built / verified, 2),
    )


def with_checks(spec: RunSpec, data: TaskData) -> None:
    bench = Bench(spec=spec, data=data, tokenizer=ByteTokenizer(), store=MemoryStore(), now=spec.task.as_of)
    assert all(row.status == "ok" for row in build_all(bench, lambda n: None).builds)


def new_builder() -> CapsuleBuilder:
    """A builder that has seen nothing: what is kept a source is forgotten too."""
    for kept in (
        *(capsule._span, accounting._counted, accounting._omission, bm25._counted, sealing._source_ref),
        *(record_text._shared_text, span.item_range, checks_accounts._place),
    ):
        kept.cache_clear()
    return CapsuleBuilder()


def without_checks(arm: ArmSpec, samples: Sequence[Sample], examples: Sequence[Sample]) -> None:
    build = new_builder()
    context = BuildContext(arm=arm, tokenizer=ByteTokenizer(), examples=tuple(examples))
    for sample in samples:
        build(sample.input, context)


@pytest.fixture(scope="module")
def haystack() -> None:
    """Skips loudly without the peer, and keeps it from reporting home."""
    if importlib.util.find_spec("haystack") is None:
        pytest.skip("haystack-ai 3.4 is not installed (extra `peers`): no ratio")
    version = importlib.metadata.version("haystack-ai")
    if not version.startswith("3.4."):
        pytest.skip(f"haystack-ai {version} is installed, the comparison is with 3.4: no ratio")


@pytest.mark.parametrize("pool", [5, 100])
def test_prompts_of_five_passages_against_the_peer(
    pool: int,
    spec_of: Callable[..., RunSpec],
    haystack: None,
    benchmark: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """``pool`` is how many passages of the corpus become candidates; five of them are shown."""
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
    spec = spec_of("nq_oracle", "task.options.as_corpus=true")
    data = load_task(spec.task)
    step = len(data.samples) // ASKED
    samples, others = data.samples[::step][:ASKED], data.samples[step // 2 :: step][:ASKED]
    ours, theirs = Ours(spec, data, pool), peer(data.corpus)
    questions = [sample.input.question for sample in samples]
    assert all(len(theirs(question)) > len(question) for question in questions[:1])
    ours.verify(samples)  # corpus stored, cut, counted and indexed, as the peer's is
    first = seconds(lambda: ours.verify(others))  # questions and sources that it has not met
    benchmark.pedantic(ours.build, args=(samples,), rounds=ROUNDS)
    built, verified, other = best(
        lambda: ours.build(samples),
        lambda: ours.verify(samples),
        lambda: [theirs(question) for question in questions],
    )
    benchmark.extra_info.update(
        corpus=len(data.corpus),
        our_prompts_per_s=round(ASKED / built, 1),
        our_verified_prompts_per_s=round(ASKED / verified, 1),
        peer_prompts_per_s=round(ASKED / other, 1),
        ratio=round(other / built, 2),
        ratio_verified=round(other / verified, 2),
        ratio_verified_first_seen=round(other / first, 2),
    )


class Ours:
    """The pool of a corpus, then the prompt; what is computed once a run outlives the rounds."""

    def __init__(self, spec: RunSpec, data: TaskData, pool: int) -> None:
        retrieval = RetrievalSpec(name="bm25", k=5, chunk="document", pool=pool)
        self._arm = replace(spec.arms[0], retrieval=retrieval, selection=SelectionSpec(k=5))
        bench = Bench(
            spec=replace(spec, arms=(self._arm,)),
            data=replace(data, examples=()),
            tokenizer=ByteTokenizer(),
            store=MemoryStore(),
            now=spec.task.as_of,
        )
        self._bench, self._stage, self._build = bench, Building(bench), CapsuleBuilder()

    def build(self, samples: Sequence[Sample]) -> None:
        context = context_of(self._bench, samples[0], self._arm, None)
        for sample in samples:
            assert self._build(sample.input, context).prompt is not None

    def verify(self, samples: Sequence[Sample]) -> None:
        """The same through the build stage: stored, read back, validated."""
        for sample in samples:
            assert self._stage.one(sample, self._arm)[1].status == "ok"


def peer(corpus: Sequence[SourceDoc]) -> Callable[[str], str]:
    """The other library's retriever and prompt builder over the same documents."""
    from haystack import Document
    from haystack.components.builders import PromptBuilder
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore()
    store.write_documents([Document(content=doc.text) for doc in corpus])
    retriever = InMemoryBM25Retriever(document_store=store, top_k=5)
    builder = PromptBuilder(template=TEMPLATE, required_variables=["documents", "question"])

    def prompt(question: str) -> str:
        documents = retriever.run(query=question)["documents"]
        text: str = builder.run(documents=documents, question=question)["prompt"]
        return text

    return prompt


def best(*calls: Callable[[], object]) -> list[float]:
    """The least CPU seconds of each call; rounds are interleaved, so that drift hits all alike."""
    rounds = [[seconds(call) for call in calls] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def seconds(run: Callable[[], object]) -> float:
    """CPU time, which other processes on the machine disturb least."""
    begin = time.process_time()
    run()
    return time.process_time() - begin
