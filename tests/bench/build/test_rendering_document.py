"""The prompts that docs/rendering.md shows are those that the builders make."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from bench.build.base import BuildContext
from bench.build.registry import builder
from bench.specs import ArmSpec, CompressionSpec
from bench.tokenizers import ByteTokenizer
from tasks.base import Sample

DOCUMENT = Path(__file__).parents[3] / "docs" / "rendering.md"


def test_the_documented_prompts(
    harbour: Sample,
    examples: tuple[Sample, ...],
    context: Callable[..., BuildContext],
    arm_of: Callable[..., ArmSpec],
) -> None:
    arms = (arm_of(compression=CompressionSpec(name="extractive", rate_bp=6_500)), arm_of("naive"))
    built = [builder(arm.builder)(harbour.input, context(arm, examples=examples)) for arm in arms]
    shown = re.findall(r"```text\n(.*?)\n```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    assert shown == [ByteTokenizer().decode(prompt.ids[1:]) for prompt in built]
