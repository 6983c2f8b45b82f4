"""The bootstrap: seeded, paired, exact sums, the percentile method, known answers."""

from __future__ import annotations

import random
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.metrics.bootstrap import Interval, bootstrap_means


def plain(values: list[float], draws: int, seed: int) -> tuple[float, float]:
    """The same, written as slowly and plainly as it can be."""
    words = np.random.PCG64(seed).random_raw(draws * len(values))
    n = len(values)
    means = []
    for draw in range(draws):
        chosen = [values[(int(w) >> 32) * n >> 32] for w in words[draw * n : (draw + 1) * n]]
        means.append(sum(chosen) / n)
    means.sort()

    def at(share: float) -> float:
        place = share * (draws - 1)
        low = int(place)
        high = min(low + 1, draws - 1)
        return means[low] + (means[high] - means[low]) * (place - low)

    return at(0.025), at(0.975)


def test_equals_a_plain_bootstrap_on_the_same_draws() -> None:
    values = [0.0, 1.0, 0.5, -2.0, 7.25]
    (found,) = bootstrap_means([values], draws=500, seed=3)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(plain(values, 500, 3), abs=1e-12)


def test_the_same_numbers_in_every_process() -> None:
    code = (
        "from bench.metrics.bootstrap import bootstrap_means as b;"
        "print(b([[0, 1, 1, 0, 1.0], [3.0, 1 / 3, 2.5]], draws=2000, seed=11))"
    )
    runs = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(runs) == 1
    # Frozen: the stream of PCG64 and the rounding of the sums must never move.
    assert runs == {
        "[Interval(low=0.2, high=1.0, flat=False), Interval(low=0.33333333333333215, high=3.0, flat=False)]\n"
    }


def test_blocks_of_draws_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [[float(i % 3) for i in range(50)], [float(i) for i in range(7)]]
    whole = bootstrap_means(values, draws=300, seed=1)
    monkeypatch.setattr("bench.metrics.bootstrap._BLOCK", 64)
    assert bootstrap_means(values, draws=300, seed=1) == whole


def test_one_vector_gives_the_same_alone_and_among_others() -> None:
    a, b = [0.0, 1.0, 1.0, 0.0], [5.0, -5.0, 2.0, 2.0]
    alone = bootstrap_means([b], draws=200, seed=0)[0]
    assert bootstrap_means([a, b, a], draws=200, seed=0)[1] == alone


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=12), st.randoms())
def test_order_of_summation_cannot_matter(values: list[float], rng: random.Random) -> None:
    interval = bootstrap_means([values], draws=20, seed=5)[0]
    assert interval is not None
    slack = 1e-9 * max(1.0, max(abs(v) for v in values))
    assert min(values) - slack <= interval.low <= interval.high <= max(values) + slack
    shift = bootstrap_means([[v + 1 for v in values]], draws=20, seed=5)[0]
    assert shift is not None
    assert shift.low == pytest.approx(interval.low + 1, abs=1e-5)


def test_few_values_have_no_interval_and_equal_values_say_so() -> None:
    empty, single, flat = bootstrap_means([[], [4.0], [0.0, 0.0, 0.0]], draws=100, seed=0)
    assert empty is None
    assert single is None
    assert flat is not None
    assert (flat.low, flat.high, flat.flat) == (0.0, 0.0, True)


def test_coverage_of_a_known_proportion() -> None:
    """About 95 of 100 intervals hold the truth (percentile method, n=60: a little fewer)."""
    rng = np.random.default_rng(0)
    vectors = [(rng.random(60) < 0.4).astype(float).tolist() for _ in range(300)]
    held = sum(i is not None and i.low <= 0.4 <= i.high for i in bootstrap_means(vectors, draws=1000, seed=2))
    assert 0.90 <= held / 300 <= 0.98


@pytest.mark.parametrize("bad", [[[1.0, float("nan")]], [[float("inf"), 0.0]]])
def test_refuses_what_is_no_number(bad: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="finite"):
        bootstrap_means(bad, draws=10, seed=0)


def test_clusters_are_drawn_whole() -> None:
    values, names = [1.0, 0.0, 4.0, -2.0, 7.25, 0.5], ["a", "b", "a", "c", "b", "d"]
    (found,) = bootstrap_means([values], draws=500, seed=3, clusters=[names])
    groups = [[1.0, 4.0], [0.0, 7.25], [-2.0], [0.5]]
    words = np.random.PCG64(3).random_raw(500 * 4)
    means = []
    for draw in range(500):
        drawn = [v for w in words[draw * 4 : draw * 4 + 4] for v in groups[(int(w) >> 32) * 4 >> 32]]
        means.append(sum(drawn) / len(drawn))
    assert found is not None
    assert (found.low, found.high) == pytest.approx(np.percentile(means, (2.5, 97.5)), abs=1e-12)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=9), st.integers(1, 4))
def test_copies_in_a_cluster_add_nothing(values: list[float], copies: int) -> None:
    (alone,) = bootstrap_means([values], draws=50, seed=1)
    names = [place for place in range(len(values)) for _ in range(copies)]
    (copied,) = bootstrap_means([[values[n] for n in names]], draws=50, seed=1, clusters=[names])
    assert alone is not None
    assert copied is not None
    assert (copied.low, copied.high) == pytest.approx((alone.low, alone.high), rel=1e-9, abs=1e-6)
    assert copied.flat == alone.flat


def test_clusters_of_one_value_each_change_no_digit() -> None:
    vectors = [[0.1, 0.7, 0.2], [1.0, 3.0, 2.0, 5.0]]
    alone = bootstrap_means(vectors, draws=200, seed=4)
    assert bootstrap_means(vectors, draws=200, seed=4, clusters=["abc", "wxyz"]) == alone


def test_coverage_where_four_values_are_alike() -> None:
    """Drawn one by one, intervals are half as wide as they must be; drawn by cluster they hold the truth."""
    rng = np.random.default_rng(0)
    draws = [(rng.random(40) < 0.4).astype(float) for _ in range(300)]
    vectors = [np.repeat(one, 4).tolist() for one in draws]
    names = [np.repeat(np.arange(40), 4).tolist()] * 300

    def held(clusters: list[list[int]] | None) -> float:
        found = bootstrap_means(vectors, draws=1000, seed=2, clusters=clusters)
        return sum(i is not None and i.low <= 0.4 <= i.high for i in found) / 300

    assert 0.90 <= held(names) <= 0.98
    assert held(None) < 0.75


def test_equal_clusters_of_unequal_values_say_so() -> None:
    values, names = [0.0, 1.0] * 6, [place for place in range(6) for _ in range(2)]
    assert bootstrap_means([values], draws=50, seed=0, clusters=[names]) == [
        Interval(low=0.5, high=0.5, flat=True)
    ]
    (tenths,) = bootstrap_means([[0.1] * 5], draws=50, seed=0, clusters=["aaabb"])
    assert tenths is not None
    assert (tenths.low, tenths.high) == pytest.approx((0.1, 0.1))


def test_one_cluster_has_no_interval_and_every_value_needs_a_name() -> None:
    assert bootstrap_means([[1.0, 2.0]], draws=10, seed=0, clusters=["aa"]) == [None]
    with pytest.raises(ValueError, match="zip"):
        bootstrap_means([[1.0, 2.0]], draws=10, seed=0, clusters=["a"])


def test_refuses_no_draws() -> None:
    with pytest.raises(ValueError, match="at least 1 draw"):
        bootstrap_means([[1.0, 2.0]], draws=0, seed=0)


def test_vectorized_200_vectors_of_1000_samples_in_seconds() -> None:
    vectors = [[float((i * j) % 7) for i in range(1000)] for j in range(200)]
    began = time.perf_counter()
    bootstrap_means(vectors, draws=10_000, seed=0)
    assert time.perf_counter() - began < 20
