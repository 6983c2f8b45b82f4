"""Where spans stand after their source changed: fates, places, overlaps, and the text between items."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsules.errors import RenderError, SchemaError
from capsules.reanchor import Anchored, item_tokens, reanchor, unclaimed
from capsules.source import SourceText, source_text
from capsules.span import check_span, make_span

F32 = "abcdefghijklmnopqrstuvwxyz012345"  # a context of exactly 32 code points
R32 = F32[::-1]


class Letters:
    """One id a code point."""

    tokenizer_id = "hf:letters"
    tokenizer_digest = "unused"
    bos_id: int | None = None
    control_ids: frozenset[int] = frozenset()

    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(map(chr, ids))


def anchor(old: str, ranges: Sequence[tuple[int, int]], new: str | None) -> list[tuple[str, str | None, int]]:
    """(fate, new range, places) of each range; every new span is checked against the new text."""
    source = source_text(old.encode())
    spans = [make_span(source.source, old, start, end, norm_id="quote/1") for start, end in ranges]
    target = None if new is None else source_text(new.encode())
    found = reanchor(spans, old, target)
    check(found, target)
    fates = [found.fates[span.span_id] for span in spans]
    assert [fate.span_id for fate in fates] == [span.span_id for span in spans]
    return [(fate.fate, fate.new_id and fate.new_id.rpartition(":")[2], fate.places) for fate in fates]


def check(found: Anchored, target: SourceText | None) -> None:
    assert found.spans.keys() == {name for name, fate in found.fates.items() if fate.new_id is not None}
    for name, span in found.spans.items():
        assert target is not None
        assert (span.source, span.span_id) == (target.source, found.fates[name].new_id)
        assert span.norm_id == "quote/1"
        assert check_span(span, target.text) == []


def test_a_span_at_the_same_place_is_kept() -> None:
    old = f"{F32}exact{R32} tail"
    assert anchor(old, [(32, 37)], f"{F32}exact{R32} other tail") == [("kept", "32-37", 1)]


def test_kept_needs_no_unique_place_for_nothing_moved() -> None:
    old = f"{F32}exact{R32}"
    assert anchor(old, [(32, 37)], f"{F32}exact{R32}{F32}exact{R32}") == [("kept", "32-37", 2)]


def test_a_span_moves_where_text_and_context_agree_in_one_place() -> None:
    old = f"{F32}exact{R32}"
    assert anchor(old, [(32, 37)], f"New. {F32}exact{R32}") == [("moved", "37-42", 1)]
    assert anchor(f"xx{old}", [(34, 39)], old) == [("moved", "32-37", 1)]
    assert anchor(f"xx{old}", [(34, 39)], f"y{old}") == [("moved", "33-38", 1)]


def test_two_places_are_one_too_many() -> None:
    old = f"{F32}exact{R32}"
    assert anchor(old, [(32, 37)], f"-{old}-{old}") == [("changed", None, 2)]
    assert anchor(old, [(32, 37)], f"-{old}-{old}-{old}") == [("changed", None, 2)]


@pytest.mark.parametrize("at", [0, 31, 32, 36, 37, 68])
def test_one_other_character_in_text_or_context_is_a_change(at: int) -> None:
    old = f"{F32}exact{R32}"
    new = f"{old[:at]}#{old[at + 1 :]}"
    assert anchor(old, [(32, 37)], new) == [("changed", None, 0)]
    assert anchor(old, [(32, 37)], f"moved: {new}") == [("changed", None, 0)]


def test_what_stands_33_code_points_away_is_no_context() -> None:
    old = f"x{F32}exact{R32}y"
    assert anchor(old, [(33, 38)], f"#{F32}exact{R32}#") == [("kept", "33-38", 1)]


def test_context_that_an_end_of_the_text_cut_short_is_compared_as_far_as_it_went() -> None:
    assert anchor("exact", [(0, 5)], "exact, and more") == [("kept", "0-5", 1)]
    assert anchor("exact", [(0, 5)], "more than exact") == [("moved", "10-15", 1)]
    assert anchor("ab exact", [(3, 8)], "exact") == [
        ("changed", None, 0)
    ]  # its text is there, not its context
    assert anchor("ab exact", [(3, 8)], "exac") == [("vanished", None, 0)]
    assert anchor("ab exact", [(3, 8)], "xb exact") == [("changed", None, 0)]


def test_a_source_that_is_gone_or_too_short_takes_its_spans_along() -> None:
    old = f"{F32}exact{R32}"
    assert anchor(old, [(0, 3), (32, 37)], None) == [("vanished", None, 0), ("vanished", None, 0)]
    assert anchor(old, [(32, 37)], F32 + "exac") == [("vanished", None, 0)]
    assert anchor(old, [(32, 37)], F32 + "other") == [("changed", None, 0)]
    assert anchor(old, [(32, 37)], "") == [("vanished", None, 0)]


def test_offsets_are_code_points() -> None:
    assert anchor("🧪 exact.", [(2, 8)], "🧪🧪é 🧪 exact.") == [("moved", "6-12", 1)]


def test_of_two_spans_that_would_overlap_one_is_changed() -> None:
    """ "ab" at the head, "bc" at the tail; in the new text both stand in "abc"."""
    filler = f"c{F32}-{R32}a"
    old = f"ab{filler}bc"
    spans = [(0, 2), (len(old) - 2, len(old))]
    new = f"{filler[-32:]}b{filler[:32]}"
    assert new[31:34] == "abc"
    assert anchor(old, spans, new) == [("moved", "31-33", 1), ("changed", None, 1)]


def test_of_two_spans_that_would_overlap_the_kept_one_stays() -> None:
    """The second span stands where it stood; the first one would come into it."""
    filler = f"c{F32}-{R32}a"
    old = f"ab{filler}bc"
    tail = len(old) - 2
    new = f"{'#' * (tail - 32)}{filler[-32:]}b{filler[:32]}"
    assert new[tail - 1 : tail + 2] == "abc"
    assert anchor(old, [(0, 2), (tail, tail + 2)], new) == [
        ("changed", None, 1),
        ("kept", f"{tail}-{tail + 2}", 1),
    ]


def test_a_span_that_was_wrong_before_is_refused() -> None:
    source = source_text(b"some text")
    span = make_span(source.source, "some text", 0, 4)
    with pytest.raises(SchemaError) as refused:
        reanchor([span], "none text", None)
    assert (refused.value.code, refused.value.at) == ("span.exact.mismatch", "/exact")
    assert "some" not in str(refused.value)


TEXT = st.text(alphabet="ab .", max_size=60)


@given(old=TEXT, new=TEXT, data=st.data())
@settings(max_examples=300, deadline=None)
def test_laws_of_anchoring(old: str, new: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(old)), max_size=8)))
    ranges = [(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=False) if a < b]
    found = anchor(old, ranges, new)  # every new span is true of the new text
    placed = sorted(tuple(map(int, where.split("-"))) for _, where, _ in found if where)
    assert all(a[1] <= b[0] for a, b in pairwise(placed))
    for (start, end), (fate, where, places) in zip(ranges, found, strict=True):
        assert (where is None) == (fate in ("changed", "vanished"))
        if where is not None:
            at, stop = map(int, where.split("-"))
            assert new[at:stop] == old[start:end]
            assert new[max(0, at - min(start, 32)) : at] == old[max(0, start - 32) : start]
            after = old[end : end + 32]
            assert new[stop : stop + len(after)] == after
            assert (fate == "kept") == (at == start)
            assert fate == "kept" or places == 1
    unmoved = anchor(old, ranges, old)
    assert [(fate, where) for fate, where, _ in unmoved] == [("kept", f"{a}-{b}") for a, b in ranges]


def test_the_text_between_items_in_sentences() -> None:
    text = "One is here. Two is here too.  Three.\n\nFour follows. "
    assert unclaimed(text, [(31, 37), (0, 12)]) == [(13, 29), (39, 52)]
    assert unclaimed(text, []) == [(0, 12), (13, 29), (31, 37), (39, 52)]
    assert unclaimed(" \n", []) == []
    assert unclaimed("", []) == []


def test_item_tokens_count_the_white_space_before() -> None:
    text = " One.  Two. x Three."
    items = [(7, 11), (1, 5)]
    assert item_tokens(text, items, Letters()) == {(1, 5): 4, (7, 11): 6}
    assert item_tokens(text, items, Letters(), only=[(7, 11)]) == {(7, 11): 6}


def test_items_that_cannot_be_sent_one_after_the_other() -> None:
    text = "One. Two. x Three."
    items = [(0, 4), (5, 9), (12, 18)]
    assert item_tokens(text, items, Letters(), only=[(0, 4)]) == {(0, 4): 4}
    with pytest.raises(RenderError, match="text") as refused:
        item_tokens(text, items, Letters())
    assert refused.value.code == "render.gap"
    with pytest.raises(RenderError) as refused:
        item_tokens(text, [(0, 6), (5, 9)], Letters())
    assert refused.value.code == "span.range"
