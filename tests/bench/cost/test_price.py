"""Money by hand: four classes, prices per million, time per hour, and nothing rounded."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.build.base import Piece
from bench.cost.classes import CLASSES, TokenCounts, classes_of
from bench.cost.price import time_cost, token_cost
from bench.records import RequestRow, ResponseRow
from bench.specs import PriceSpec

LIST = PriceSpec(provider="p", input_uncached=2_500_000, cache_read=1_250_000, output=10_000_000)
WRITES = PriceSpec(
    provider="p", input_uncached=3_000_000, cache_read=300_000, cache_write=3_750_000, output=15_000_000
)


def tokens(*counts: int | None) -> TokenCounts:
    return TokenCounts(**dict(zip(CLASSES, counts, strict=True)))


def test_four_classes_by_hand() -> None:
    # 200 x 2.50 + 800 x 1.25 + 10 x 10.00 of a currency unit a million = 0.0016 units = 1,600 micro-units
    assert token_cost(tokens(200, 800, 0, 10), LIST) == 500 + 1_000 + 100
    # 100 x 3.00 + 800 x 0.30 + 100 x 3.75 + 10 x 15.00
    assert token_cost(tokens(100, 800, 100, 10), WRITES) == 300 + 240 + 375 + 150


def test_writes_that_are_not_billed_apart_are_uncached_input() -> None:
    assert token_cost(tokens(100, 0, 100, 0), LIST) == token_cost(tokens(200, 0, 0, 0), LIST) == 500


def test_an_hour_is_an_hour() -> None:
    price = PriceSpec(provider="local", engine_hour=100_000)
    assert time_cost(3_600_000_000, price) == 100_000
    assert time_cost(1, price) == Fraction(1, 36_000)
    assert time_cost(1, LIST) == 0
    assert token_cost(tokens(1, None, 3, None), price) == 0  # a machine of one's own bills no tokens


@pytest.mark.parametrize("unknown", range(3))
def test_an_unknown_count_leaves_the_cost_unknown_and_never_zero(unknown: int) -> None:
    counts: list[int | None] = [5, 5, 0, 5]
    counts[(0, 1, 3)[unknown]] = None
    assert token_cost(tokens(*counts), LIST) is None


def test_a_class_that_has_tokens_and_no_price_leaves_the_cost_unknown() -> None:
    price = PriceSpec(provider="p", input_uncached=1, output=1)
    assert token_cost(tokens(1, 0, 0, 1), price) is not None
    assert token_cost(tokens(1, 1, 0, 1), price) is None


counts = st.integers(0, 10**6)
prices = st.integers(0, 10**9)


@given(st.tuples(*[counts] * 4), st.tuples(*[prices] * 4), st.integers(0, 50))
def test_costs_add_up_exactly_however_the_tokens_are_split(
    amounts: tuple[int, ...], money: tuple[int, ...], n: int
) -> None:
    few, each = amounts, dict(zip(CLASSES, money, strict=True))
    price = PriceSpec(provider="p", **each)
    parts = [min(n, count) for count in few]
    rest = [count - part for count, part in zip(few, parts, strict=True)]
    one, two = token_cost(tokens(*parts), price), token_cost(tokens(*rest), price)
    assert one is not None
    assert two is not None
    assert token_cost(tokens(*few), price) == one + two


def exchange(cached: int | None, **more: Any) -> tuple[RequestRow, ResponseRow]:
    request = RequestRow(
        request_id="r", request_digest="d", phase="quality", sample_id="s", arm_id="a", cell_id="a.off",
        salt=None, prompt_capsule=None, provider="local", ids_digest="i", n_prompt=100,
        segments=(Piece(kind="joined", n=100),), predicted_cached=None, predicted_reason="engine.unknown",
    )  # fmt: skip
    response = ResponseRow(
        request_id="r", attempt=1, status="ok", text="", output_ids_digest=None, n_output=7,
        measured_cached=cached, ttft_us=None, tpot_us=None, e2e_us=None, queue_us=None, finish_reason="stop",
        error=None, **more,
    )  # fmt: skip
    return request, response


def test_the_classes_make_up_what_was_sent() -> None:
    assert classes_of(*exchange(64)) == tokens(36, 64, 0, 7)
    assert classes_of(*exchange(64, cache_write=30)) == tokens(6, 64, 30, 7)
    assert classes_of(*exchange(64, n_prompt=104)) == tokens(40, 64, 0, 7)  # its own count is what it bills
    assert classes_of(*exchange(None)) == tokens(None, None, 0, 7)


@given(st.integers(0, 100), st.integers(0, 100))
def test_the_classes_are_disjoint_and_complete(read: int, written: int) -> None:
    if read + written > 100:
        with pytest.raises(ValueError, match=r"expected cached tokens in 0\.\.100"):
            classes_of(*exchange(read, cache_write=written))
        return
    found = classes_of(*exchange(read, cache_write=written))
    assert (found.input_uncached or 0) + (found.cache_read or 0) + (found.cache_write or 0) == 100
