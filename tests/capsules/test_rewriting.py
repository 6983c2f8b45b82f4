"""Texts of lossy compressors laid over their items."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsules.omission import Rewrite
from capsules.rewriting import align, dropped_ranges, holds_kept, kept_ranges, offset_map

SOURCE = "b3:" + "0" * 64
WORDS = st.lists(
    st.sampled_from(["the", "cat", "on", "a", "mat,", "308", "not", "30", "30.", "Über", "試験"]), max_size=12
)


def item(text: str, start: int = 0) -> str:
    return f"{SOURCE}:{start}-{start + len(text)}"


def rewrite(text: str, *originals: tuple[str, int]) -> tuple[Rewrite, dict[str, str]]:
    exact = {item(original, start): original for original, start in originals}
    placed = align(text, list(exact.items()))
    made = Rewrite(
        items=tuple(exact),
        text=text,
        compressor="c",
        dropped=dropped_ranges(exact, placed),
        tokens_before=9,
        tokens_sent=1,
    )
    return made, exact


def dropped(text: str, original: str, start: int = 0) -> list[str]:
    made, _ = rewrite(text, (original, start))
    return [original[gone.start - start : gone.end - start] for gone in made.dropped]


@pytest.mark.parametrize(
    ("original", "text", "gone"),
    [
        ("the cat and the dog", "the dog", ["cat and the "]),
        ("gave up just 308 points", "up just 30 points", ["gave ", "8"]),
        ("試験は失敗した。", "試\ufffdは失敗した。", ["験"]),
        ("plain", "plain", []),
        ("plain", "", ["plain"]),
        ("plain", "other", ["plain"]),
        ("one two", "two one", [" two"]),  # order counts
        ("unhappy end", "happy end", ["un"]),
    ],
)
def test_what_is_dropped(original: str, text: str, gone: list[str]) -> None:
    assert dropped(text, original) == gone
    assert dropped(text, original, 100) == gone


def test_an_offset_map_leads_to_the_raw_source() -> None:
    made, exact = rewrite("up just 30 points. ok", ("gave up just 308 points.", 10), ("It is ok", 40))
    pieces = offset_map(made, exact)
    assert [(made.text[p.start : p.end], p.item, p.source_start) for p in pieces] == [
        ("up just 30", item("gave up just 308 points.", 10), 15),
        (" points.", item("gave up just 308 points.", 10), 26),
        (" ", item("It is ok", 40), 42),
        ("ok", item("It is ok", 40), 46),
    ]
    assert kept_ranges(made, item("gave up just 308 points.", 10)) == ((15, 25), (26, 34))
    assert kept_ranges(made, item("It is ok", 40)) == ((42, 43), (46, 48))


@given(WORDS, st.data())
def test_a_text_of_kept_words_maps_wholly(words: list[str], data: st.DataObject) -> None:
    original = " ".join(words)
    kept = [word for word in words if data.draw(st.booleans())]
    text = " ".join(kept)
    if not original:
        return
    made, exact = rewrite(text, (original, 7))
    pieces = offset_map(made, exact)
    assert "".join(text[p.start : p.end] for p in pieces) == text
    for piece in pieces:
        raw = original[piece.source_start - 7 :][: piece.end - piece.start]
        assert text[piece.start : piece.end] == raw
    gone = sum(each.end - each.start for each in made.dropped)
    assert gone + len(text) == len(original)
    assert holds_kept(made, exact)


@given(st.text("ab1 .試\ufffd", max_size=20), st.text("ab1 .試\ufffd", min_size=1, max_size=20))
def test_whatever_a_compressor_writes_the_record_is_true(text: str, original: str) -> None:
    made, exact = rewrite(text, (original, 0))
    assert holds_kept(made, exact)
    assert list(made.dropped) == sorted(made.dropped, key=lambda gone: gone.start)


def test_a_record_that_claims_more_than_the_text_holds_is_seen() -> None:
    made, exact = rewrite("up just 30 points", ("gave up just 308 points", 0))
    assert holds_kept(made, exact)
    assert not holds_kept(replace(made, dropped=made.dropped[1:]), exact)
    assert not holds_kept(replace(made, text="up just points 30"), exact)
