"""Real texts in five languages and four scripts through every builder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.build.base import BuildContext
from bench.build.registry import builder
from bench.specs import ArmSpec, BudgetSpec, CompressionSpec, RetrievalSpec, SelectionSpec
from bench.tokenizers import ByteTokenizer
from capsules.rendering import unrender
from tasks.base import TaskSpec
from tasks.registry import load_task


@pytest.mark.parametrize("language", ["en", "zh", "ar", "hi", "th"])
def test_the_laws_hold_and_the_text_is_verbatim(
    capsule_data: Path, language: str, context: Callable[..., BuildContext], arm_of: Callable[..., ArmSpec]
) -> None:
    spec = TaskSpec(
        name=f"xquad_{language}",
        project="p",
        as_of="2026-01-01T00:00:00Z",
        data_dir=str(capsule_data),
        revision=None,
        digest=None,
        limit=12,
        examples=2,
        seed=0,
        strict=True,
        options={},
    )
    data = load_task(spec)
    tight = BudgetSpec(window=100_000, evidence_limit=2_500)
    arms = (
        arm_of(),
        arm_of(compression=CompressionSpec(name="extractive", rate_bp=5_000)),
        arm_of(budget=tight, retrieval=RetrievalSpec(name="full_context"), selection=SelectionSpec(k=99)),
        arm_of("naive", budget=tight),
    )
    for arm in arms:
        for sample in data.samples[::3]:
            built = builder(arm.builder)(sample.input, context(arm, examples=data.examples))
            text = ByteTokenizer().decode(built.ids[1:])
            shown = {s.number: s for s in built.shown}
            assert all(built.laws.values())
            if arm.layout != "capsule":
                assert all(
                    built.sources[s.source][s.ranges[0][0] : s.ranges[0][1]] in text for s in built.shown
                )
                continue
            tag = text.rpartition("</sources ")[2][:10]
            for number, run in unrender(text, tag).runs:
                assert run in built.sources[shown[number].source]
