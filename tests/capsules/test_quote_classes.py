"""The classes that are never exact (elided, stitched, near), and quotes that cut a token."""

from __future__ import annotations

from typing import Any

import pytest

from capsules.quote_match import match_quote
from capsules.quote_verdict import Edit, QuotePiece, QuoteVerdict
from capsules.source_index import SourceIndex


def verdict(source: str, quote: str, **options: Any) -> QuoteVerdict:
    return match_quote(SourceIndex(source), quote, **options)


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
        source, quote = "see the o\ufb03ces by the sea", "see the off ... by the sea"
        assert verdict(source, quote, normalization="compat/1").match == "absent"
        found = verdict(f"{source}, see the offices by the sea", quote, normalization="compat/1")
        assert found.pieces is not None
        assert [(piece.start, piece.end) for piece in found.pieces] == [(26, 37), (42, 52)]
        whole = verdict(source, "see the offi ... by the sea", normalization="compat/1")
        assert whole.match == "elided"

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
