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
from capsules.quote_verdict import EXACT_MATCHES, MATCHES, Edit, QuotePiece, QuoteVerdict
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


class TestClaims:
    SOURCE = "Zinc\u00a05 mg; \u200biron 5 mg; zinc 5\r\nmg."

    @pytest.mark.parametrize(
        ("options", "span"),
        [
            ({"start": 5, "end": 9}, (5, 9)),
            ({"start": 17, "end": 21}, (17, 21)),
            ({"start": 17}, (17, 21)),
            ({"end": 21}, (17, 21)),
        ],
    )
    def test_a_claim_that_holds(self, options: dict[str, int], span: tuple[int, int]) -> None:
        found = verdict(self.SOURCE, "5 mg", **options)
        assert (found.match, found.start, found.end) == ("raw_exact", *span)
        assert found.occurrences_total == 2
        assert "quote.ambiguous" not in found.codes

    @pytest.mark.parametrize(
        "options",
        [
            {"start": 6},
            {"end": 8},
            {"start": 5, "end": 22},
            {"start": -29, "end": -25},
            {"start": 500},
            {"end": 0},
        ],
    )
    def test_a_claim_that_is_wrong(self, options: dict[str, int]) -> None:
        found = verdict(self.SOURCE, "5 mg", **options)
        assert (found.match, found.place, found.codes) == ("absent", "none", ("span.exact.mismatch",))
        assert (found.start, found.occurrences, found.occurrences_total) == (None, (), 0)

    def test_a_claim_selects_the_normalization_under_which_it_holds(self) -> None:
        start = self.SOURCE.index("5\r\nmg")
        found = verdict(self.SOURCE, "5 mg", start=start, end=start + 5)
        assert (found.match, found.normalization, found.text) == ("norm_exact", "quote/1", "5\r\nmg")
        assert found.occurrences_total == 3
        assert (
            verdict(self.SOURCE, "5 mg", start=start, end=start + 5, normalization="text/1").match == "absent"
        )

    def test_a_claim_may_hold_dropped_characters_at_its_ends(self) -> None:
        start = self.SOURCE.index("\u200biron")
        found = verdict(self.SOURCE, "iron\u00a05 mg", start=start, end=start + 10)
        assert (found.match, found.start, found.end) == ("norm_exact", start, start + 10)

    def test_a_claim_of_an_untrimmed_quote_counts_from_the_quote_as_given(self) -> None:
        found = verdict("a  b c", "  b ", start=1, end=5)
        assert (found.match, found.start, found.end) == ("raw_exact", 3, 4)

    def test_a_claim_for_a_quote_that_is_nowhere(self) -> None:
        found = verdict(self.SOURCE, "6 mg", start=5, end=9)
        assert (found.match, found.codes) == ("absent", ("span.exact.mismatch",))

    def test_a_claim_inside_a_character(self) -> None:
        found = verdict("o\ufb03ce", "ice", start=1, end=4, normalization="compat/1")
        assert found.codes == ("quote.inside_character", "span.exact.mismatch")
        assert found.widened == (1, 4)


class TestContext:
    SOURCE = "Zinc 5 mg; iron 5 mg; zinc 5 mg."

    @pytest.mark.parametrize(
        ("quote", "prefix", "suffix", "span"),
        [
            ("5 mg", "iron ", None, (16, 20)),
            ("5 mg", None, ".", (27, 31)),
            (" 5 mg", "iron", None, (16, 20)),
            ("5 mg;", None, " iron", (5, 10)),
            ("5 mg", "; zinc ", ".", (27, 31)),
            ("5\u00a0mg", "iron\u00a0", "; ", (16, 20)),
        ],
    )
    def test_context_selects(
        self, quote: str, prefix: str | None, suffix: str | None, span: tuple[int, int]
    ) -> None:
        found = verdict(self.SOURCE, quote, prefix=prefix, suffix=suffix)
        assert found.match in EXACT_MATCHES
        assert (found.start, found.end) == span
        assert "quote.ambiguous" not in found.codes

    def test_context_that_fits_twice_is_ambiguous(self) -> None:
        found = verdict(self.SOURCE, "5 mg", suffix=";")
        assert (found.start, found.codes) == (None, ("quote.ambiguous",))
        assert found.occurrences_total == 3

    @pytest.mark.parametrize(
        ("prefix", "suffix"), [("lead ", None), ("iron ", "."), (None, "x"), ("x" * 99, None), ("iron", None)]
    )
    def test_context_that_is_wrong(self, prefix: str | None, suffix: str | None) -> None:
        found = verdict(self.SOURCE, "5 mg", prefix=prefix, suffix=suffix)
        assert (found.match, found.codes) == ("absent", ("span.context.mismatch",))

    def test_a_right_claim_with_wrong_context_and_the_other_way_round(self) -> None:
        found = verdict(self.SOURCE, "5 mg", start=16, end=20, prefix="zinc ")
        assert (found.match, found.codes) == ("absent", ("span.context.mismatch",))
        found = verdict(self.SOURCE, "5 mg", start=15, end=19, prefix="iron ")
        assert (found.match, found.codes) == ("absent", ("span.exact.mismatch",))

    def test_context_under_the_normalization_of_the_match(self) -> None:
        found = verdict("\u2018a\u2019 b; \u201ca\u201d b", "a", prefix='"', suffix='" b')
        assert (found.match, found.normalization, found.start) == ("norm_exact", "quote/1", 8)

    def test_a_prefix_that_the_quote_joins(self) -> None:
        source, quote = "x\u0301\r\nb", "\u0301\nb"  # x and the accent do not compose
        assert verdict(source, quote, prefix="x").match == "norm_exact"
        assert verdict(source, quote, prefix="e").codes == ("span.context.mismatch",)

    def test_context_that_joins_the_quote_is_not_there(self) -> None:
        assert verdict("xe\u0301", "e", suffix="\u0301").match == "raw_exact"
        found = verdict("x\u00e9 e", "e", suffix="\u0301")
        assert found.codes == ("span.context.mismatch",)


class TestInsideCharacter:
    @pytest.mark.parametrize(
        ("source", "quote", "norm_id", "widened"),
        [
            ("o\ufb03ce", "offi", "compat/1", None),
            ("o\ufb03ce", "of", "compat/1", (0, 2)),
            ("x\u0958y", "x\u0915\ufeff\u0915", "text/1", "other"),
            ("x\u0958y", "x\u0915", "text/1", (0, 2)),
        ],
    )
    def test_ends_inside(
        self, source: str, quote: str, norm_id: str, widened: tuple[int, int] | str | None
    ) -> None:
        found = verdict(source, quote, normalization=norm_id)
        if widened is None:
            assert found.match == "norm_exact"
        elif widened == "other":
            assert (found.match, found.codes) == ("absent", ())
        else:
            assert (found.match, found.widened) == ("absent", widened)
            assert found.codes == ("quote.inside_character",)

    def test_a_clean_occurrence_elsewhere_counts_alone(self) -> None:
        found = verdict("o\ufb03ce of", "of", normalization="compat/1")
        assert (found.match, found.start, found.occurrences_total) == ("raw_exact", 5, 1)
        found = verdict("o\ufb03ce \uff4ff", "of", normalization="compat/1")
        assert (found.match, found.start, found.occurrences_total) == ("norm_exact", 5, 1)


class TestElided:
    SOURCE = "One two three four five six seven eight nine ten. One two three again."

    @pytest.mark.parametrize("mark", ["...", "\u2026", "[...]", "[\u2026]", "[ ... ]", "....", " ... "])
    def test_marks(self, mark: str) -> None:
        found = verdict(self.SOURCE, f"One two three{mark}eight nine ten")
        assert found.match == "elided"
        assert (found.start, found.end, found.occurrences) == (0, 48, ((0, 48),))
        assert found.pieces is not None
        assert [piece.gap for piece in found.pieces] == [" four five six seven ", None]
        assert found.normalization == "raw/1"

    def test_pieces_are_leftmost_and_do_not_overlap(self) -> None:
        found = verdict(self.SOURCE, "One two three ... One two three")
        assert found.pieces == (
            QuotePiece(start=0, end=13, gap=" four five six seven eight nine ten. "),
            QuotePiece(start=50, end=63, gap=None),
        )
        assert verdict(self.SOURCE, "four five six ... five six seven").match == "absent"

    @pytest.mark.parametrize(
        "quote", ["... eight nine ten", "eight nine ten ...", "[...] eight nine ten [...]"]
    )
    def test_a_mark_at_the_edge(self, quote: str) -> None:
        found = verdict(self.SOURCE, quote)
        assert (found.match, found.start, found.end) == ("elided", 34, 48)

    @pytest.mark.parametrize(
        ("quote", "match"),
        [
            ("One two three ... ten", "absent"),  # one word, three code points
            ("One two three ... nine ten", "elided"),  # eight code points
            ("One two three ... a b c", "absent"),  # three words that are not there
            ("...", "absent"),
            ("... \u2026", "absent"),
        ],
    )
    def test_short_pieces(self, quote: str, match: str) -> None:
        assert verdict(self.SOURCE, quote).match == match

    def test_three_short_words_are_enough(self) -> None:
        assert verdict("a b c d e f g h", "a b c ... f g h").match == "elided"

    def test_a_source_that_holds_the_mark_is_exact(self) -> None:
        assert verdict("He said ... nothing.", "said ... nothing").match == "raw_exact"
        assert verdict("He said\u00a0... nothing.", "said ... nothing").match == "norm_exact"

    def test_the_weakest_normalization_for_all_pieces_is_named(self) -> None:
        source = "It isn\u2019t so here. And it is not so there."
        found = verdict(source, "It isn't so ... is not so there")
        assert (found.match, found.normalization) == ("elided", "quote/1")
        assert verdict(source, "It isn't so ... is not so there", normalization="text/1").match == "absent"

    def test_a_piece_never_ends_inside_a_character(self) -> None:
        source = "the o\ufb03ces of the \ufb01rm and the offices"
        found = verdict(source, "of the \ufb01rm ... the offi", normalization="compat/1")
        assert found.pieces is not None
        assert (found.pieces[1].start, found.pieces[1].end) == (25, 33)
        assert (
            verdict("the \ufb01rm o\ufb03ces", "the firm o ... ces of it", normalization="compat/1").match
            == "absent"
        )

    def test_claims_and_context(self) -> None:
        quote = "One two three ... eight nine ten"
        held = verdict(self.SOURCE, quote, start=0, end=48, suffix=". One")
        assert (held.match, held.start, held.end) == ("elided", 0, 48)
        wrong = verdict(self.SOURCE, quote, start=1, end=48)
        assert (wrong.match, wrong.codes) == ("absent", ("span.exact.mismatch",))
        wrong = verdict(self.SOURCE, quote, prefix="x")
        assert (wrong.match, wrong.codes) == ("absent", ("span.context.mismatch",))

    def test_a_piece_that_cuts_a_word_is_flagged(self) -> None:
        found = verdict(self.SOURCE, "One two thr ... eight nine ten")
        assert (found.match, found.codes) == ("elided", ("quote.partial_token",))


class TestStitched:
    SOURCE = "The cat sat on the mat today. Then dogs barked at the moon loudly. All slept."

    def test_two_pieces(self) -> None:
        found = verdict(self.SOURCE, "The cat sat on the mat barked at the moon")
        assert found.match == "stitched"
        assert found.pieces == (
            QuotePiece(start=0, end=22, gap=" today. Then dogs "),
            QuotePiece(start=40, end=58, gap=None),
        )
        assert (found.start, found.end, found.text, found.normalization) == (None, None, None, None)
        assert (found.occurrences, found.occurrences_total, found.place) == ((), 0, "cited")
        assert not found.exact

    def test_pieces_out_of_order_have_no_gap(self) -> None:
        found = verdict(self.SOURCE, "barked at the moon The cat sat on the mat")
        assert found.pieces == (QuotePiece(start=40, end=58, gap=None), QuotePiece(start=0, end=22, gap=None))

    def test_three_pieces(self) -> None:
        found = verdict(self.SOURCE, "The cat sat on moon loudly. All the mat today.")
        assert found.pieces is not None
        assert [self.SOURCE[piece.start : piece.end] for piece in found.pieces] == [
            "The cat sat on",
            "moon loudly. All",
            "the mat today.",
        ]

    @pytest.mark.parametrize(
        "quote",
        [
            "The cat sat on the mat the moon",  # the second piece has 8 code points
            "The cat sat on the mat and barked at the moon",  # a word of its own
            "cat dog",
            "The cat sat on the mat tomorrow",
        ],
    )
    def test_what_is_not_stitched(self, quote: str) -> None:
        assert verdict(self.SOURCE, quote).match == "absent"

    def test_pieces_that_continue_each_other_are_not_stitched(self) -> None:
        source = "the quick brownfox jumps over it"
        assert verdict(source, "the quick brown fox jumps over it").match == "absent"

    def test_a_quote_with_a_mark_is_never_stitched(self) -> None:
        assert verdict(self.SOURCE, "The cat sat on the mat... The cat sat on the mat").match == "absent"

    def test_it_can_be_switched_off(self) -> None:
        assert (
            verdict(self.SOURCE, "The cat sat on the mat barked at the moon", stitched=False).match
            == "absent"
        )

    def test_pieces_begin_and_end_between_characters(self) -> None:
        source = "An o\ufb03ce of the \ufb01rm stood. Its o\ufb03ce was large and cold."
        found = verdict(source, "An office of the firm was large and cold.", normalization="compat/1")
        assert found.pieces is not None
        assert [source[p.start : p.end] for p in found.pieces] == [
            "An o\ufb03ce of the \ufb01rm",
            "was large and cold.",
        ]
        cut = verdict(source, "An office of the f was large and cold.", normalization="compat/1")
        assert cut.match == "absent"

    def test_the_longest_piece_is_taken_wherever_it_stands(self) -> None:
        source = "x a long enough start. a long enough start of it. the very end of it."
        found = verdict(source, "a long enough start of it. end of it.")
        assert found.match == "absent"  # "end of it." has 10 code points
        found = verdict(source, "a long enough start of it. very end of it.")
        assert found.pieces is not None
        assert (found.pieces[0].start, found.pieces[0].end) == (23, 49)


class TestNear:
    SOURCE = "The tank held for 30 days and the crew left."

    def test_distance_and_diff(self) -> None:
        found = verdict(self.SOURCE, "tank held for 31 days", near=True)
        assert (found.match, found.distance, found.place) == ("near", 1, "cited")
        assert found.diff == (
            Edit(op="equal", quote="tank held for 3", source="tank held for 3"),
            Edit(op="replace", quote="1", source="0"),
            Edit(op="equal", quote=" days", source=" days"),
        )
        assert (found.start, found.text, found.normalization, found.occurrences) == (None, None, None, ())
        assert not found.exact

    @pytest.mark.parametrize(
        ("quote", "match"), [("held for x", "near"), ("held forxy", "near"), ("held fxxyz", "absent")]
    )
    def test_at_most_a_fifth(self, quote: str, match: str) -> None:
        assert verdict(self.SOURCE, quote, near=True).match == match

    def test_only_when_asked(self) -> None:
        assert verdict(self.SOURCE, "tank held for 31 days").match == "absent"

    def test_short_quotes_are_never_near(self) -> None:
        assert verdict(self.SOURCE, "30 d", near=True).match == "raw_exact"
        assert verdict(self.SOURCE, "31 d", near=True).match == "absent"

    def test_stitched_comes_first_and_elided_marks_may_be_near(self) -> None:
        source = "The cat sat on the mat today. Then dogs barked."
        assert verdict(source, "The cat sat on the mat Then dogs barked.", near=True).match == "stitched"
        assert verdict(source, "The cat sat on... tha mat today", near=True).match == "near"

    def test_under_the_normalization_asked_for(self) -> None:
        found = verdict("\u201cDon\u2019t  wait\u201d there", '"Don\'t waits" there', near=True)
        assert (found.match, found.distance) == ("near", 1)


class TestTokens:
    @pytest.mark.parametrize(
        ("source", "quote", "cut"),
        [
            ("150 mg", "50 mg", True),
            ("2.5 mg", "5 mg", True),
            ("12,500", "12", True),
            ("soft\u00adware", "ware", True),
            ("cafe\u0301 x", "cafe", True),
            ("10\u00b2", "10", True),
            ("B12 x", "12", True),
            ("H2O", "2", True),
            ("end.5", "5", False),
            ("end.", "end", False),
            (".5", "5", False),
            ("5.", "5", False),
            ("a-b", "b", False),
            ("ends5", "ends", True),
            ("\u8a66\u9a13\u306f\u5931\u6557", "\u9a13\u306f", False),
            ("\u7b2c15\u7ae0", "5", True),
            ("\u7b2c15\u7ae0", "15", False),
            ("\u0e2a\u0e35\u0e1f\u0e49\u0e32", "\u0e2a", True),  # cut from its vowel sign
            ("\u0e2a\u0e35\u0e1f\u0e49\u0e32", "\u0e2a\u0e35", False),
            ("\u0939\u0930\u0940 \u0918\u093e\u0938", "\u0918\u093e", True),
            ("x\u200b", "x", False),
            ("a\U00030000", "a", False),
        ],
    )
    def test_partial_tokens(self, source: str, quote: str, cut: bool) -> None:
        assert ("quote.partial_token" in verdict(source, quote).codes) == cut

    def test_ambiguous_quotes_are_flagged_only_if_every_occurrence_cuts(self) -> None:
        assert "quote.partial_token" not in verdict("5 mg and 15 mg", "5 mg").codes
        assert "quote.partial_token" in verdict("25 mg and 15 mg", "5 mg").codes


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
