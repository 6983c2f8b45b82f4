from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from building import Arms, Contexts, build

from bench.build.base import BuildError
from bench.build.capsule import CapsuleBuilder
from bench.build.naive import NaiveBuilder
from bench.build.registry import require_names
from bench.registry import RegistryError
from bench.retrieval.base import Passage, Query
from bench.specs import CompressionSpec, RetrievalSpec, SelectionSpec
from bench.tokenizers import ByteTokenizer
from tasks.base import Sample


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A user's module of stages, importable as ``own_stages``."""
    module = ModuleType("own_stages")
    monkeypatch.setitem(sys.modules, "own_stages", module)
    return module


def test_stages_of_ones_own_are_used(
    harbour: Sample, own: ModuleType, context: Contexts, arm_of: Arms, look: Any
) -> None:
    seen: list[tuple[Query, list[str]]] = []

    def last_first(query: Query, passages: list[Passage]) -> list[int]:
        seen.append((query, [p.doc_id for p in passages]))
        return list(range(len(passages)))[::-1]

    own.retrieve = last_first
    own.select = lambda query, passages: [0]
    own.compress = lambda question, rate_bp, items: [i for i, item in enumerate(items) if item.required]
    arm = arm_of(
        retrieval=RetrievalSpec(name="own_stages:retrieve"),
        selection=SelectionSpec(name="own_stages:select"),
        compression=CompressionSpec(name="own_stages:compress", rate_bp=2_500),
    )
    built = build(harbour.input, context(arm, gold=harbour.gold))
    assert look.kept(built) == ["The ferry does not carry fish."]
    assert built.compressor_us >= 0
    ((query, docs),) = seen
    assert docs == ["boats", "boats", "birds", "birds", "fish"]  # source order, then start
    assert query == Query(question=harbour.input.question, k=8, gold=None)  # gold is for upper bounds only


@pytest.mark.parametrize("answer", [[0, 0], [9], [-1], [True], ["0"]])
def test_a_stage_that_answers_with_no_indexes_is_named(
    harbour: Sample, own: ModuleType, context: Contexts, arm_of: Arms, answer: list[Any]
) -> None:
    own.stage = lambda *arguments: answer
    for arm in (
        arm_of(retrieval=RetrievalSpec(name="own_stages:stage")),
        arm_of(selection=SelectionSpec(name="own_stages:stage")),
        arm_of(compression=CompressionSpec(name="own_stages:stage")),
    ):
        with pytest.raises(
            BuildError, match="'own_stages:stage': expected distinct indexes below"
        ) as refused:
            build(harbour.input, context(arm))
        assert refused.value.code == "stage.indexes"


def test_a_compressor_may_not_drop_a_required_item(
    harbour: Sample, own: ModuleType, context: Contexts, arm_of: Arms
) -> None:
    own.nothing = lambda question, rate_bp, items: []
    arm = arm_of(compression=CompressionSpec(name="own_stages:nothing"))
    with pytest.raises(BuildError, match="dropped a required item") as refused:
        build(harbour.input, context(arm))
    assert refused.value.code == "evidence.required.omitted"


def test_every_name_of_an_arm_is_known_before_any_work(arm_of: Arms) -> None:
    require_names(arm_of())
    for change, says in (
        ({"builder": "capsul"}, "unknown builder 'capsul'"),
        ({"retrieval": RetrievalSpec(name="bm26")}, "unknown retrieval 'bm26'"),
        ({"selection": SelectionSpec(name="top")}, "unknown selection 'top'"),
        ({"compression": CompressionSpec(name="zip")}, "unknown compression 'zip'"),
    ):
        with pytest.raises(RegistryError, match=says):
            require_names(replace(arm_of(), **change))


class Careless(ByteTokenizer):
    """Makes a control id of text, and dies of a lone surrogate as the tokenizers package does."""

    def encode(self, text: str) -> list[int]:
        try:
            return [256 if b == ord("~") else b for b in text.encode()]
        except UnicodeEncodeError:
            raise TypeError("TextInputSequence must be str") from None


@pytest.mark.parametrize("builder", [CapsuleBuilder(), NaiveBuilder()])
@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("A lone \ud800 surrogate?", "json.string.surrogate"),
        ("A ~ control token?", "render.control_token"),
    ],
)
def test_errors_of_the_core_are_build_errors(
    harbour: Sample,
    context: Contexts,
    arm_of: Arms,
    builder: Callable[..., object],
    question: str,
    code: str,
) -> None:
    arm = arm_of("capsule" if isinstance(builder, CapsuleBuilder) else "naive")
    with pytest.raises(BuildError) as refused:
        builder(replace(harbour.input, question=question), context(arm, tokenizer=Careless()))
    assert refused.value.code == code


def test_what_a_record_refuses_is_a_build_error(harbour: Sample, context: Contexts) -> None:
    with pytest.raises(BuildError) as refused:
        build(replace(harbour.input, question="A noncharacter: \ufffe?"), context())
    assert refused.value.code == "json.string.noncharacter"
