"""gold_sufficient and excess_tokens, by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bench.build.base import Piece, StageItems
from bench.records import BuildRow, SampleRow
from bench.scorers.base import Case
from bench.scorers.judge import Judge
from bench.scorers.sufficiency import SUFFICIENCY
from bench.specs import ContractSpec
from capsules.content_id import content_id

TEXT = "One two. Three four. Five six."
SOURCE = content_id(TEXT.encode())
ONE, TWO, THREE = f"{SOURCE}:0-8", f"{SOURCE}:9-20", f"{SOURCE}:21-30"
TOKENS = {ONE: 3, TWO: 5, THREE: 7}


def build(*kept: str, stage: str = "budget", counted: bool = True) -> BuildRow:
    pieces = [Piece(kind="item", n=TOKENS[item], ref=item) for item in kept]
    return BuildRow(
        sample_id="s",
        arm_id="a",
        status="ok",
        error=None,
        prompt_capsule=None,
        evidence_capsules=(),
        ids_digest=None,
        n_prompt=99,
        pieces=(Piece(kind="header", n=9), *pieces) if counted else (Piece(kind="joined", n=99),),
        shown=(),
        stages=(StageItems(stage=stage, items=kept, tokens=0),),
        silent_omissions=0,
        silent_tokens=0,
        omissions=(),
        laws=(),
        flags=(),
        compressor_us=0,
    )


SAMPLE = SampleRow(
    sample_id="s",
    question="?",
    project="p",
    answers=("x",),
    gold_spans=((SOURCE, 4, 7), (SOURCE, 15, 22)),  # in the first; from the second into the third
    sources=(("doc", SOURCE),),
    distractors=(),
    expired=(),
    denied=(),
)


def scores(row: BuildRow, sample: SampleRow = SAMPLE) -> dict[str, Any]:
    case = Case(
        sample=sample, build=row, contract=ContractSpec(), exchange=None, judge=Judge(lambda source: TEXT)
    )
    return {one.metric: one.value if one.status == "ok" else one.code for one in SUFFICIENCY.score(case)}


@pytest.mark.parametrize(
    ("kept", "spans", "sufficient", "excess"),
    [
        ((ONE, TWO, THREE), None, 1, 0),
        ((ONE, TWO), None, 0, "gold.not_covered"),
        ((), None, 0, "gold.not_covered"),
        ((ONE, TWO, THREE), ((SOURCE, 4, 7),), 1, 12),
        ((ONE, THREE), ((SOURCE, 4, 9),), 1, 7),  # the space behind it is no evidence
    ],
)
def test_values(kept: tuple[str, ...], spans: Any, sufficient: int, excess: object) -> None:
    sample = SAMPLE if spans is None else replace(SAMPLE, gold_spans=spans)
    assert scores(build(*kept), sample) == {"gold_sufficient": sufficient, "excess_tokens": excess}


def test_undefined() -> None:
    bare = replace(SAMPLE, gold_spans=())
    assert scores(build(ONE), bare) == dict.fromkeys(SUFFICIENCY.metrics, "gold.no_spans")
    assert scores(build(ONE, stage="selection")) == dict.fromkeys(SUFFICIENCY.metrics, "stage.absent")
    joined = build(ONE, TWO, THREE, counted=False)
    assert scores(joined) == {"gold_sufficient": 1, "excess_tokens": "stage.absent"}
