"""Builds every (sample, arm), seals and stores what was built, and reads it back.

Rules that this module owns:

* Builders see a ``SampleInput``; gold goes only to the arms whose retrieval or selection asks for it
  by name (upper bounds).
* A prompt that cannot be built is a row with its code, never a missing row; where no arm has any, the run
  stops (``bench.unbuilt``).
* What is stored is read back and compared before anything is sent: sources, both capsules, ids, places.
* A capsule that does not validate, at the run's ``now`` and for the provider that would get it, is not
  sent: its row is an error with the code of the first failure.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from bench.build.base import BuildContext, BuildError, BuiltPrompt
from bench.build.corpus import Corpus
from bench.build.laps import Lap, no_lap
from bench.build.registry import builder
from bench.built_rows import build_row, failed, message_of, sample_row
from bench.compression.base import Rewriter
from bench.contracts.forms import lead_of
from bench.contracts.grammar import GrammarError, grammar_of
from bench.engines.replay import REPLAY
from bench.groups import provider_asked
from bench.planner import OPERATION, Prepared
from bench.records import BuildRow, SampleRow
from bench.request_identity import ids_bytes
from bench.run_store import RunError
from bench.specs import UPPER_BOUNDS, ArmSpec, RunSpec
from bench.unbuilt import tally
from capsules.codec import Sealed, seal
from capsules.errors import CapsuleError
from capsules.evidence import EvidenceCapsule
from capsules.place import Place
from capsules.prompt import PromptCapsule
from capsules.store import Store
from capsules.tokenized import Frame
from capsules.tokenizer import Tokenizer
from capsules.validation import Given, validate
from tasks.base import Sample, TaskData

C = TypeVar("C", PromptCapsule, EvidenceCapsule)
AnySealed = Sealed[PromptCapsule] | Sealed[EvidenceCapsule] | Sealed[Place]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """Everything that the build stage hands on."""

    prepared: tuple[Prepared, ...]
    samples: tuple[SampleRow, ...]
    builds: tuple[BuildRow, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What every build of a run shares; the corpus is made of the data's."""

    spec: RunSpec
    data: TaskData
    tokenizer: Tokenizer
    store: Store
    now: str
    frame: Frame | None = None
    rewrite: Rewriter | None = None
    corpus: Corpus | None = None
    lap: Lap = no_lap

    def __post_init__(self) -> None:
        """Make the corpus, once: a changed copy takes it along."""
        if self.corpus is None and self.data.corpus:
            object.__setattr__(self, "corpus", Corpus(self.data.corpus))


class Building:
    """The build stage of a run; every document is stored once.

    Raises:
        RegistryError: An arm names an unknown builder.
        StoreError: The store cannot be written.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._builders = {arm.arm_id: builder(arm.builder) for arm in bench.spec.arms}
        docs = [*bench.data.corpus, *(doc for one in bench.data.samples for doc in one.input.sources)]
        texts = list(dict.fromkeys(doc.text for doc in docs))
        ids = bench.store.put_many(text.encode("utf-8") for text in texts)
        self._texts = dict(zip(ids, texts, strict=True))  # what the store holds

    def each(self) -> Iterator[tuple[Prepared, BuildRow]]:
        """Every (sample, arm), by sample, in order.

        Raises:
            RunError: What was stored does not read back.
        """
        for sample in self._bench.data.samples:
            for arm in self._bench.spec.arms:
                yield self.one(sample, arm)

    def samples(self) -> tuple[SampleRow, ...]:
        """The rows of the samples."""
        return tuple(sample_row(sample, self._bench.corpus) for sample in self._bench.data.samples)

    def one(self, sample: Sample, arm: ArmSpec) -> tuple[Prepared, BuildRow]:
        """Build, store, read back and validate one prompt.

        Raises:
            RunError: What was stored does not read back.
        """
        bench, sample_id = self._bench, sample.input.sample_id
        context = context_of(bench, sample, arm, bench.rewrite)
        try:
            built = self._builders[arm.arm_id](sample.input, context)
            lead = lead_of(bench.spec.model.instruct)
            grammar = grammar_of(arm.contract, built.shown, built.sources.__getitem__, lead=lead)
            prompt = _sealed(built, built.prompt) if built.prompt is not None else None
            evidence = [_sealed(built, capsule) for capsule in built.evidence]
            place = [seal(built.place)] if built.place is not None else []
        except (BuildError, CapsuleError, GrammarError) as error:
            return failed(sample_id, arm.arm_id, error.code, message_of(error))
        bench.lap("other")
        ids_digest = self._store(built, [*([prompt] if prompt else []), *evidence, *place])
        bench.lap("storing")
        if prompt is not None:
            given = _given(bench, built.project, provider_asked(arm))
            report = validate(prompt.data, given, expect=prompt.digest, sealed=(prompt, *evidence))
            failures = [row for row in report.checks if row.result == "fail"]
            bench.lap("validation")
            if failures:
                named = ", ".join(f"{row.code} at {row.at}" for row in failures)
                code = failures[0].code or ""
                return failed(sample_id, arm.arm_id, code, f"capsule {prompt.digest}: {named}")
        item = Prepared(
            sample_id=sample_id,
            arm_id=arm.arm_id,
            built=built,
            ids_digest=ids_digest,
            prompt_capsule=prompt.digest if prompt else None,
            grammar=grammar,
        )
        return item, build_row(item, built, tuple(one.digest for one in evidence))

    def _store(self, built: BuiltPrompt, sealed: Sequence[AnySealed]) -> str:
        """Store ids, records and the sources that are not there yet; returns the id of the ids."""
        store, sent = self._bench.store, ids_bytes(built.ids)
        new = {name: text for name, text in built.sources.items() if self._texts.get(name) != text}
        objects = [sent, *(one.data for one in sealed), *(text.encode("utf-8") for text in new.values())]
        ids = store.put_many(objects)
        if ids[1 + len(sealed) :] != list(new):
            raise RunError("a builder named a source by another id than that of its bytes")
        for name, data in zip(ids, objects, strict=True):
            if store.get(name).data != data:
                raise RunError(f"stored object {name} does not read back as what was stored")
        return ids[0]


def build_all(bench: Bench, advance: Callable[[int], object]) -> Built:
    """Build every (sample, arm) of a run.

    Raises:
        RunError: No arm has a prompt, or what was stored does not read back.
        RegistryError: An arm names an unknown builder.
        StoreError: The store cannot be written.
    """
    built = build_each(bench, advance)
    tally(built.builds).require_prompts(bench.spec.tokenizer, replay=bench.spec.engine.name == REPLAY)
    return built


def build_each(bench: Bench, advance: Callable[[int], object]) -> Built:
    """Build every (sample, arm), whether or not there is any prompt at all.

    Raises:
        RunError: What was stored does not read back.
        RegistryError: An arm names an unknown builder.
        StoreError: The store cannot be written.
    """
    building = Building(bench)
    prepared: list[Prepared] = []
    rows: list[BuildRow] = []
    for item, row in building.each():
        prepared.append(item)
        rows.append(row)
        advance(1)
    return Built(prepared=tuple(prepared), samples=building.samples(), builds=tuple(rows))


def context_of(bench: Bench, sample: Sample, arm: ArmSpec, rewrite: Rewriter | None) -> BuildContext:
    """What a builder may use for one sample and arm."""
    upper_bound = arm.retrieval.name in UPPER_BOUNDS or arm.selection.name in UPPER_BOUNDS
    return BuildContext(
        arm=arm,
        tokenizer=bench.tokenizer,
        examples=bench.data.examples,
        gold=sample.gold if upper_bound else None,
        frame=bench.frame,
        rewrite=rewrite,
        corpus=bench.corpus,
        lap=bench.lap,
    )


def _sealed(built: BuiltPrompt, record: C) -> Sealed[C]:
    """A record of a prompt, sealed: by its builder, if it has done so with this very record."""
    for made in built.sealed:
        if made.record is record:
            return made
    return seal(record)


def _given(bench: Bench, project: str, provider: str) -> Given:
    return Given(
        now=bench.now,
        store=bench.store,
        project=project,
        provider=provider,
        operation=OPERATION,
        tokenizer=bench.tokenizer,
    )
