"""What can be said of a quote: match, place, position, and codes.

A wrong quote is a value, never an exception. Only ``raw_exact`` and ``norm_exact`` in place ``cited``
are exact; no other class ever counts as exact.
"""

from __future__ import annotations

from dataclasses import dataclass

MATCHES = ("invalid", "raw_exact", "norm_exact", "elided", "stitched", "near", "absent")
PLACES = ("cited", "other_source", "omitted", "none")
EXACT_MATCHES = frozenset({"raw_exact", "norm_exact"})

Range = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotePiece:
    """A part of an elided or stitched quote, where it stands in the source.

    Attributes:
        start: First raw code point.
        end: The position after its last.
        gap: The raw text skipped before the next piece; ``None`` after the last piece, and where
            the next piece stands before this one.
    """

    start: int
    end: int
    gap: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One step of the difference between a near quote and its source.

    Attributes:
        op: ``equal``, ``replace``, ``insert`` (only the source has it) or ``delete`` (only the quote).
        quote: The normalized quote's part.
        source: The normalized source's part.
    """

    op: str
    quote: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteVerdict:
    """What a source says about a quote.

    Attributes:
        match: One of ``MATCHES``.
        place: One of ``PLACES``.
        normalization: The weakest normalization under which the match holds, or ``None``.
        start: First raw code point of the match; ``None`` where there is none or it is ambiguous.
        end: The position after its last.
        text: ``source[start:end]``.
        occurrences: Raw ranges of all occurrences, overlapping ones too, the first 1,000.
        occurrences_total: How many there are.
        pieces: Of an elided or stitched quote.
        widened: For ``quote.inside_character``: the range widened to whole raw characters.
        distance: Of a near quote: Levenshtein distance in code points of the normalized texts.
        diff: Of a near quote: the edits from the quote to the source.
        codes: Sorted codes of ``capsules.codes``.
    """

    match: str
    place: str = "none"
    normalization: str | None = None
    start: int | None = None
    end: int | None = None
    text: str | None = None
    occurrences: tuple[Range, ...] = ()
    occurrences_total: int = 0
    pieces: tuple[QuotePiece, ...] | None = None
    widened: Range | None = None
    distance: int | None = None
    diff: tuple[Edit, ...] | None = None
    codes: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the quote is an exact citation: exact, and in the place that was cited."""
        return self.match in EXACT_MATCHES and self.place == "cited"
