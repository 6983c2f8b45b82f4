"""The example of docs/own-builder.md is run as it stands there."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from bench.build.base import BuildContext, BuildError
from bench.build.registry import builder
from bench.specs import ArmSpec, BudgetSpec
from bench.tokenizers import ByteTokenizer
from tasks.base import Sample

DOCUMENT = Path(__file__).parents[3] / "docs" / "own-builder.md"


@pytest.fixture
def mypkg(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    module = ModuleType("mypkg.build")
    exec(compile(next(b for b in blocks if "def build" in b), str(DOCUMENT), "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "mypkg", ModuleType("mypkg"))
    monkeypatch.setitem(sys.modules, "mypkg.build", module)


@pytest.mark.usefixtures("mypkg")
def test_the_documented_builder_keeps_the_documented_rules(
    harbour: Sample, context: Callable[..., BuildContext], arm_of: Callable[..., ArmSpec]
) -> None:
    build = builder("mypkg.build:build")
    built = build(harbour.input, context())
    text = ByteTokenizer().decode(built.ids)
    assert text.startswith("<bos>Answer with a quote.\n\n[1] The ferry Alma")
    assert sum(p.n for p in built.pieces) == len(built.ids)
    assert [len(s.items) for s in built.stages] == [9] * 5
    assert [built.sources[s.source][a:b] for s in built.shown for a, b in s.ranges] == [
        d.text for d in harbour.input.sources
    ]
    small = arm_of(budget=BudgetSpec(window=300, evidence_limit=1))
    with pytest.raises(BuildError, match="expected 300 tokens"):
        build(harbour.input, context(small))
