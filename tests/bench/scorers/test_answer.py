"""The form of an answer: quotes, numbers, and everything a model does instead."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.scorers.answer import parse_answer

UNFINISHED, MISSING = ("contract.unfinished",), ("contract.number_missing",)
UNKNOWN, SEVERAL = ("contract.number_unknown",), ("contract.number_several",)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("<q>a b</q> [2]", [("a b", 2, True, ())]),
        ("<q>a b</q>[2]", [("a b", 2, True, ())]),
        ("Well: <q> a </q> [1] so.", [(" a ", 1, True, ())]),
        ("<q>a</q> [1] <q>b</q> [3]", [("a", 1, True, ()), ("b", 3, True, ())]),
        ("<q>a</q>", [("a", None, True, MISSING)]),
        ("<q>a</q> [9]", [("a", None, True, UNKNOWN)]),
        ("<q>a</q> [0]", [("a", None, True, UNKNOWN)]),
        ("<q>a</q> [9] [2]", [("a", 2, True, UNKNOWN)]),
        ("<q>a</q> [2][1]", [("a", 2, True, SEVERAL)]),
        ("<q>a</q> [2] [2]", [("a", 2, True, ())]),
        ("<q>a", [("a", None, False, UNFINISHED)]),
        ("<q>a [1]", [("a [1]", None, False, UNFINISHED)]),
        ("<q>a <q>b</q> [1]", [("a ", None, False, UNFINISHED), ("b", 1, True, ())]),
        ("<q></q> [1]", [("", 1, True, ())]),
        ("<q>", [("", None, False, UNFINISHED)]),
        ("a</q> [1]", []),
        ("", []),
        ("no quote [1]", []),
        ("<Q>a</Q> [1]", []),
        ("<q>a</q></q> [1]", [("a", 1, True, ())]),
    ],
)
def test_forms(answer: str, expected: list[tuple[str, int | None, bool, tuple[str, ...]]]) -> None:
    found = [(q.text, q.number, q.finished, q.codes) for q in parse_answer(answer, sources=3)]
    assert found == expected


@given(st.text(alphabet=st.sampled_from(list("<q/>[]1234567890, ab\n")), max_size=60))
def test_every_opening_tag_is_one_attempted_quote(answer: str) -> None:
    quotes = parse_answer(answer, sources=3)
    assert len(quotes) == answer.count("<q>")
    assert all(q.number is None or 1 <= q.number <= 3 for q in quotes)
    assert all(q.codes for q in quotes if q.number is None)


def test_many_tags_cost_linear_time() -> None:
    began = time.perf_counter()
    assert len(parse_answer("<q>a</q></q>" * 5_000, sources=1)) == 5_000
    assert len(parse_answer("<q>a" + "</q>" * 50_000, sources=1)) == 1
    assert time.perf_counter() - began < 5
