"""Where a quote stands among the sources of a prompt."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from capsules.prompt_quote import PromptQuoteVerdict, PromptSource, match_in_prompt, merge_shown
from capsules.source_index import SourceIndex

A = "The valve shut at noon. The tank held for days.\n\nThe crew left on foot."
B = "The pump ran dry. The valve shut at noon. Nobody saw it happen at all."
C = "An alarm rang twice in the night. The tank held for days."

Ask = Callable[..., PromptQuoteVerdict]


def source(number: int, text: str, *shown: tuple[int, int], source_id: str | None = None) -> PromptSource:
    return PromptSource(
        number=number,
        source_id=source_id or f"b3:{text[:5]}",
        index=SourceIndex(text),
        shown=shown or ((0, len(text)),),
    )


@pytest.fixture
def ask() -> Ask:
    # Of the first source the crew is not shown; the third is not in the prompt.
    sources = [source(1, A, (0, 23), (24, 47)), source(2, B)]

    def run(quote: str, *cited: int, norm: str = "quote/1", min_chars: int = 1) -> PromptQuoteVerdict:
        return match_in_prompt(
            quote, cited, sources, [SourceIndex(C)], normalization=norm, min_chars=min_chars
        )

    return run


@pytest.mark.parametrize(
    ("quote", "cited", "match", "place", "number", "exact", "unique"),
    [
        ("The tank held", (1,), "raw_exact", "cited", 1, True, True),
        ("The tank  held", (1,), "norm_exact", "cited", 1, True, True),
        ("noon. The tank", (1,), "raw_exact", "cited", 1, True, True),  # across two adjacent shown ranges
        ("The pump ran dry", (1,), "raw_exact", "other_source", 2, False, False),
        ("The pump ran dry", (), "raw_exact", "other_source", 2, False, False),
        ("The pump ran dry", (7,), "raw_exact", "other_source", 2, False, False),
        ("The valve shut", (2, 1), "raw_exact", "cited", 2, True, False),  # once in each cited source
        ("The valve shut", (2,), "raw_exact", "cited", 2, True, True),
        ("The crew left", (1,), "raw_exact", "omitted", 1, False, False),  # in the original, not shown
        ("days.\n\nThe crew", (1,), "raw_exact", "omitted", 1, False, False),  # only half of it shown
        ("An alarm rang", (1,), "raw_exact", "omitted", None, False, False),
        ("The mayor wept", (1,), "absent", "none", None, False, False),
        ("", (1,), "invalid", "none", None, False, False),
        ("The", (1,), "raw_exact", "cited", 1, True, False),
        ("The valve ... held for days", (1,), "elided", "cited", 1, False, False),
        ("The pump ran dry ... saw it happen", (1,), "elided", "other_source", 2, False, False),
        ("The valve ... on foot", (1,), "absent", "none", None, False, False),
        ("The valve ... crew left", (1,), "elided", "omitted", 1, False, False),
        ("The valve shut held for days.", (1,), "stitched", "cited", 1, False, False),
        ("The pump ran dry. saw it happen at all.", (1,), "stitched", "other_source", 2, False, False),
    ],
)
def test_match_and_place(
    ask: Ask,
    quote: str,
    cited: tuple[int, ...],
    match: str,
    place: str,
    number: int | None,
    exact: bool,
    unique: bool,
) -> None:
    found = ask(quote, *cited)
    assert (found.match, found.place, found.number) == (match, place, number)
    assert (found.exact, found.unique) == (exact, unique)
    assert (found.verdict.match, found.verdict.place) == (match, place)


def test_the_class_comes_before_the_place(ask: Ask) -> None:
    # Stitched in the cited source 1, exact in the omitted source.
    sources = [source(1, "The valve shut at noon. Then the tank held for days on end.")]
    quote = "The valve shut at noon. tank held for days on end."
    exact = [SourceIndex(quote)]
    found = match_in_prompt(quote, [1], sources, exact, normalization="quote/1", min_chars=1)
    assert (found.match, found.place) == ("raw_exact", "omitted")
    found = match_in_prompt(quote, [1], sources, [], normalization="quote/1", min_chars=1)
    assert (found.match, found.place) == ("stitched", "cited")


def test_raw_comes_before_normalized_in_the_same_place_only_by_class() -> None:
    sources = [source(1, "it isn\u2019t so"), source(2, "it isn't so")]
    found = match_in_prompt("it isn't so", [1], sources, [], normalization="quote/1", min_chars=1)
    assert (found.match, found.place, found.exact) == ("norm_exact", "cited", True)


def test_the_capsules_own_normalization_is_the_limit(ask: Ask) -> None:
    assert ask("The tank  held", 1, norm="text/1").match == "absent"
    assert ask("The tank held", 1, norm="raw/1").exact


def test_min_chars(ask: Ask) -> None:
    found = ask("tank", 1, min_chars=5)
    assert (found.match, found.verdict.codes) == ("invalid", ("quote.too_short",))


def test_positions_are_those_of_the_raw_source(ask: Ask) -> None:
    found = ask("The tank held", 1)
    assert (found.verdict.start, found.verdict.end) == (24, 37)
    assert ask("The crew left", 1).verdict.start == 49


def test_codes_of_an_absent_quote_come_from_the_cited_source() -> None:
    sources = [source(1, "nothing"), source(2, "o\ufb03ce")]
    found = match_in_prompt("ice", [2], sources, [], normalization="compat/1", min_chars=1)
    assert found.verdict.codes == ("quote.inside_character",)


def test_a_passage_shown_under_two_numbers_is_one_place() -> None:
    sources = [source(1, A, (0, 23), source_id="b3:a"), source(2, A, (0, 47), source_id="b3:a")]
    found = match_in_prompt("The valve shut", [1, 2], sources, [], normalization="quote/1", min_chars=1)
    assert (found.exact, found.unique) == (True, True)


def test_a_prompt_without_sources() -> None:
    found = match_in_prompt("a", [1], [], [], normalization="quote/1", min_chars=1)
    assert (found.match, found.place, found.number) == ("absent", "none", None)
    found = match_in_prompt("", [1], [], [], normalization="quote/1", min_chars=1)
    assert found.match == "invalid"


@pytest.mark.parametrize(
    ("ranges", "merged"),
    [
        ([], ()),
        ([(0, 1), (2, 3)], ((0, 3),)),  # one space between
        ([(2, 3), (0, 1)], ((0, 3),)),
        ([(0, 3), (3, 5)], ((0, 5),)),
        ([(0, 5), (1, 2)], ((0, 5),)),
        ([(0, 1), (6, 7)], ((0, 1), (6, 7))),
    ],
)
def test_shown_ranges_are_joined_across_white_space(
    ranges: list[tuple[int, int]], merged: tuple[tuple[int, int], ...]
) -> None:
    assert merge_shown("a b\u3000cde", ranges) == merged
