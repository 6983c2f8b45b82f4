"""Approximate search against the textbook table."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsules.levenshtein import best_match, edits
from capsules.quote_verdict import Edit

small = st.text("abc", max_size=12)
patterns = st.text("abc", min_size=1, max_size=8)


def table(pattern: str, text: str) -> int:
    row = list(range(len(text) + 1))
    for index, char in enumerate(pattern, 1):
        above, row = row, [index]
        for column, other in enumerate(text, 1):
            row.append(min(above[column] + 1, row[-1] + 1, above[column - 1] + (char != other)))
    return row[-1]


def cost(steps: tuple[Edit, ...]) -> int:
    return sum(max(len(step.quote), len(step.source)) for step in steps if step.op != "equal")


@settings(deadline=None)
@given(patterns, small)
def test_the_best_substring_is_the_best_of_all(pattern: str, text: str) -> None:
    every = [
        (table(pattern, text[low:high]), high, high - low, low)
        for high in range(len(text) + 1)
        for low in range(high + 1)
    ]
    distance, end, _, start = min(every)
    assert best_match(pattern, text, len(pattern)) == (distance, start, end)
    assert best_match(pattern, text, distance) == (distance, start, end)
    assert distance == 0 or best_match(pattern, text, distance - 1) is None


@settings(deadline=None)
@given(patterns, small)
def test_edits_are_fewest_and_lead_from_one_to_the_other(pattern: str, text: str) -> None:
    steps = edits(pattern, text)
    assert "".join(step.quote for step in steps) == pattern
    assert "".join(step.source for step in steps) == text
    assert all((step.quote == step.source) == (step.op == "equal") for step in steps)
    assert all(not step.source for step in steps if step.op == "delete")
    assert all(not step.quote for step in steps if step.op == "insert")
    assert cost(steps) == table(pattern, text)


def test_edits_by_value() -> None:
    assert edits("kitten", "sitting") == (
        Edit(op="replace", quote="k", source="s"),
        Edit(op="equal", quote="itt", source="itt"),
        Edit(op="replace", quote="e", source="i"),
        Edit(op="equal", quote="n", source="n"),
        Edit(op="insert", quote="", source="g"),
    )
    assert edits("ab", "") == (Edit(op="delete", quote="ab", source=""),)


def test_a_long_pattern_in_a_long_text_is_bounded() -> None:
    draw = random.Random(1)
    text = "".join(draw.choice("abcdefgh ") for _ in range(100_000))
    pattern = text[50_000:55_000]
    changed = pattern[:1000] + "x" + pattern[1001:3000] + pattern[3002:]
    assert best_match(changed, text, 1000) == (3, 50_000, 55_000)
    assert cost(edits(changed, pattern)) == 3


@pytest.mark.soak
def test_many_random_texts() -> None:
    draw = random.Random(2)
    for _ in range(20_000):
        alphabet = "ab" if draw.random() < 0.5 else "abcd "
        pattern = "".join(draw.choice(alphabet) for _ in range(draw.randint(1, 70)))
        text = "".join(draw.choice(alphabet) for _ in range(draw.randint(0, 90)))
        found = best_match(pattern, text, len(pattern))
        assert found is not None
        distance, start, end = found
        assert table(pattern, text[start:end]) == distance
        assert cost(edits(pattern, text)) == table(pattern, text)
