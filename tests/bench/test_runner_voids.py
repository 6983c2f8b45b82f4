"""Cells that the runner voids: the reset, the counters or the answers do not fit the cache that they name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Drive = Callable[..., Any]


def test_a_reset_that_is_refused_voids_every_cell_and_sends_nothing(bench: Drive) -> None:
    b = bench()
    b.drive(FAKE_REFUSE_RESET="1")
    assert b.requests == []
    assert len(b.cells) == 2 * 7 + 2  # quality and latency; the floor of the two cells without caching
    assert {(s.void, s.code, s.reset_verified) for s in b.cells.values()} == {
        (True, "cell.reset.unverified", False)
    }


def test_a_reset_that_only_says_so_is_not_believed(bench: Drive, wrapped: Any) -> None:
    b = bench()
    b.wrap = wrapped.LyingReset
    b.drive()
    caching = {key: s for key, s in b.cells.items() if not key[0].endswith(".off")}
    assert {(s.void, s.code) for s in caching.values()} == {(True, "cell.reset.unverified")}
    assert {row.cell_id for row in b.requests} == {"naive.off", "capsule.off"}  # nothing to reset there


def test_an_engine_that_caches_although_it_says_off_voids_the_cell(bench: Drive) -> None:
    """A08: the baseline must show 0 cached tokens, whatever ran before it."""
    b = bench("arms.naive.caches=[off]", "arms.capsule.caches=[off]", "~arm@arms.naive_volatile")
    b.drive(FAKE_LEAK="16")
    assert {(s.void, s.code) for s in b.cells.values()} == {(True, "cell.reset.unverified")}


@pytest.mark.parametrize("cache", ["off", "cold"])
def test_answers_from_a_warm_cache_void_a_cell_that_may_not_have_one(
    bench: Drive, wrapped: Any, cache: str
) -> None:
    b = bench(f"arms.naive.caches=[{cache}]", "~arm@arms.capsule", "~arm@arms.naive_volatile")
    b.wrap = wrapped.WarmFromStart  # the latency subset sends what the quality requests have sent
    b.drive()
    assert not b.cells[f"naive.{cache}", "quality"].void
    assert b.cells[f"naive.{cache}", "latency"].code == "cell.counters.mismatch"


@pytest.mark.parametrize(("cache", "code"), [("off", "cell.off.hits"), ("cold", "cell.cold.hits")])
def test_without_counters_the_answers_alone_void_it(
    bench: Drive, wrapped: Any, cache: str, code: str
) -> None:
    b = bench(f"arms.naive.caches=[{cache}]", "~arm@arms.capsule", "~arm@arms.naive_volatile")
    b.wrap = wrapped.SilentCounters
    b.drive()
    state = b.cells[f"naive.{cache}", "latency"]
    assert (state.code, state.hits_before, state.hits_after) == (code, None, None)


def test_a_primed_cell_that_misses_its_prefix_is_void(bench: Drive, wrapped: Any) -> None:
    b = bench("arms.naive.caches=[primed]", "~arm@arms.capsule", "~arm@arms.naive_volatile", "concurrency=1")
    b.wrap = wrapped.ForgetsPriming
    b.drive()
    assert b.cells["naive.primed", "quality"].code == "cell.primed.miss"
