"""Quotes of text that a compressor wrote: a class of their own."""

from __future__ import annotations

from typing import Any

import pytest

from bench.build.base import CompressedText
from bench.scorers.citations import CITATIONS
from bench.scorers.judge import Judge, rewritten_texts
from bench.specs import ContractSpec


def build_of(world: Any) -> Any:
    """PUMP's second sentence, "Below 5 bar the alarm is silent.", was sent as "Below bar alarm silent."."""
    item = f"{world.ids['pump']}:27-59"
    gone = CompressedText(
        items=(f"{world.ids['gone']}:0-26",),
        status="rewritten",
        tokens_in=9,
        tokens_out=3,
        tokens_before=9,
        text="No.",
    )
    sent = CompressedText(
        items=(item,),
        status="rewritten",
        tokens_in=9,
        tokens_out=5,
        tokens_before=9,
        text="Below bar alarm silent.",
    )
    return world.build(compressed=(sent, gone))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("<q>Below bar alarm</q> [1]", "quote.altered"),
        ("<q> bar  alarm </q> [1]", "quote.altered"),  # folded like every quote
        ("<q>Below bar alarm</q> [2]", "quote.altered"),
        ("<q>alarm</q> [1]", None),  # the original holds it too
        ("<q>never written</q> [1]", "quote.absent"),
        ("<q>No.</q> [1]", "quote.absent"),  # that item was not sent
        ("<q> </q> [1]", "quote.empty"),
    ],
)
def test_altered_quotes(world: Any, answer: str, reason: str | None) -> None:
    build = build_of(world)
    judge = Judge(world.texts.__getitem__)
    sources = tuple(world.ids.values())
    (quote,) = judge.answer(answer, build.shown, sources, ContractSpec(), rewritten_texts(build))
    assert quote.reason == reason
    assert quote.exact == (reason is None)
    (plain,) = judge.answer(answer, build.shown, sources, ContractSpec())
    assert plain.reason != "quote.altered"
    assert CITATIONS.metrics[0] == "exact_citation"
