"""A quote over the end of a passage resolves in the document, whatever the passages are."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from bench.build.base import BuildContext
from bench.build.capsule import CapsuleBuilder
from bench.build.naive import NaiveBuilder
from bench.scorers.judge import Judge
from bench.specs import ArmSpec, ContractSpec, RetrievalSpec, SelectionSpec
from tasks.base import SampleInput, SourceDoc

TEXT = "Dr. Lind took 3.5 mg. He slept until noon.\n\nThe ship sailed on. Nobody saw it again."
QUOTE = "3.5 mg. He slept"  # over the end of a sentence
LONG = "until noon. The ship sailed"  # over the end of a paragraph; the quote has one space there
CHUNKS: list[dict[str, Any]] = [
    {"chunk": "sentence"},
    {"chunk": "paragraph"},
    {"chunk": "window", "window_size": 2, "window_stride": 1},
    {"chunk": "window", "window_size": 25, "window_stride": 9, "window_unit": "tokens"},
]


@pytest.mark.parametrize("chunk", CHUNKS, ids=lambda c: "-".join(map(str, c.values())))
def test_a_quote_across_passages_resolves_in_document_coordinates(
    chunk: dict[str, Any],
    doc: Callable[..., SourceDoc],
    sample_of: Callable[..., SampleInput],
    arm_of: Callable[..., ArmSpec],
    context: Callable[..., BuildContext],
) -> None:
    arm = arm_of(retrieval=RetrievalSpec(k=9, **chunk), selection=SelectionSpec(k=9))
    built = CapsuleBuilder()(sample_of("How long did Dr. Lind sleep?", doc("d", TEXT)), context(arm))
    (shown,) = built.shown
    assert shown.ranges == ((0, len(TEXT)),)  # adjacent kept sentences read unbroken
    (quote,) = Judge(built.sources.__getitem__).answer(
        f"<q>{QUOTE}</q> [1]", built.shown, (shown.source,), ContractSpec()
    )
    assert (quote.match, quote.place, quote.span) == ("raw_exact", "cited", (14, 30))
    (long,) = Judge(built.sources.__getitem__).answer(
        f"<q>{LONG}</q> [1]", built.shown, (shown.source,), ContractSpec()
    )
    assert (long.match, long.place) == ("norm_exact", "cited")
    assert long.span is not None
    assert TEXT[slice(*long.span)] == "until noon.\n\nThe ship sailed"


def test_the_command_gives_the_same_place() -> None:
    line = json.JSONEncoder().encode({"source": TEXT, "quote": QUOTE})
    done = subprocess.run(
        [sys.executable, "-m", "capsules", "match"], input=line, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert (found["match"], found["start"], found["end"]) == ("raw_exact", 14, 30)


def test_a_quote_over_a_dropped_sentence_is_no_exact_citation(
    doc: Callable[..., SourceDoc],
    sample_of: Callable[..., SampleInput],
    arm_of: Callable[..., ArmSpec],
    context: Callable[..., BuildContext],
) -> None:
    arm = arm_of(retrieval=RetrievalSpec(k=1, chunk="sentence"), selection=SelectionSpec(k=1))
    built = CapsuleBuilder()(sample_of("What took Dr. Lind?", doc("d", TEXT)), context(arm))
    (shown,) = built.shown
    assert shown.ranges == ((0, 21),)
    (quote,) = Judge(built.sources.__getitem__).answer(
        f"<q>{QUOTE}</q> [1]", built.shown, (shown.source,), ContractSpec()
    )
    assert not quote.exact


def test_naive_prompts_show_overlapping_windows_as_they_were_found(
    doc: Callable[..., SourceDoc],
    sample_of: Callable[..., SampleInput],
    arm_of: Callable[..., ArmSpec],
    context: Callable[..., BuildContext],
) -> None:
    retrieval = RetrievalSpec(k=2, chunk="window", window_size=2, window_stride=1)
    arm = arm_of("naive", retrieval=retrieval, selection=SelectionSpec(k=2))
    built = NaiveBuilder()(sample_of("When did he sleep, until noon?", doc("d", TEXT)), context(arm))
    assert [s.ranges for s in built.shown] == [((22, 63),), ((0, 42),)]
    assert [len(stage.items) for stage in built.stages] == [4, 3, 3, 3, 3]
    assert built.silent_omissions == 1
