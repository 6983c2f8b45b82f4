"""Where a quote in an answer stands, among all sources of the prompt that was answered.

* ``cited``: in what the prompt shows of a cited source. ``other_source``: in what it shows of another.
  ``omitted``: in an original, but not in this prompt. ``none``: nowhere.
* A quote counts as shown only when its whole range lies inside the shown ranges; shown ranges with
  nothing but white space between them are one.
* The class comes before the place: an exact quote of another source is ``raw_exact``, ``other_source``,
  also where the cited source would hold it in pieces. Within a class (the two exact ones are one class
  here: a faithful quote stays with its own source): cited, other_source, omitted.
* An exact citation is ``raw_exact`` or ``norm_exact`` in place ``cited``; nothing else ever is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from capsules.quote_match import match_quote
from capsules.quote_verdict import EXACT_MATCHES, MATCHES, QuoteVerdict, Range
from capsules.source_index import SourceIndex
from capsules.unicode_tables import WHITE_SPACE


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSource:
    """One numbered source of a prompt.

    Attributes:
        number: The number under which the prompt shows it.
        source_id: ContentId of its raw bytes.
        index: The whole original text.
        shown: Raw ranges that the prompt shows.
    """

    number: int
    source_id: str
    index: SourceIndex
    shown: tuple[Range, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptQuoteVerdict:
    """What the prompt's sources say about a quote.

    Attributes:
        match: The class.
        place: The place.
        number: Number of the source where it was found, if that source has one.
        exact: Whether this is an exact citation.
        unique: Whether it is, and the shown text of the cited sources holds the quote only once.
        verdict: The verdict on that source, with positions in its raw text.
    """

    match: str
    place: str
    number: int | None
    exact: bool
    unique: bool
    verdict: QuoteVerdict


@dataclass(frozen=True, slots=True)
class _Placed:
    number: int | None
    source_id: str
    verdict: QuoteVerdict

    @property
    def strength(self) -> int:
        match = self.verdict.match
        return MATCHES.index("raw_exact" if match in EXACT_MATCHES else match)


def match_in_prompt(
    quote: str,
    cited: Sequence[int],
    sources: Sequence[PromptSource],
    omitted: Sequence[SourceIndex],
    *,
    normalization: str,
    min_chars: int,
) -> PromptQuoteVerdict:
    """Look a quote up in everything that the prompt showed, then in what it left out.

    Args:
        quote: The quote as given.
        cited: Numbers that the answer cites for it; numbers that the prompt does not have count nothing.
        sources: The prompt's sources.
        omitted: Originals that are not in the prompt.
        normalization: The capsule's own normalization, the most lenient that counts.
        min_chars: A shorter quote is invalid.

    Raises:
        SchemaError: ``schema.word`` if no normalization has that id.
    """

    def look(index: SourceIndex, place: str, shown: tuple[Range, ...] | None = None) -> QuoteVerdict:
        return match_quote(
            index, quote, normalization=normalization, min_chars=min_chars, place=place, shown=shown
        )

    by_citation = sorted(sources, key=lambda source: _rank(source.number, cited))
    placed: list[_Placed] = []
    for source in by_citation:
        place = "cited" if source.number in cited else "other_source"
        verdict = look(source.index, place, merge_shown(source.index.text, source.shown))
        placed.append(_Placed(source.number, source.source_id, verdict))
    if not any(entry.verdict.match in EXACT_MATCHES for entry in placed):
        for source in by_citation:
            placed.append(_Placed(source.number, source.source_id, look(source.index, "omitted")))
        placed += [_Placed(None, "", look(index, "omitted")) for index in omitted]
    # The first of the strongest class: the entries are in the order of the places.
    best = min(
        placed or [_Placed(None, "", look(SourceIndex(""), "none"))],
        key=lambda entry: entry.strength,
    )
    verdict = best.verdict
    return PromptQuoteVerdict(
        match=verdict.match,
        place=verdict.place,
        number=best.number if verdict.place != "none" else None,
        exact=verdict.exact,
        unique=verdict.exact and _occurs_once(placed),
        verdict=verdict,
    )


def _occurs_once(placed: list[_Placed]) -> bool:
    """Whether the cited sources show the exact quote once, a passage shown under two numbers counted once."""
    places = {
        (entry.source_id, found)
        for entry in placed
        if entry.verdict.exact
        for found in entry.verdict.occurrences
    }
    return len(places) == 1


def merge_shown(text: str, ranges: Iterable[Range]) -> tuple[Range, ...]:
    """The ranges in order, joined where only white space of ``text`` separates them."""
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and not text[merged[-1][1] : start].strip(WHITE_SPACE):
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)


def _rank(number: int, cited: Sequence[int]) -> int:
    return cited.index(number) if number in cited else len(cited)
