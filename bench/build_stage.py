"""Builds every (sample, arm), seals and stores what was built, and reads it back.

Rules that this module owns:

* Builders see a ``SampleInput``; gold goes only to the arms whose retrieval or selection asks for it
  by name (upper bounds).
* A prompt that cannot be built is a row with its code, never a missing row. An arm for which no
  prompt at all can be built is an error of the run.
* What is stored is read back and compared before anything is sent: sources, both capsules, ids, places.
* A capsule that does not validate, at the run's ``now`` and for the provider that would get it, is not
  sent: its row is an error with the code of the first failure.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

from bench.build.base import BuildContext, Builder, BuildError, BuiltPrompt
from bench.build.registry import builder
from bench.compression.base import Rewriter
from bench.contracts.forms import lead_of
from bench.contracts.grammar import GrammarError, grammar_of
from bench.groups import provider_asked
from bench.planner import OPERATION, Prepared, ids_bytes
from bench.records import BuildRow, SampleRow
from bench.run_store import DeadEndError, RunError
from bench.specs import UPPER_BOUNDS, ArmSpec, RunSpec
from capsules.codec import Sealed, read_stored, seal
from capsules.content_id import content_id
from capsules.errors import CapsuleError
from capsules.evidence import EvidenceCapsule
from capsules.place import Place
from capsules.prompt import PromptCapsule
from capsules.store import Store
from capsules.tokenized import Frame
from capsules.tokenizer import Tokenizer
from capsules.validation import Given, validate
from tasks.base import Sample, TaskData

AnySealed = Sealed[PromptCapsule] | Sealed[EvidenceCapsule] | Sealed[Place]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """Everything that the build stage hands on."""

    prepared: tuple[Prepared, ...]
    samples: tuple[SampleRow, ...]
    builds: tuple[BuildRow, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What every build of a run shares."""

    spec: RunSpec
    data: TaskData
    tokenizer: Tokenizer
    store: Store
    now: str
    frame: Frame | None = None
    rewrite: Rewriter | None = None


def build_all(bench: Bench, advance: Callable[[int], object]) -> Built:
    """Build every (sample, arm) of a run.

    Raises:
        RunError: An arm has no prompt at all, or what was stored does not read back.
        RegistryError: An arm names an unknown builder.
        StoreError: The store cannot be written.
    """
    built = build_each(bench, advance)
    _require_prompts(bench.spec, built.builds)
    return built


def build_each(bench: Bench, advance: Callable[[int], object]) -> Built:
    """Build every (sample, arm), whether or not an arm has any prompt at all.

    Raises:
        RunError: What was stored does not read back.
        RegistryError: An arm names an unknown builder.
        StoreError: The store cannot be written.
    """
    spec, samples = bench.spec, bench.data.samples
    builders = {arm.arm_id: builder(arm.builder) for arm in spec.arms}
    bench.store.put_many(_source_bytes(samples))
    prepared: list[Prepared] = []
    rows: list[BuildRow] = []
    for sample in samples:
        for arm in spec.arms:
            item, row = _build(bench, sample, arm, builders[arm.arm_id])
            prepared.append(item)
            rows.append(row)
            advance(1)
    return Built(
        prepared=tuple(prepared),
        samples=tuple(sample_row(sample) for sample in samples),
        builds=tuple(rows),
    )


def sample_row(sample: Sample) -> SampleRow:
    """What scoring needs of a sample, gold spans in source coordinates."""
    ids = {doc.doc_id: content_id(doc.text.encode("utf-8")) for doc in sample.input.sources}
    return SampleRow(
        sample_id=sample.input.sample_id,
        question=sample.input.question,
        project=sample.input.project,
        answers=sample.gold.answers,
        gold_spans=tuple((ids[span.doc_id], span.start, span.end) for span in sample.gold.spans),
        sources=tuple(ids.items()),
        distractors=sample.gold.distractors,
        expired=sample.gold.expired,
        denied=sample.gold.denied,
    )


def without_times(rows: Iterable[BuildRow]) -> list[BuildRow]:
    """Build rows without clock readings: equal for two builds of the same thing."""
    return [dataclasses.replace(row, compressor_us=0) for row in rows]


def _source_bytes(samples: Sequence[Sample]) -> list[bytes]:
    return [doc.text.encode("utf-8") for sample in samples for doc in sample.input.sources]


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
    )


def _build(bench: Bench, sample: Sample, arm: ArmSpec, build: Builder) -> tuple[Prepared, BuildRow]:
    context = context_of(bench, sample, arm, bench.rewrite)
    sample_id = sample.input.sample_id
    try:
        built = build(sample.input, context)
        lead = lead_of(bench.spec.model.instruct)
        grammar = grammar_of(arm.contract, built.shown, built.sources.__getitem__, lead=lead)
        prompt = seal(built.prompt) if built.prompt is not None else None
        evidence = [seal(capsule) for capsule in built.evidence]
        place = [seal(built.place)] if built.place is not None else []
    except (BuildError, CapsuleError, GrammarError) as error:
        return _failed(sample_id, arm.arm_id, error.code, _message(error))
    ids_digest = _store(bench.store, built, [*([prompt] if prompt else []), *evidence, *place])
    if prompt is not None:
        report = validate(
            prompt.data, _given(bench, built.project, provider_asked(arm)), expect=prompt.digest
        )
        failures = [row for row in report.checks if row.result == "fail"]
        if failures:
            named = ", ".join(f"{row.code} at {row.at}" for row in failures)
            return _failed(sample_id, arm.arm_id, failures[0].code or "", f"capsule {prompt.digest}: {named}")
    item = Prepared(
        sample_id=sample_id,
        arm_id=arm.arm_id,
        built=built,
        ids_digest=ids_digest,
        prompt_capsule=prompt.digest if prompt else None,
        grammar=grammar,
    )
    return item, _row(item, built, tuple(one.digest for one in evidence))


def _given(bench: Bench, project: str, provider: str) -> Given:
    return Given(
        now=bench.now,
        store=bench.store,
        project=project,
        provider=provider,
        operation=OPERATION,
        tokenizer=bench.tokenizer,
    )


def _store(store: Store, built: BuiltPrompt, sealed: Sequence[AnySealed]) -> str:
    sources = [text.encode("utf-8") for text in built.sources.values()]
    ids = store.put_many([ids_bytes(built.ids), *(one.data for one in sealed), *sources])
    if ids[1 + len(sealed) :] != list(built.sources):
        raise RunError("a builder named a source by another id than that of its bytes")
    if store.get(ids[0]).data != ids_bytes(built.ids):
        raise RunError(f"stored token ids {ids[0]} do not read back")
    for one in sealed:
        if read_stored(store.get(one.digest).data, type(one.record)) != one.record:
            raise RunError(f"stored record {one.digest} does not read back as what was sealed")
    return ids[0]


def _row(item: Prepared, built: BuiltPrompt, evidence: tuple[str, ...]) -> BuildRow:
    return BuildRow(
        sample_id=item.sample_id,
        arm_id=item.arm_id,
        status="ok",
        error=None,
        prompt_capsule=item.prompt_capsule,
        evidence_capsules=evidence,
        ids_digest=item.ids_digest,
        n_prompt=len(built.ids),
        pieces=built.pieces,
        shown=built.shown,
        stages=built.stages,
        silent_omissions=built.silent_omissions,
        silent_tokens=built.silent_tokens,
        omissions=_by_reason(built),
        laws=tuple(sorted(built.laws.items())),
        flags=built.flags,
        compressor_us=built.compressor_us,
        compressed=built.compressed,
        place=built.place_report,
    )


def _by_reason(built: BuiltPrompt) -> tuple[tuple[str, int, int], ...]:
    totals: dict[str, tuple[int, int]] = {}
    for omission in built.prompt.omissions if built.prompt is not None else ():
        items, tokens = totals.get(omission.reason, (0, 0))
        totals[omission.reason] = (items + omission.count, tokens + (omission.tokens or 0))
    return tuple((reason, items, tokens) for reason, (items, tokens) in sorted(totals.items()))


def _failed(sample_id: str, arm_id: str, code: str, message: str) -> tuple[Prepared, BuildRow]:
    item = Prepared(
        sample_id=sample_id,
        arm_id=arm_id,
        built=None,
        ids_digest=None,
        prompt_capsule=None,
        code=code,
        message=message,
    )
    row = BuildRow(
        sample_id=sample_id,
        arm_id=arm_id,
        status="error",
        error=f"{code}: {message}",
        prompt_capsule=None,
        evidence_capsules=(),
        ids_digest=None,
        n_prompt=0,
        pieces=(),
        shown=(),
        stages=(),
        silent_omissions=0,
        silent_tokens=0,
        omissions=(),
        laws=(),
        flags=(),
        compressor_us=0,
    )
    return item, row


def _message(error: BuildError | CapsuleError | GrammarError) -> str:
    return error.message if isinstance(error, CapsuleError) else str(error)


def _require_prompts(spec: RunSpec, rows: Sequence[BuildRow]) -> None:
    for arm in spec.arms:
        mine = [row for row in rows if row.arm_id == arm.arm_id]
        if mine and all(row.status == "error" for row in mine) and not _uncompressed(mine[0]):
            raise DeadEndError(
                f"arm {arm.arm_id}: no prompt can be built for any of {len(mine)} samples; the first "
                f"({mine[0].sample_id}): {mine[0].error}"
            )


def _uncompressed(row: BuildRow) -> bool:
    """Whether a prompt is missing because a dry build runs no lossy compressor."""
    return (row.error or "").startswith("compression.unavailable:")
