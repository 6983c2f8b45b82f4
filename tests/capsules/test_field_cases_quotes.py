"""Faults that this field keeps making with quotes, each by value."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest

from capsules.quote_match import match_quote
from capsules.quote_verdict import QuotePiece, QuoteVerdict
from capsules.source_index import SourceIndex
from capsules.span import check_span, make_span

LIGATURES = "The o\ufb03ce \ufb01led the re\ufb02ected costs."
CURLY = "He said \u201cdon\u2019t wait\u201d \u2014 twice."
HIDDEN = "soft\u00adware up\u200bdate\u00a0v2"
PUMP = "The pump must not run dry for more than 30 s. Below 5 bar the alarm is silent."
VALVE = "The valve shut. The tank held. The crew left."
ASTRAL = "A\U0001f9ea test: caf\u00e9, cafe\u0301 \U0001f1f3\U0001f1f4 done"
ZINC = "Zinc 5 mg; iron 5 mg; zinc 5 mg."


def verdict(source: str, quote: str, **options: Any) -> QuoteVerdict:
    return match_quote(SourceIndex(source), quote, **options)


def test_a01_a_ligature_quote_is_normalized_exact_and_keeps_its_raw_range() -> None:
    quote = "office filed the reflected"
    found = verdict(LIGATURES, quote, normalization="compat/1")
    assert (found.match, found.normalization, found.start, found.end) == ("norm_exact", "compat/1", 4, 26)
    assert found.text == "o\ufb03ce \ufb01led the re\ufb02ected"
    assert (len(found.text), len(quote)) == (22, 26)
    assert found.exact
    assert verdict(LIGATURES, quote, normalization="quote/1").match == "absent"


def test_a01_a_quote_that_begins_inside_a_ligature_is_never_exact() -> None:
    found = verdict(LIGATURES, "ice filed", normalization="compat/1")
    assert (found.match, found.start, found.end, found.occurrences) == ("absent", None, None, ())
    assert found.codes == ("quote.inside_character",)
    assert found.widened == (5, 13)
    assert not found.exact


@pytest.mark.parametrize(
    ("source", "quote", "span"),
    [(CURLY, '"don\'t wait"', (8, 20)), (HIDDEN, "software update v2", (0, 20))],
)
def test_a02_typography_is_folded_by_quote_1_and_not_by_nfkc(
    source: str, quote: str, span: tuple[int, int]
) -> None:
    assert quote not in unicodedata.normalize("NFKC", source)
    assert verdict(source, quote, normalization="text/1").match == "absent"
    found = verdict(source, quote)
    assert (found.match, found.normalization) == ("norm_exact", "quote/1")
    assert (found.start, found.end) == span


def test_a02_a_changed_word_is_absent_under_every_normalization() -> None:
    for norm_id in ("raw/1", "text/1", "quote/1", "compat/1"):
        assert verdict(CURLY, '"do wait"', normalization=norm_id).match == "absent"


@pytest.mark.parametrize("mark", ["...", "\u2026"])
def test_a03_an_ellipsis_that_swallows_not_is_elided_and_shows_what_it_swallowed(mark: str) -> None:
    for norm_id in ("quote/1", "compat/1"):
        found = verdict(PUMP, f"The pump must {mark} run dry for more", normalization=norm_id)
        assert found.match == "elided"
        assert found.pieces == (
            QuotePiece(start=0, end=13, gap=" not "),
            QuotePiece(start=18, end=34, gap=None),
        )
        assert (found.start, found.end, found.text) == (0, 34, PUMP[:34])
        assert not found.exact


def test_a03_pieces_out_of_order_are_absent() -> None:
    assert verdict(PUMP, "the alarm ... The pump must").match == "absent"


@pytest.mark.parametrize("quote", ["", "  \n", "\u200b"])
def test_a04_an_empty_quote_is_invalid(quote: str) -> None:
    found = verdict(VALVE, quote)
    assert (found.match, found.place, found.codes) == ("invalid", "none", ("quote.empty",))


def test_a04_a_tiny_quote_is_ambiguous_or_too_short_and_never_at_the_first_hit() -> None:
    found = verdict(VALVE, "The")
    assert (found.match, found.start, found.end, found.text) == ("raw_exact", None, None, None)
    assert found.occurrences == ((0, 3), (16, 19), (31, 34))
    assert found.codes == ("quote.ambiguous",)
    short = verdict(VALVE, "The", min_chars=4)
    assert (short.match, short.codes) == ("invalid", ("quote.too_short",))


def test_a05_offsets_are_code_points() -> None:
    found = verdict(ASTRAL, "done")
    assert (found.match, found.start, found.end) == ("raw_exact", 24, 28)
    assert len(ASTRAL[:24].encode("utf-16-le")) // 2 == 27
    assert len(ASTRAL[:24].encode()) == 35
    assert unicodedata.normalize("NFC", ASTRAL).index("done") == 23
    wrong = verdict(ASTRAL, "done", start=27, end=31)
    assert (wrong.match, wrong.codes) == ("absent", ("span.exact.mismatch",))
    assert ASTRAL[27:31] == "e"


def test_a06_repeated_quotes_are_ambiguous_without_a_position() -> None:
    found = verdict(ZINC, "5 mg")
    assert (found.match, found.start, found.occurrences_total) == ("raw_exact", None, 3)
    assert [start for start, _ in found.occurrences] == [5, 16, 27]
    assert found.codes == ("quote.ambiguous",)
    assert found.exact  # it is in the source, only not in one place


def test_a06_a_claimed_position_is_taken_or_refused_and_never_moved() -> None:
    held = verdict(ZINC, "5 mg", start=16, end=20)
    assert (held.match, held.start, held.end, held.codes) == ("raw_exact", 16, 20, ())
    assert held.occurrences.index((16, 20)) == 1
    wrong = verdict(ZINC, "5 mg", start=15, end=19)
    assert (wrong.match, wrong.start, wrong.codes) == ("absent", None, ("span.exact.mismatch",))


def test_a06_overlapping_occurrences_count() -> None:
    found = verdict("aaaa", "aa")
    assert found.occurrences == ((0, 2), (1, 3), (2, 4))
    assert (found.occurrences_total, "aaaa".count("aa")) == (3, 2)


def test_c13_a_quote_that_cuts_a_number_is_flagged() -> None:
    found = verdict("Take 150 mg daily.", "50 mg")
    assert (found.match, found.start, found.codes) == ("raw_exact", 6, ("quote.partial_token",))
    assert verdict("Take 150 mg daily.", "150 mg").codes == ()


def test_c14_brackets_of_the_source_are_part_of_the_quote() -> None:
    source = "clotting time [CT] rose 4%"
    assert verdict(source, source).match == "raw_exact"
    assert verdict(source, "clotting time rose 4%").match == "absent"


@pytest.mark.parametrize(
    ("source", "quote"),
    [
        ("All risk assess-\nments were done.", "risk assessments were"),
        ("All risk assessments were done.", "risk assess-\nments were"),
        ("All risk assess\u00ad\nments were done.", "risk assessments were"),
    ],
)
def test_c15_a_word_broken_at_a_line_end_is_a_class_of_its_own(source: str, quote: str) -> None:
    found = verdict(source, quote)
    assert (found.match, found.codes, found.exact) == ("absent", ("quote.dehyphenated",), False)
    assert verdict(source, "risk avoidance was").codes == ()


def test_c18_raw_and_normalized_matches_are_two_classes() -> None:
    assert verdict(CURLY, "twice").match == "raw_exact"
    assert verdict(CURLY, "don't").match == "norm_exact"


def test_a_span_record_of_the_third_zinc_agrees_with_the_verdict() -> None:
    span = make_span("b3:" + "0" * 64, ZINC, 27, 31)
    found = verdict(ZINC, span.exact, start=span.start, end=span.end, prefix=span.prefix, suffix=span.suffix)
    assert (found.start, found.occurrences.index((27, 31)) + 1) == (27, span.occurrence)
    assert list(check_span(span, ZINC)) == []
