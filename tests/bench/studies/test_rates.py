from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.studies.rates import auroc, ratio

DRAWS = {"draws": 200, "seed": 0}


def test_a_ratio_is_of_sums_over_clusters() -> None:
    found = ratio([(1, 1), (0, 3), (2, 4)], **DRAWS)
    assert (found.value, found.n) == (3 / 8, 8)
    assert found.interval is not None
    assert 0 <= found.interval.low <= 3 / 8 <= found.interval.high <= 1


@pytest.mark.parametrize(
    ("counts", "value", "n"),
    [([], None, 0), ([(0, 0), (0, 0)], None, 0), ([(1, 1)], 1.0, 1), ([(2, 2), (5, 5)], 1.0, 7)],
)
def test_no_interval_where_nothing_can_vary(
    counts: list[tuple[int, int]], value: float | None, n: int
) -> None:
    found = ratio(counts, **DRAWS)
    assert (found.value, found.n, found.interval) == (value, n, None)


def test_a_resample_without_a_denominator_is_left_out() -> None:
    found = ratio([(1, 2), (0, 0), (0, 0), (0, 0)], **DRAWS)
    assert (found.value, found.interval) == (0.5, None)  # every resample that says something says one half


@pytest.mark.parametrize(
    ("scores", "labels", "value"),
    [
        ([1, 2, 3, 4], [False, False, True, True], 1.0),
        ([1, 2, 3, 4], [True, True, False, False], 0.0),
        ([1, 1, 1, 1], [True, False, True, False], 0.5),
        ([1, 2, 2, 3], [False, True, False, True], (1 + 0.5 + 1 + 1) / 4),
        ([1, 2], [True, True], None),
    ],
)
def test_auroc_by_hand(scores: list[int], labels: list[bool], value: float | None) -> None:
    assert auroc(scores, labels, **DRAWS).value == value


def test_auroc_has_an_interval_around_it() -> None:
    found = auroc([1, 5, 2, 6, 3, 4, 9, 1], [False, True, True, True, False, False, True, False], **DRAWS)
    assert found.value is not None
    assert found.interval is not None
    assert found.interval.low <= found.value <= found.interval.high


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=2, max_size=12))
def test_auroc_turns_around_with_the_labels(rows: list[tuple[int, bool]]) -> None:
    scores = [score for score, _ in rows]
    there = auroc(scores, [label for _, label in rows], draws=5, seed=0).value
    back = auroc(scores, [not label for _, label in rows], draws=5, seed=0).value
    if there is None or back is None:
        assert there == back
    else:
        assert there + back == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_interval() -> None:
    counts = [(n % 3, 3) for n in range(40)]
    assert ratio(counts, **DRAWS) == ratio(counts, **DRAWS)
    assert ratio(counts, **DRAWS) != ratio(counts, draws=200, seed=1)
