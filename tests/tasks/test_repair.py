"""Gold offsets: what fits, the two repair rules, and what is refused."""

from __future__ import annotations

import pytest

from tasks.repair import Located, document_unit, fits, from_unit, locate, nearest

# One astral character: code points and UTF-16 units differ by one after it.
CONTEXT = "A\U0001f9ea test: caf\u00e9, cafe\u0301 \U0001f1f3\U0001f1f4 done"


def test_an_offset_fits_only_in_code_points() -> None:
    assert fits(CONTEXT, ("done", 24))
    assert not fits(CONTEXT, ("done", 27))  # UTF-16 units
    assert not fits(CONTEXT, ("done", 35))  # bytes


def test_an_empty_answer_and_a_negative_offset_never_fit() -> None:
    assert not fits("abc", ("", 1))
    assert not fits("abc", ("c", -1))


def test_a_leading_byte_order_mark_counts() -> None:
    assert fits("\ufeffOslo", ("Oslo", 1))
    assert not fits("\ufeffOslo", ("Oslo", 0))


@pytest.mark.parametrize(
    ("offset", "unit", "expected"), [(27, "utf16", 24), (35, "utf8", 24), (0, "utf8", 0)]
)
def test_other_units_convert_to_code_points(offset: int, unit: str, expected: int) -> None:
    assert from_unit(CONTEXT, offset, unit) == expected


@pytest.mark.parametrize(
    ("offset", "unit"),
    [(2, "utf16"), (2, "utf8"), (1000, "utf16"), (-1, "utf16")],
    ids=["half of a pair", "inside a character", "past the end", "negative"],
)
def test_an_offset_that_cuts_a_character_is_none(offset: int, unit: str) -> None:
    assert from_unit(CONTEXT, offset, unit) == -1


def test_a_document_has_the_unit_that_fits_all_its_answers() -> None:
    assert document_unit(CONTEXT, [("A", 0), ("done", 24)]) == "code_points"
    assert document_unit(CONTEXT, [("A", 0), ("done", 27)]) == "utf16"
    assert document_unit(CONTEXT, [("A", 0), ("done", 35)]) == "utf8"
    assert document_unit(CONTEXT, [("done", 24), ("done", 27)]) is None


def test_nearest_takes_the_closest_occurrence_and_the_earlier_on_a_tie() -> None:
    text = "zinc 5 mg; iron 5 mg; zinc 5 mg."
    assert nearest(text, ("5 mg", 18), 10) == 16
    assert nearest(text, ("5 mg", 22), 10) == 27
    assert nearest("ab__ab", ("ab", 2), 10) == 0  # 0 and 4 are both two away


def test_nearest_sees_overlapping_occurrences() -> None:
    assert nearest("aaaa", ("aa", 1), 0) == 1


def test_nearest_finds_nothing_outside_the_window() -> None:
    assert nearest("x" * 50 + "gold", ("gold", 45), 5) == 50
    assert nearest("x" * 50 + "gold", ("gold", 44), 5) is None
    assert nearest("gold", ("", 0), 5) is None


def test_without_a_window_nothing_is_repaired() -> None:
    assert locate("a gold b", [("gold", 3)], "utf16", 0) == (None,)


def test_repairs_name_their_rule() -> None:
    assert locate("a gold b", [("gold", 2), ("gold", 3)], None, 8) == (
        Located(start=2, end=6, repair=None),
        Located(start=2, end=6, repair="nearest-1"),
    )
    assert locate(CONTEXT, [("done", 27)], "utf16", 8) == (Located(start=24, end=28, repair="utf16"),)


def test_text_that_is_not_there_is_refused_even_with_a_window() -> None:
    assert locate("a Gold b", [("gold", 2)], None, 8) == (None,)
