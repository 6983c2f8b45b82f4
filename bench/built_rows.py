"""The rows of samples and of what was built, or could not be, of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from bench.build.base import BuildError, BuiltPrompt
from bench.build.corpus import Corpus
from bench.contracts.grammar import GrammarError
from bench.planner import Prepared
from bench.records import BuildRow, SampleRow
from capsules.content_id import content_id
from capsules.errors import CapsuleError
from tasks.base import Sample


def sample_row(sample: Sample, corpus: Corpus | None = None) -> SampleRow:
    """What scoring needs of a sample, gold spans in source coordinates."""
    own = {doc.doc_id: content_id(doc.text.encode("utf-8")) for doc in sample.input.sources}
    ids = own if corpus is None else corpus.ids
    return SampleRow(
        sample_id=sample.input.sample_id,
        question=sample.input.question,
        project=sample.input.project,
        answers=sample.gold.answers,
        gold_spans=tuple((ids[span.doc_id], span.start, span.end) for span in sample.gold.spans),
        sources=tuple(own.items()),
        distractors=sample.gold.distractors,
        expired=sample.gold.expired,
        denied=sample.gold.denied,
    )


def without_times(rows: Iterable[BuildRow]) -> list[BuildRow]:
    """Build rows without clock readings: equal for two builds of the same thing."""
    return [dataclasses.replace(row, compressor_us=0) for row in rows]


def build_row(item: Prepared, built: BuiltPrompt, evidence: tuple[str, ...]) -> BuildRow:
    """The row of a prompt; ``evidence``: the digests of its evidence capsules."""
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


def _by_reason(built: BuiltPrompt) -> tuple[tuple[str, int, int | None], ...]:
    totals: dict[str, tuple[int, int | None]] = {}
    for omission in built.prompt.omissions if built.prompt is not None else ():
        items, tokens = totals.get(omission.reason, (0, 0))
        known = None if omission.tokens is None or tokens is None else tokens + omission.tokens
        totals[omission.reason] = (items + omission.count, known)
    return tuple((reason, items, tokens) for reason, (items, tokens) in sorted(totals.items()))


def failed(sample_id: str, arm_id: str, code: str, message: str) -> tuple[Prepared, BuildRow]:
    """What stands in the place of a prompt that could not be built."""
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


def message_of(error: BuildError | CapsuleError | GrammarError) -> str:
    """What the error says, without its code."""
    return error.message if isinstance(error, CapsuleError) else str(error)
