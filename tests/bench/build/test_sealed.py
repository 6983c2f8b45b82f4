"""What a builder has sealed is taken for its own record only, and checked like everything else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from bench.build import registry
from bench.build.base import BuildContext, BuiltPrompt
from bench.build.capsule import CapsuleBuilder
from bench.build_stage import Bench, Building
from bench.config import to_spec
from bench.hydra_app import compose_config
from bench.records import BuildRow
from bench.tokenizers import ByteTokenizer
from capsules.codec import seal
from capsules.content_id import content_id
from capsules.evidence import EvidenceCapsule
from capsules.store import MemoryStore
from tasks.base import SampleInput
from tasks.registry import load_task

Change = Callable[[BuiltPrompt], BuiltPrompt]
Rows = Callable[[Change], list[BuildRow]]


@pytest.fixture
def rows(small: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch) -> Rows:
    """Rows of two samples, built by the builder ``capsule`` with a change to what it gives."""

    def make(change: Change) -> list[BuildRow]:
        build = CapsuleBuilder()

        def changed(sample: SampleInput, ctx: BuildContext) -> BuiltPrompt:
            return change(build(sample, ctx))

        monkeypatch.setattr(registry, "BUILDERS", {"capsule": changed})
        spec = to_spec(compose_config(small("limit=2")))
        spec = replace(spec, arms=tuple(arm for arm in spec.arms if arm.arm_id == "capsule"))
        data = load_task(spec.task)
        stage = Building(
            Bench(spec=spec, data=data, tokenizer=ByteTokenizer(), store=MemoryStore(), now=spec.task.as_of)
        )
        return [row for _, row in stage.each()]

    return make


def unchanged(built: BuiltPrompt) -> BuiltPrompt:
    return built


def test_a_builder_hands_on_what_it_sealed(rows: Rows) -> None:
    seen: list[BuiltPrompt] = []

    def note(built: BuiltPrompt) -> BuiltPrompt:
        seen.append(built)
        return built

    found = rows(note)

    assert [row.status for row in found] == ["ok", "ok"]
    for row, built in zip(found, seen, strict=True):
        assert [one.record for one in built.sealed] == [built.prompt, *built.evidence]
        assert [one.digest for one in built.sealed] == [row.prompt_capsule, *row.evidence_capsules]


def test_rows_are_the_same_whether_or_not_the_builder_seals(rows: Rows) -> None:
    def timeless(found: list[BuildRow]) -> list[BuildRow]:
        return [replace(row, compressor_us=0) for row in found]

    assert timeless(rows(unchanged)) == timeless(rows(lambda built: replace(built, sealed=())))


def test_another_sealed_capsule_is_not_taken_for_the_prompts(rows: Rows) -> None:
    first: list[BuiltPrompt] = []

    def mixed(built: BuiltPrompt) -> BuiltPrompt:
        first.append(built)
        return replace(built, sealed=first[0].sealed)

    assert [row.prompt_capsule for row in rows(mixed)] == [row.prompt_capsule for row in rows(unchanged)]


def test_sealed_evidence_that_its_source_does_not_hold_is_not_sent(rows: Rows) -> None:
    """Sealed again in good form, refs and all: what is wrong is only what it quotes."""

    def misquoted(built: BuiltPrompt) -> BuiltPrompt:
        evidence = tuple(seal(_misquoted(one)) for one in built.evidence)
        assert built.prompt is not None
        refs = zip(built.prompt.evidence_capsule_refs, evidence, strict=True)
        prompt = seal(
            replace(
                built.prompt, evidence_capsule_refs=tuple(replace(ref, id=one.digest) for ref, one in refs)
            )
        )
        records = tuple(one.record for one in evidence)
        return replace(built, prompt=prompt.record, evidence=records, sealed=(prompt, *evidence))

    found = rows(misquoted)

    assert [row.status for row in found] == ["error", "error"]
    assert all((row.error or "").startswith("span.exact.mismatch: ") for row in found)


def _misquoted(capsule: EvidenceCapsule) -> EvidenceCapsule:
    first, *others = capsule.exact_spans
    exact = "?" + first.exact[1:]
    span = replace(first, exact=exact, text_digest=content_id(exact.encode()))
    return replace(capsule, exact_spans=(span, *others))
