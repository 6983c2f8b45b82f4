from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsules.words import tokens, units

ANY = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)


@given(ANY)
def test_both_cuts_cover_the_text(text: str) -> None:
    assert "".join(tokens(text)) == text
    assert "".join(units(text)) == text


@pytest.mark.parametrize(
    ("text", "cut", "whole"),
    [
        ("Do not, at 2.5 mg.", ["Do", " ", "not", ",", " ", "at", " ", "2", ".", "5", " ", "mg", "."],
         ["Do", " not,", " at", " 2.5", " mg."]),
        ("試験は ok。", ["試", "験", "は", " ", "ok", "。"], ["試", "験", "は", " ok。"]),
        ("กำ น้ำ", ["ก", "ำ", " ", "น้", "ำ"], ["ก", "ำ", " น้", "ำ"]),
        ("end \n", ["end", " \n"], ["end", " \n"]),
    ],
)  # fmt: skip
def test_words_by_script(text: str, cut: list[str], whole: list[str]) -> None:
    assert tokens(text) == cut
    assert units(text) == whole
