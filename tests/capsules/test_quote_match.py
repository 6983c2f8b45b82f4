"""Quote verdicts: each class by value, and against an obvious second formulation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from capsules.codes import CODES
from capsules.errors import SchemaError
from capsules.normalization import ORDER, normalize, trim
from capsules.quote_match import match_quote
from capsules.quote_verdict import EXACT_MATCHES, MATCHES, QuoteVerdict
from capsules.source_index import SourceIndex

ODD = "abc1 \n\r\u00ad\u200b\u2019e\u0301\u0323\u00e9\u0958\u093c\u0915\ufb01\uff9e\uff76\U0001f9ea"
odd_texts = st.text(st.sampled_from(ODD), max_size=14)


@st.composite
def sources_and_quotes(draw: st.DrawFn) -> tuple[str, str]:
    """A source, and a quote that is made up or a slice of it, perhaps normalized, perhaps cut once more."""
    source = draw(odd_texts)
    if draw(st.booleans()) or not source:
        return source, draw(st.text(st.sampled_from(ODD), min_size=1, max_size=4))
    low = draw(st.integers(0, len(source) - 1))
    quote = normalize(source[low : draw(st.integers(low, len(source)))], draw(st.sampled_from(ORDER))).text
    return source, quote[draw(st.integers(0, 1)) : len(quote) - draw(st.integers(0, 1))]


def verdict(source: str, quote: str, **options: Any) -> QuoteVerdict:
    return match_quote(SourceIndex(source), quote, **options)


def obvious(source: str, quote: str, norm_id: str) -> tuple[str, str | None, list[tuple[int, int]]]:
    """Exact matches by trying every range of the source under every normalization."""
    start, end = trim(quote)
    quote = quote[start:end]
    if not quote:
        return "invalid", None, []
    for strict in ORDER[: ORDER.index(norm_id) + 1]:
        whole, needle = normalize(source, strict).text, normalize(quote, strict).text
        found = []
        for low in range(len(source)):
            for high in range(low + 1, len(source) + 1):
                parts = source[:low], source[low:high], source[high:]
                left, inside, right = (normalize(part, strict).text for part in parts)
                # Strip what is dropped at the ends: the tightest range is the occurrence.
                tight = normalize(source[low], strict).text and normalize(source[high - 1], strict).text
                if inside == needle and left + inside + right == whole and (tight or strict == "raw/1"):
                    found.append((low, high))
        if found:
            return "raw_exact" if strict == "raw/1" else "norm_exact", strict, sorted(found)
    return "other", None, []


@pytest.mark.parametrize("norm_id", ORDER)
@settings(deadline=None)
@given(pair=sources_and_quotes())
def test_exact_matches_are_what_trying_every_range_gives(norm_id: str, pair: tuple[str, str]) -> None:
    source, quote = pair
    match, named, places = obvious(source, quote, norm_id)
    found = verdict(source, quote, normalization=norm_id)
    if match == "other":
        assert found.match not in (*EXACT_MATCHES, "invalid")
        assert found.normalization is None or found.match == "elided"
        return
    assert (found.match, found.normalization) == (match, named)
    assert list(found.occurrences) == places
    assert found.occurrences_total == len(places)
    assert (found.start, found.end) == (places[0] if len(places) == 1 else (None, None))


@settings(deadline=None)
@given(source=odd_texts, low=st.integers(0, 13), high=st.integers(1, 14))
def test_every_raw_substring_is_raw_exact_at_its_place(source: str, low: int, high: int) -> None:
    quote = source[low:high]
    before, after = trim(quote)
    assume(before < after)
    found = verdict(source, quote)
    start, end = low + before, low + after
    assert found.match == "raw_exact"
    assert (start, end) in found.occurrences
    for claimed in ((start, end), (low, low + len(quote))):
        held = verdict(source, quote, start=claimed[0], end=claimed[1])
        assert (held.match, held.start, held.end, held.text) == (
            "raw_exact",
            start,
            end,
            source[start:end],
        )


@settings(deadline=None)
@given(data=st.data(), source=st.text("abcd 12", min_size=3, max_size=30))
def test_a_one_character_edit_is_never_exact_at_that_place(data: st.DataObject, source: str) -> None:
    low = data.draw(st.integers(0, len(source) - 2))
    high = data.draw(st.integers(low + 2, len(source)))
    quote = source[low:high]
    place = data.draw(st.integers(1, len(quote) - 2)) if len(quote) > 2 else 0
    kind = data.draw(st.sampled_from(["replace", "insert", "delete"]))
    if kind == "replace":
        edited = quote[:place] + "x" + quote[place + 1 :]
    elif kind == "insert":
        edited = quote[:place] + "x" + quote[place:]
    else:
        edited = quote[:place] + quote[place + 1 :]
    for norm_id in ORDER:
        found = verdict(source, edited, start=low, end=high, normalization=norm_id)
        if kind != "delete" or normalize(edited, norm_id).text != normalize(quote, norm_id).text:
            assert not found.exact


@pytest.mark.parametrize(
    ("source", "quote", "norm_id", "span"),
    [
        ("a\r\nb", "a\nb", "text/1", (0, 4)),
        ("cafe\u0301!", "caf\u00e9", "text/1", (0, 5)),
        ("a \n b", "a b", "quote/1", (0, 5)),
        ("\uff21\uff22", "AB", "compat/1", (0, 2)),
        ("\u200bfoo\u200b", "foo", "raw/1", (1, 4)),
    ],
)
def test_the_weakest_normalization_is_named(
    source: str, quote: str, norm_id: str, span: tuple[int, int]
) -> None:
    found = verdict(source, quote, normalization="compat/1")
    assert (found.normalization, found.start, found.end) == (norm_id, *span)
    assert found.text == source[slice(*span)]


@pytest.mark.parametrize(
    ("source", "quote"),
    [
        ("10\u00b2 m", "102"),
        ("\u00bd", "1/2"),
        ("\u2460", "1"),
        ("A", "a"),
        ("note book", "notebook"),
        ("H\u2082O", "H2O"),
    ],
)
def test_what_no_normalization_folds(source: str, quote: str) -> None:
    assert verdict(source, quote, normalization="compat/1").match == "absent"


def test_an_unknown_normalization_is_refused() -> None:
    with pytest.raises(SchemaError):
        verdict("a", "a", normalization="nfkc")


def test_unassigned_code_points_are_told() -> None:
    found = verdict("a\u0378b", "a\u0378b")
    assert (found.match, found.codes) == ("raw_exact", ("norm.unicode.unassigned",))
    assert verdict("a", "b\u0378").codes == ("norm.unicode.unassigned",)


def test_many_occurrences_are_counted_and_the_first_thousand_listed() -> None:
    found = verdict("a" * 5000, "a" * 3)
    assert found.occurrences_total == 4998
    assert len(found.occurrences) == 1000
    assert found.occurrences[-1] == (999, 1002)
    folded = verdict("a\u00a0b " * 2000, "a b")
    assert (folded.match, folded.occurrences_total, len(folded.occurrences)) == ("norm_exact", 2000, 1000)


def test_shown_ranges_are_all_that_counts() -> None:
    source = "Zinc 5 mg; iron 5 mg; zinc 5 mg."
    assert verdict(source, "5 mg", shown=((11, 20),)).occurrences == ((16, 20),)
    assert verdict(source, "5 mg", shown=((0, 8), (17, 20))).match == "absent"
    assert verdict(source, "5 mg", shown=()).match == "absent"
    assert verdict(source, "Zinc 5 mg ... zinc 5 mg", shown=((0, 9),)).match == "absent"
    assert verdict(source, "Zinc 5 mg ... zinc 5 mg", shown=((0, 9), (22, 31))).match == "elided"
    text = "The cat sat on the mat today. Then dogs barked at the moon."
    quote = "The cat sat on the mat barked at the moon"
    assert verdict(text, quote, shown=((0, 22), (40, 59))).match == "stitched"
    assert verdict(text, quote, shown=((0, 22), (41, 59))).match == "absent"


def test_near_in_what_is_shown() -> None:
    source = "the tank held for 31 days; the tank held for 39 days; a tank helt for 30 days"
    quote = "the tank held for 30 days"
    assert verdict(source, quote, near=True).distance == 1
    assert verdict(source, quote, near=True, shown=((53, 77),)).distance == 4
    found = verdict(source, quote, near=True, shown=((53, 77), (27, 52), (0, 25)))
    assert found.diff is not None
    assert (found.distance, found.diff[1].source) == (1, "9")
    assert verdict(source, quote, near=True, shown=((0, 9),)).match == "absent"


def test_places() -> None:
    assert verdict("a b", "a", place="other_source").place == "other_source"
    assert not verdict("a b", "a", place="other_source").exact
    assert verdict("a b", "c", place="other_source").place == "none"


def test_a_long_quote_in_a_long_source_stays_bounded() -> None:
    source = "ab" * 100_000 + "c"
    assert verdict(source, "ab" * 5000 + "d").match == "absent"
    assert verdict(source, "ab" * 5000).occurrences_total == 95_001
    assert verdict(source, "ba" * 5000 + "bd").match == "absent"
    found = verdict(source, ("ab" * 20 + "ba" * 20) * 20)
    assert found.match == "stitched"


def test_naughty_strings(capsule_data: Path) -> None:
    strings = json.loads((capsule_data / "blns" / "blns.json").read_text("utf-8"))
    joined = SourceIndex("\n".join(strings))
    for number, quote in enumerate(strings):
        found = match_quote(joined, quote, near=number % 50 == 0, normalization=ORDER[number % 4])
        assert found.match in MATCHES
        assert set(found.codes) <= CODES.keys()
        start, end = trim(quote)
        assert found.match == ("raw_exact" if start < end else "invalid")


@pytest.mark.parametrize("lang", ["en", "zh", "ar", "hi", "th"])
def test_xquad_answers_are_exact_where_the_data_say(lang: str, capsule_data: Path) -> None:
    data = json.loads((capsule_data / "xquad" / f"xquad.{lang}.json").read_text("utf-8"))["data"]
    answers = 0
    for paragraph in (paragraph for article in data for paragraph in article["paragraphs"]):
        index = SourceIndex(paragraph["context"])
        for answer in (answer for qa in paragraph["qas"] for answer in qa["answers"]):
            start, text = answer["answer_start"], answer["text"]
            before, after = trim(text)
            found = match_quote(index, text, start=start, end=start + len(text), stitched=False)
            assert (found.match, found.start, found.end) == ("raw_exact", start + before, start + after)
            moved = match_quote(index, text, start=start + 1, end=start + 1 + len(text), stitched=False)
            assert not moved.exact or text[1:] == text[:-1]
            answers += 1
    assert answers == 1190
