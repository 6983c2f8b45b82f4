"""Reciprocal rank fusion, by values worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.retrieval.base import Passage, Query
from bench.retrieval.hybrid import fuse, hybrid_of


def test_fusion_by_hand() -> None:
    # 0: 1/61 + 1/63 = 0.032266; 1: 1/62 + 1/61 = 0.032522
    # 2: 1/63 + 1/62 = 0.032002; 3: 1/64 + 1/64 = 0.031250
    assert fuse([[0, 1, 2, 3], [1, 2, 0, 3]], 4) == [1, 0, 2, 3]


def test_one_first_place_is_worth_less_than_two_middling_ones() -> None:
    # 0: 1/61 = 0.01639 (in one ranking alone); 1: 1/62 + 1/62 = 0.03226
    assert fuse([[0, 1], [2, 1]], 3) == [1, 0, 2]


def test_exact_ties_keep_source_order() -> None:
    assert fuse([[0, 1], [1, 0]], 2) == [0, 1]
    assert fuse([[1, 0], [0, 1]], 2) == [0, 1]
    assert fuse([], 3) == [0, 1, 2]
    # far down the differences are below 1e-6, and still decide: 1/2060 > 1/2061
    assert fuse([[*range(1998, -1, -1), 2000, 1999]], 2001)[-2:] == [2000, 1999]


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_a_passage_that_both_prefer_is_never_behind(left: Sequence[int], right: Sequence[int]) -> None:
    order = fuse([left, right], 6)
    assert sorted(order) == list(range(6))
    for a in range(6):
        for b in range(6):
            if left.index(a) < left.index(b) and right.index(a) < right.index(b):
                assert order.index(a) < order.index(b)


def passages(*texts: str) -> list[Passage]:
    return [Passage(doc_id=f"d{i}", start=0, end=len(t), text=t) for i, t in enumerate(texts)]


@pytest.mark.parametrize(
    ("dense", "expected"),
    [
        # bm25 finds 2 (shorter) before 1, and nothing else
        ([3, 0, 1, 2], [2, 1, 3, 0]),  # 2: 1/61 + 1/64; 1: 1/62 + 1/63; 3: 1/61; 0: 1/62
        ([1, 2, 3, 0], [1, 2, 3, 0]),  # 1: 1/62 + 1/61 = 2's 1/61 + 1/62: source order; 3: 1/63; 0: 1/64
    ],
)
def test_bm25_gives_no_rank_to_what_it_did_not_find(dense: list[int], expected: list[int]) -> None:
    texts = passages("gulls", "the ferry sails at noon", "the ferry", "herring")
    asked: list[int] = []

    def second(query: Query, given: Sequence[Passage]) -> Sequence[int]:
        asked.append(query.k)
        return dense

    find = hybrid_of(second)
    assert find(Query(question="ferry", k=4), texts) == expected
    assert find(Query(question="ferry", k=1), texts) == expected[:1]
    assert asked == [4, 4]  # fusion needs the whole ranking, whatever k is
    assert hybrid_of(lambda query, given: [])(Query(question="ferry", k=3), []) == []


def test_the_constant_is_sixty() -> None:
    """1/(60+1) equals 2/(60+62) and is less than 1/(60+61) + 1/(60+62); with 61 or 59 one of them turns."""
    first = [0, *range(2, 62), 1]  # passage 0 at rank 1, passage 1 at rank 62
    tie = [*range(70, 131), 1]  # passage 1 at rank 62 again
    assert fuse([first, tie], 200)[:2] == [0, 1]  # source order; with 61 passage 1 would lead
    nearer = [*range(70, 130), 1]  # passage 1 at rank 61
    assert fuse([first, nearer], 200)[:2] == [1, 0]  # with 59 passage 0 would lead
