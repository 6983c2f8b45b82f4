"""Edits of texts and what became of spans, by hand and as laws."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bench.diff.spans import pair_spans
from bench.diff.texts import LONG, edit_lines, edits


def test_an_edit_says_where_it_is() -> None:
    assert edits("Answer with a quote.", "Answer with one short quote.") == [(11, " a", " one short")]
    assert edits("one two", "one two three") == [(7, "", " three")]
    assert edits("same", "same") == []


def test_edits_are_sentences_and_show_what_is_invisible() -> None:
    assert list(edit_lines("a b c", "a \u202eb c d", ("A", "B"))) == [
        'from character 1: " b" in A, " ⟨U+202E⟩b" in B',
        'from character 5: only B has " d"',
    ]


def test_many_edits_are_counted() -> None:
    left = " ".join(f"x{n} same" for n in range(12))
    said = list(edit_lines(left, left.replace("x", "y"), ("A", "B")))
    assert said[-1] == "and 4 more edits"
    assert len(said) == 9


@given(st.text("ab \n", max_size=40), st.text("ab \n", max_size=40), st.booleans())
def test_the_edits_turn_one_text_into_the_other(left: str, right: str, long: bool) -> None:
    if long:
        left, right = "m" * LONG + left, "m" * LONG + right
    result, taken = "", 0
    for position, old, new in edits(left, right):
        assert left[position : position + len(old)] == old
        result += left[taken:position] + new
        taken = position + len(old)
    assert result + left[taken:] == right


def span(source: str, start: int, end: int, text: str = "") -> dict[str, Any]:
    return {
        "span_id": f"{source}:{start}-{end}",
        "source": source,
        "start": start,
        "end": end,
        "text_digest": text or f"{source}{start}{end}",
    }


def kinds(
    left: list[dict[str, Any]], right: list[dict[str, Any]]
) -> list[tuple[str, str | None, str | None]]:
    return [
        (p.kind, p.left["span_id"] if p.left else None, p.right["span_id"] if p.right else None)
        for p in pair_spans(left, right)
    ]


def test_spans_are_kept_moved_changed_gone_or_new() -> None:
    left = [span("s", 0, 5), span("s", 10, 20, "moves"), span("s", 30, 40), span("s", 50, 60)]
    right = [span("s", 0, 5), span("t", 0, 10, "moves"), span("s", 32, 41), span("s", 70, 80)]
    assert kinds(left, right) == [
        ("kept", "s:0-5", "s:0-5"),
        ("moved", "s:10-20", "t:0-10"),
        ("changed", "s:30-40", "s:32-41"),
        ("gone", "s:50-60", None),
        ("new", None, "s:70-80"),
    ]


def test_a_span_at_its_place_with_another_text_is_changed() -> None:
    assert kinds([span("s", 0, 5, "a")], [span("s", 0, 5, "b")]) == [("changed", "s:0-5", "s:0-5")]


def test_the_same_range_of_another_source_is_another_span() -> None:
    assert kinds([span("s", 0, 5, "a")], [span("t", 0, 5, "b")]) == [
        ("gone", "s:0-5", None),
        ("new", None, "t:0-5"),
    ]


SPANS = st.lists(
    st.builds(span, st.sampled_from("st"), st.integers(0, 3), st.integers(4, 6), st.sampled_from("xyz")),
    max_size=5,
    unique_by=lambda s: s["span_id"],
)


@given(SPANS, SPANS)
def test_every_span_of_both_sides_is_told_exactly_once(left: list[Any], right: list[Any]) -> None:
    pairs = pair_spans(left, right)
    assert [p.left["span_id"] for p in pairs if p.left] == [s["span_id"] for s in left]
    assert sorted(p.right["span_id"] for p in pairs if p.right) == sorted(s["span_id"] for s in right)
    assert all(p.left == p.right for p in pairs if p.kind == "kept")
