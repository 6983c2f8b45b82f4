"""Rates and losses of compression, with the values of the field case A19."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bench.build.base import CompressedText, ShownSource, StageItems
from bench.records import BuildRow, SampleRow
from bench.report.compression_facts import Given, answer_there, given, lost, selected, text_rate
from capsules.content_id import content_id

TEXT = "Do not give 2.5 mg to Anna Berg. Give 25 mg."
SOURCE = content_id(TEXT.encode())
FIRST, SECOND = f"{SOURCE}:0-32", f"{SOURCE}:33-44"


def texts(source: str) -> str:
    assert source == SOURCE
    return TEXT


def text_of(
    given_tokens: int, came: int, text: str | None = None, items: tuple[str, ...] = (FIRST,)
) -> CompressedText:
    status = "empty" if not came else "rewritten" if came < given_tokens else "no_gain"
    return CompressedText(
        items=items,
        status=status,
        tokens_in=given_tokens,
        tokens_out=came,
        tokens_before=given_tokens,
        text=text if status == "rewritten" else None,
    )


def build_of(*compressed: CompressedText, kept: tuple[str, ...] = (FIRST, SECOND), **more: Any) -> BuildRow:
    return BuildRow(
        sample_id="s", arm_id="a", status="ok", error=None, prompt_capsule=None, evidence_capsules=(),
        ids_digest=None, n_prompt=0, pieces=(), silent_omissions=0, silent_tokens=0, omissions=(), laws=(),
        flags=(), compressor_us=5, compressed=compressed,
        stages=(
            StageItems(stage="selection", items=(FIRST, SECOND), tokens=50),
            StageItems(stage="compression", items=kept, tokens=40),
            StageItems(stage="budget", items=kept, tokens=40),
        ),
        **{"shown": (ShownSource(number=1, doc_id="d", source=SOURCE, ranges=((0, 44),)),), **more},
    )  # fmt: skip


def test_a19_rates_beside_the_asked_one_and_totals_from_sums() -> None:
    rows = [text_of(50, 50), text_of(2000, 1010), text_of(6000, 1800), text_of(70, 91)]
    assert [round(text_rate(row), 3) for row in rows] == [1.0, 0.505, 0.3, 1.3]
    assert [row.status for row in rows] == ["no_gain", "rewritten", "rewritten", "no_gain"]
    found = given(rows)
    assert found == Given(tokens=8120, sent=50 + 1010 + 1800 + 70, texts=4, no_gain=2, empty=0)
    assert found.rate == pytest.approx(0.361, abs=0.0005)


def test_nothing_given_has_no_rate_and_an_empty_answer_sends_nothing() -> None:
    assert given([]).rate is None
    assert given([text_of(10, 0), text_of(10, 5)]) == Given(tokens=20, sent=5, texts=2, no_gain=0, empty=1)


def test_of_selected_evidence_dropped_items_and_saved_tokens_are_gone() -> None:
    assert selected(build_of()) == (50, 40)
    assert selected(build_of(text_of(30, 10, "x"), text_of(9, 9))) == (50, 20)
    assert selected(replace(build_of(), stages=())) == (0, 0)


def test_losses_are_of_texts_that_are_sent() -> None:
    sent = text_of(30, 9, "Do give 25 mg to Anna")
    found = lost(build_of(sent), texts)
    assert (found.numbers, found.numbers_added, found.negations, found.names, found.broken) == (1, 1, 1, 1, 0)
    gone = lost(build_of(sent, kept=(SECOND,)), texts)
    assert (gone.numbers, gone.negations) == (0, 0)


@pytest.mark.parametrize(
    ("answers", "ranges", "expected"),
    [
        (("25 mg",), ((33, 44),), 1.0),
        (("2.5 mg",), ((33, 44),), 0.0),
        (("give 9 mg", "2.5 mg"), ((0, 32),), 1.0),
        (("never mind",), (), 0.0),
        (("Do give",), (), 1.0),  # only the rewritten text has it
        ((), ((0, 44),), None),
        (("",), ((0, 44),), None),
    ],
)
def test_gold_answers_that_are_still_there(
    answers: tuple[str, ...], ranges: tuple[tuple[int, int], ...], expected: float | None
) -> None:
    shown = (ShownSource(number=1, doc_id="d", source=SOURCE, ranges=ranges),)
    build = build_of(text_of(30, 9, "Do give 99 mg"), shown=shown)
    sample = SampleRow(
        sample_id="s", question="q", project="p", answers=answers, gold_spans=(), sources=(),
        distractors=(), expired=(), denied=(),
    )  # fmt: skip
    assert answer_there(build, sample, texts) == expected
