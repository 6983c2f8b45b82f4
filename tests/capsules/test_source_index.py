"""Looking things up in an indexed source."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsules.normalization import ORDER, normalize, trim
from capsules.source_index import SourceIndex, join_broken_words, starts


@settings(deadline=None)
@given(st.text("ab", max_size=40), st.text("ab", min_size=1, max_size=6), st.integers(0, 5))
def test_starts_are_all_starts(text: str, needle: str, position: int) -> None:
    expected = [at for at in range(position, len(text)) if text.startswith(needle, at)]
    assert list(starts(text, needle, position)) == expected


@pytest.mark.parametrize(
    ("text", "needle", "expected"),
    [
        ("", "a", []),
        ("aaaa", "aa", [0, 1, 2]),
        ("abaababaaba", "abaaba", [0, 5]),  # overlaps by one, which is no multiple of the period 3
        ("abcabcabc", "abcabc", [0, 3]),
        ("aabaabaaab", "aabaa", [0, 3]),
        ("xyz", "xyz", [0]),
    ],
)
def test_starts_by_value(text: str, needle: str, expected: list[int]) -> None:
    assert list(starts(text, needle)) == expected


def test_overlapping_occurrences_take_linear_time() -> None:
    # Comparing the whole needle at every place would read 10,000 million characters.
    assert sum(1 for _ in starts("a" * 1_100_000, "a" * 100_000)) == 1_000_001


def test_a_normalization_is_built_once() -> None:
    index = SourceIndex("a\r\nb")
    assert index.normalized("text/1") is index.normalized("text/1")
    assert index.normalized("raw/1").text is index.text


@settings(deadline=None)
@given(
    st.text("ab e\u0301\u00e9\u0323\n\u00ad\u2019\uff76\uff9e\ufb01", max_size=12),
    st.text("ab e\u0301\u00e9\n\u2019\uff76\uff9e\ufb01", min_size=1, max_size=3),
    st.sampled_from(ORDER),
)
def test_what_is_ruled_out_occurs_under_no_normalization(source: str, quote: str, norm_id: str) -> None:
    start, end = trim(quote)
    if start == end or not SourceIndex(source).rules_out(quote[start:end], norm_id):
        return
    for strict in ORDER[: ORDER.index(norm_id) + 1]:
        assert normalize(quote[start:end], strict).text not in normalize(source, strict).text


def test_nothing_is_ruled_out_where_characters_join() -> None:
    index = SourceIndex("cafe\u0301")
    assert not index.rules_out("tea", "quote/1")
    assert SourceIndex("caf\u00e9").rules_out("tea", "quote/1")
    assert not SourceIndex("\uff76\uff9e").rules_out("tea", "compat/1")


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("assess-\nments", "assessments"),
        ("assess-\r\n  ments", "assessments"),
        ("assess- ments", "assessments"),
        ("assess\u2010\nments", "assessments"),
        ("assess\u00ad\nments", "assessments"),
        ("well-known", "well-known"),
        ("1-\n2", "1-\n2"),
        ("-\na", "-\na"),
        ("a-\n", "a-\n"),
        ("a - b", "a - b"),
    ],
)
def test_words_broken_at_a_line_end(text: str, joined: str) -> None:
    assert join_broken_words(text) == joined


def test_dehyphenation_needs_a_break_on_one_side() -> None:
    assert not SourceIndex("risk assessments").holds_dehyphenated("assessments", "quote/1")
    assert SourceIndex("risk assessments").holds_dehyphenated("assess-\nments", "quote/1")
    index = SourceIndex("risk  assess-\nments")
    assert index.holds_dehyphenated("risk assessments", "quote/1")
    assert not index.holds_dehyphenated("risk assessments", "raw/1")
    assert not index.holds_dehyphenated("risk avoidance", "quote/1")
    assert not index.holds_dehyphenated("the assessments", "quote/1")


def test_a_word_broken_in_several_places_is_looked_up_in_each() -> None:
    source = "one assess-\nments, " * 1200 + "two assess-\nments here"
    index = SourceIndex(source)
    assert index.holds_dehyphenated("one assessments, one", "quote/1")
    # Only the first thousand places of one word are tried.
    assert not index.holds_dehyphenated("two assessments here", "quote/1")
    assert SourceIndex("a re-\nread of un-\nread mail").holds_dehyphenated("reread of unread mail", "quote/1")
