"""Where a quote is said to stand: claimed positions, prefix and suffix, and what cuts a raw character."""

from __future__ import annotations

from typing import Any

import pytest

from capsules.quote_match import match_quote
from capsules.quote_verdict import EXACT_MATCHES, QuoteVerdict
from capsules.source_index import SourceIndex


def verdict(source: str, quote: str, **options: Any) -> QuoteVerdict:
    return match_quote(SourceIndex(source), quote, **options)


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
