"""Constrained answers: judged by parsing, and a grammar's limit is never a silent empty answer."""

from __future__ import annotations

from typing import Any

import pytest

from bench.scorers.answer import parse_answer
from bench.specs import ContractSpec

HELD = {"capsule": ContractSpec(name="quote_constrained")}
LIMIT, UNFINISHED = "contract.grammar_limit", "contract.unfinished"


def exact(world: Any, text: str, finish: str, contract: dict[str, ContractSpec]) -> tuple[object, ...]:
    responses = [world.response(text, finish_reason=finish), world.response(text, "latency")]
    row = world.score(text, responses=responses, contract=contract)["exact_citation"]
    return row.status, row.value, row.code


@pytest.mark.parametrize(
    ("text", "finish", "expected"),
    [
        (" <q>run dry</q> [1]", "stop", ("ok", 1.0, None)),
        (" <q>run dry</q> [1]", "length", ("ok", 1.0, None)),  # complete, whatever the engine calls it
        (" [1] <q>run dry</q>", "stop", ("ok", 1.0, None)),
        (" <q>run dr", "length", ("ok", 0.0, UNFINISHED)),
        (" <q>run dry</q>", "length", ("ok", 0.0, UNFINISHED)),
        (" <q>run dry</q> [1", "length", ("ok", 0.0, UNFINISHED)),
        (" [1] <q>run", "length", ("ok", 0.0, UNFINISHED)),
        (" [1", "length", ("undefined", None, UNFINISHED)),
        ("", "stop", ("undefined", None, LIMIT)),
        (" <q>run", "stop", ("ok", 0.0, LIMIT)),
    ],
)
def test_a_constrained_answer(world: Any, text: str, finish: str, expected: tuple[object, ...]) -> None:
    assert exact(world, text, finish, HELD) == expected


def test_a_free_answer_has_no_grammar_to_fail(world: Any) -> None:
    free = {"capsule": ContractSpec()}
    assert exact(world, "", "stop", free) == ("undefined", None, "answer.empty")
    assert exact(world, " <q>run", "stop", free) == ("ok", 0.0, UNFINISHED)
    assert exact(world, " <q>run dry</q>", "stop", free) == ("ok", 0.0, "contract.number_missing")
    assert exact(world, " [1] <q>run dry</q>", "stop", free) == ("ok", 0.0, "contract.number_missing")


def test_a_pointer_cut_short_is_unfinished_and_an_empty_one_is_the_grammars_limit(world: Any) -> None:
    held = {"capsule": ContractSpec(name="pointer_constrained")}
    assert exact(world, " [1", "length", held) == ("ok", 0.0, UNFINISHED)
    assert exact(world, " [", "length", held) == ("undefined", None, UNFINISHED)
    assert exact(world, "", "stop", held) == ("undefined", None, LIMIT)
    assert exact(world, " [2]", "stop", held) == ("ok", 1.0, None)


def test_numbers_may_lead_only_where_they_are_asked_to() -> None:
    answer = "[1] <q>a</q> [2] <q>b</q>"
    assert [(q.text, q.number) for q in parse_answer(answer, sources=2, leading=True)] == [("a", 1), ("b", 2)]
    assert [(q.text, q.number) for q in parse_answer(answer, sources=2)] == [("a", 2), ("b", None)]
    trailing = "<q>a</q> [1] <q>b</q> [2]"
    assert [q.number for q in parse_answer(trailing, sources=2, leading=True)] == [1, 2]


def test_the_time_of_the_grammar_is_a_latency_metric(world: Any) -> None:
    responses = [world.response(""), world.response("", "latency", grammar_us=17_250)]
    row = world.score("", responses=responses)["grammar_us"]
    assert (row.status, row.value) == ("ok", 17_250)
    row = world.score("")["grammar_us"]
    assert (row.status, row.code) == ("undefined", "contract.no_grammar")
