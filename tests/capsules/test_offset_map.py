"""The way back from normalized to raw text, by value and by law."""

from __future__ import annotations

import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from odd_texts import long_texts, texts

from capsules.alignment import Units, _merged, units
from capsules.norm_registry import rules_of
from capsules.normalization import ORDER, Normalized, normalize, normalized_text


@pytest.mark.parametrize("norm_id", ORDER)
@settings(deadline=None)
@given(text=texts)
@example(text="\u0958\u093f")
@example(text="\r\n\u0301")
@example(text="a \ufe70")
def test_a_normalized_slice_maps_to_a_raw_slice_that_normalizes_to_it(norm_id: str, text: str) -> None:
    norm = normalize(text, norm_id)
    for start in range(len(norm.text)):
        for end in range(start + 1, len(norm.text) + 1):
            raw = norm.to_raw(start, end)
            assert 0 <= raw.start < raw.end <= len(text)
            if raw.clean:
                assert normalize(text[raw.start : raw.end], norm_id).text == norm.text[start:end]
                assert (norm.to_normalized(raw.start), norm.to_normalized(raw.end)) == (start, end)


@pytest.mark.parametrize("norm_id", ORDER)
@settings(deadline=None)
@given(text=texts)
def test_a_raw_cut_is_clean_exactly_where_both_sides_normalize_apart(norm_id: str, text: str) -> None:
    norm = normalize(text, norm_id)
    for position in range(len(text) + 1):
        left, right = (normalize(part, norm_id).text for part in (text[:position], text[position:]))
        assert norm.to_normalized(position) == (len(left) if left + right == norm.text else None)


@pytest.mark.parametrize("norm_id", ORDER[1:])
@settings(deadline=None)
@given(text=texts)
def test_looking_only_at_uneven_stretches_loses_nothing(norm_id: str, text: str) -> None:
    assert columns(units(text, rules_of(norm_id))) == columns(all_closely(text, norm_id))


@pytest.mark.parametrize("norm_id", ORDER[1:])
def test_every_character_that_changes(norm_id: str) -> None:
    chars = [chr(c) for c in range(sys.maxunicode + 1) if normalized_text(chr(c), norm_id) != chr(c)]
    assert len(chars) > 1000
    for char in chars:
        found = units(char, rules_of(norm_id))
        assert columns(found) == columns(all_closely(char, norm_id)), ascii(char)
        assert found.norm_size == len(normalized_text(char, norm_id))


def all_closely(text: str, norm_id: str) -> Units:
    found = Units()
    for atom in _merged(text, rules_of(norm_id)):
        found.add(atom.start, atom.end, len(atom.text))
    return found


def columns(found: Units) -> list[list[int]]:
    return [list(getattr(found, name)) for name in Units.__slots__]


@pytest.mark.parametrize("norm_id", ORDER)
@settings(deadline=None)
@given(text=long_texts, data=st.data())
def test_the_map_of_a_long_text_is_that_of_its_beginning_and_end(
    norm_id: str, text: str, data: st.DataObject
) -> None:
    norm = normalize(text, norm_id)
    if not norm.text:
        return
    start = data.draw(st.integers(0, len(norm.text) - 1))
    end = data.draw(st.integers(start + 1, len(norm.text)))
    raw = norm.to_raw(start, end)
    assert norm.text[start:end] in normalize(text[raw.start : raw.end], norm_id).text
    if raw.clean:
        assert normalize(text[raw.start : raw.end], norm_id).text == norm.text[start:end]
        assert (norm.to_normalized(raw.start), norm.to_normalized(raw.end)) == (start, end)


def test_an_unchanged_text_is_not_copied() -> None:
    text = "caf\u00e9 \u8a66\u9a13"
    assert all(normalize(text, norm_id).text is text for norm_id in ORDER)
    assert normalize(text, "quote/1").to_raw(1, 4) == (1, 4, True)
    assert normalize("", "quote/1").text == ""


@pytest.mark.parametrize(("norm_id", "changed"), [("text/1", "a\nb\n"), ("quote/1", "a b ")])
def test_a_text_of_equal_length_maps_place_to_place(norm_id: str, changed: str) -> None:
    norm = normalize("a\rb\n" * 1000, norm_id)
    assert norm.text == changed * 1000
    assert norm.to_raw(1500, 3900) == (1500, 3900, True)
    assert [norm.to_normalized(position) for position in (0, 1999, 4000)] == [0, 1999, 4000]


@pytest.mark.parametrize(
    ("text", "norm_id", "start", "end", "raw"),
    [
        ("soft\u00adware", "quote/1", 0, 4, (0, 4, True)),  # a dropped character belongs to neither side
        ("soft\u00adware", "quote/1", 4, 8, (5, 9, True)),
        ("a \n b", "quote/1", 1, 2, (1, 4, True)),  # white space is one unit
        ("e\u0301x", "text/1", 0, 1, (0, 2, True)),
        ("\u0958\u093f", "text/1", 0, 2, (0, 1, True)),  # the vowel sign is a unit of its own
        ("\u0958\u093f", "text/1", 0, 1, (0, 1, False)),
        ("\ufb03", "compat/1", 1, 2, (0, 1, False)),
        ("x" * 2000 + "\ufb03y", "compat/1", 2001, 2004, (2000, 2002, False)),
    ],
)
def test_ranges_by_value(text: str, norm_id: str, start: int, end: int, raw: tuple[int, int, bool]) -> None:
    assert normalize(text, norm_id).to_raw(start, end) == raw


@pytest.mark.parametrize(("start", "end"), [(-1, 1), (0, 0), (1, 1), (2, 1), (0, 4)])
def test_ranges_outside_the_text_are_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="expected 0 <= start < end <= 3"):
        normalize("a  b", "quote/1").to_raw(start, end)


def test_a_long_changed_run_of_marks_is_one_unit() -> None:
    text = "a" + "\u0301\u0323" * 40
    norm = normalize(text, "text/1")
    assert norm.to_raw(0, 2) == (0, 81, False)
    assert norm.to_raw(0, len(norm.text)) == (0, 81, True)


def test_a_piece_without_a_safe_cut_is_one_unit_when_it_changes() -> None:
    text = " " * 70_000 + "\u0301\u0323"
    norm = normalize(text, "quote/1")
    assert norm.text == " \u0323\u0301"
    assert norm.to_raw(0, 1) == (0, len(text), False)
    assert norm.to_raw(0, 3) == (0, len(text), True)


def test_the_units_looked_at_are_not_kept_without_end() -> None:
    text = ("word " * 250 + "e\u0301 ") * 600
    norm = Normalized(text, "text/1")
    for start in range(0, len(norm.text), 1000):
        assert norm.to_raw(start, start + 1).clean
    assert len(norm._units) <= 256
