from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bench.registry import RegistryError
from bench.selection.registry import SELECTORS, selector

Make = Callable[..., Any]


@pytest.mark.parametrize(("k", "kept"), [(1, [0]), (3, [0, 1, 2]), (9, [0, 1, 2])])
def test_top_k_takes_the_first(k: int, kept: list[int], offer: Make, query: Make) -> None:
    offers = [offer("a", i, "x") for i in range(3)]
    assert list(selector("top_k")(query(k=k), offers)) == kept


def test_names() -> None:
    assert sorted(SELECTORS) == ["fovea", "mmr", "oracle", "top_k"]
    with pytest.raises(RegistryError, match="unknown selection 'mrm'"):
        selector("mrm")


def test_mmr_weighs_relevance_against_likeness(offer: Make, query: Make) -> None:
    offers = [
        offer("a", 0, "red barn near the mill", score_bp=10_000),
        offer("b", 0, "red barn near the mill", score_bp=9_000),  # the same words: likeness 1
        offer("c", 0, "blue gate", score_bp=4_000),  # no word in common: likeness 0
    ]
    # second pick at lambda .7: b .63 - .3 = .33, c .28; at .5: b .45 - .5 = -.05, c .2
    assert list(selector("mmr")(query(name="mmr", k=2), offers)) == [0, 1]
    assert list(selector("mmr")(query(name="mmr", k=2, lambda_bp=5_000), offers)) == [0, 2]
    assert list(selector("mmr")(query(name="mmr", k=3, lambda_bp=10_000), offers)) == [0, 1, 2]
    assert list(selector("mmr")(query(name="mmr"), [])) == []


def test_mmr_passes_over_what_does_not_fit(offer: Make, query: Make) -> None:
    offers = [
        offer("a", 0, "long", score_bp=9_000, tokens=50),
        offer("b", 0, "short", score_bp=8_000, tokens=5),
        offer("c", 0, "brief", score_bp=7_000, tokens=4),
    ]
    assert list(selector("mmr")(query(name="mmr", tokens=9, k=2), offers)) == [1, 2]
    assert list(selector("mmr")(query(name="mmr", tokens=9, header=2), offers)) == [1]


def test_mmr_takes_the_first_of_equals(offer: Make, query: Make) -> None:
    offers = [offer(letter, 0, f"word{letter}", score_bp=5_000) for letter in "abc"]
    assert list(selector("mmr")(query(name="mmr", k=2), offers)) == [0, 1]
