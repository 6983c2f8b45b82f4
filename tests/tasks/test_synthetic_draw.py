"""The choices of the generator: fixed by their names, fair, and worked out by hand."""

from __future__ import annotations

from collections import Counter

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from tasks.synthetic_draw import Draw
from tasks.synthetic_values import Clock, Day, Number, distinct


def test_the_first_word_is_the_start_of_a_blake3() -> None:
    data = b"CAPS1 7 draw/v1 1 a 1 7 1 0"
    word = int.from_bytes(blake3(data).digest()[:8], "big")
    assert Draw("a", 7).below(1000) == word % 1000


def test_names_are_kept_apart() -> None:
    streams = [Draw("ab", "c"), Draw("a", "bc"), Draw("a", "b", "c"), Draw("abc")]
    assert len({tuple(draw.below(10**6) for _ in range(3)) for draw in streams}) == 4


def test_a_stream_begins_anew_for_the_same_names() -> None:
    one, other = Draw("w", 1), Draw("w", 1)
    assert [one.below(99) for _ in range(50)] == [other.below(99) for _ in range(50)]


def test_every_number_is_about_as_likely() -> None:
    draw = Draw("fair")
    counts = Counter(draw.below(6) for _ in range(6000))
    assert sorted(counts) == [0, 1, 2, 3, 4, 5]
    assert all(880 < count < 1120 for count in counts.values())


@given(st.integers(1, 2**64), st.integers(0, 50))
def test_a_number_is_below_its_limit(limit: int, name: int) -> None:
    assert 0 <= Draw(name).below(limit) < limit


@given(st.lists(st.integers()), st.integers(0, 50))
def test_a_shuffle_keeps_the_things(things: list[int], name: int) -> None:
    assert sorted(Draw(name).shuffled(things)) == sorted(things)


@pytest.mark.parametrize(
    ("value", "answers"),
    [
        (Number(low=5, high=6, form="{n} m"), {"5 m", "6 m"}),
        (Number(low=20, high=30, form="€{n}", step=10, scale=2), {"€0.20", "€0.30"}),
        (Number(low=9, high=11, form="{n} bar", scale=1), {"0.9 bar", "1.0 bar", "1.1 bar"}),
        (Number(low=9999, high=10000, form="{n} volumes"), {"9999 volumes", "10,000 volumes"}),
    ],
)
def test_numbers_are_written_without_floats(value: Number, answers: set[str]) -> None:
    draw = Draw("numbers")
    assert {value.draw(draw) for _ in range(60)} == answers


def test_times_and_dates_have_one_form() -> None:
    draw = Draw("times")
    for _ in range(60):
        hour, minute = Clock(first=8, last=11).draw(draw).split(":")
        assert 8 <= int(hour) <= 11
        assert int(minute) % 5 == 0
        day, month, year = Day(years=(1890, 1891)).draw(draw).split()
        assert 1 <= int(day) <= 28
        assert month.isalpha()
        assert year in ("1890", "1891")


def test_distinct_answers_are_distinct() -> None:
    assert sorted(distinct(Number(low=1, high=3, form="{n}"), Draw("x"), 3)) == ["1", "2", "3"]
