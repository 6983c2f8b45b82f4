from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.build.base import BuildError
from bench.selection.oracle import EXACT, oracle

Make = Callable[..., Any]


def test_all_offers_that_hold_gold_and_no_others(document: Make, query: Make, gold: Make) -> None:
    offers = [*document("a", ["One.", "Two.", "Three."]), *document("b", ["Four.", "Five."])]
    truth = gold(("a", 2, 6), ("b", 6, 8))  # over a's first two sentences; in b's second
    assert oracle(query(name="oracle", gold=truth), offers) == [0, 1, 4]
    assert oracle(query(name="oracle", gold=gold(("c", 0, 9))), offers) == []


def test_under_a_limit_the_most_spans_for_the_fewest_tokens(offer: Make, query: Make, gold: Make) -> None:
    offers = [offer("a", 0, "x", tokens=30), offer("b", 0, "y", tokens=12), offer("c", 0, "z", tokens=11)]
    truth = gold(("a", 0, 1), ("b", 0, 1), ("c", 0, 1))
    assert oracle(query(name="oracle", gold=truth, tokens=30), offers) == [1, 2]
    assert oracle(query(name="oracle", gold=truth, tokens=22), offers) == [2]
    assert oracle(query(name="oracle", gold=truth, tokens=22, k=1), offers) == [2]
    assert oracle(query(name="oracle", gold=truth, tokens=5), offers) == []
    assert oracle(query(name="oracle", gold=truth, k=2), offers) == [1, 2]


def test_without_gold_it_is_refused(offer: Make, query: Make) -> None:
    with pytest.raises(BuildError, match="selection oracle needs gold") as refused:
        oracle(query(name="oracle"), [offer("a", 0, "x")])
    assert refused.value.code == "gold.missing"


def test_with_more_spans_than_can_be_tried_the_cheapest_come_first(
    offer: Make, query: Make, gold: Make
) -> None:
    letters = "abcdefghijklmnop"[: EXACT + 2]
    offers = [offer(letter, 0, "x", tokens=number + 1) for number, letter in enumerate(letters)]
    truth = gold(*((letter, 0, 1) for letter in letters))
    assert oracle(query(name="oracle", gold=truth, tokens=10), offers) == [0, 1, 2, 3]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(0, 30), st.integers(0, 3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_set_of_gold_shows_more(
    offer: Make, query: Make, gold: Make, costs: list[int], limit: int, header: int
) -> None:
    offers = [offer("abcdef"[i], 0, "x", tokens=cost) for i, cost in enumerate(costs)]
    truth = gold(*((one.doc_id, 0, 1) for one in offers))
    found = oracle(query(name="oracle", gold=truth, tokens=limit, header=header), offers)
    best = max(
        (count, -sum(costs[i] for i in some))
        for count in range(len(costs) + 1)
        for some in combinations(range(len(costs)), count)
        if sum(costs[i] + header for i in some) <= limit
    )
    assert (len(found), -sum(costs[i] for i in found)) == best
