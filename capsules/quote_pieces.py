"""Quotes that are in a source only piece by piece.

* *Elided*: the quote itself marks what it leaves out (``...``, U+2026, either in square brackets). Each
  piece has at least 3 words or 8 code points; the pieces stand in order, without overlap, each at the
  first place after the one before. The gaps are reported: they may hold the ``not``.
* *Stitched*: no mark. From its beginning the quote is taken apart into the longest pieces that the source
  holds; all have at least 12 code points, there are two or more, and no two neighbours continue each
  other in the source (white space aside). White space between two pieces belongs to neither.

A piece never begins or ends inside a raw character.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from capsules.normalization import Normalized, RawRange, normalized_text, trim
from capsules.quote_verdict import QuotePiece
from capsules.source_index import SourceIndex, starts
from capsules.unicode_tables import WHITE_SPACE

_MARK = re.compile(rf"\[[{WHITE_SPACE}]*(?:\.{{3,}}|…)[{WHITE_SPACE}]*\]|\.{{3,}}|…")
_WORD = re.compile(rf"[^{WHITE_SPACE}]+")

ELIDED_WORDS = 3
ELIDED_CHARS = 8
STITCHED_CHARS = 12

IsShown = Callable[[RawRange], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Elision:
    """An elided quote found in a source.

    Attributes:
        norm_id: The weakest normalization under which all pieces are found.
        pieces: The pieces' texts.
        start: Normalized start of the first piece.
        end: Normalized end of the last.
        ranges: Raw ranges of the pieces.
    """

    norm_id: str
    pieces: tuple[str, ...]
    start: int
    end: int
    ranges: tuple[RawRange, ...]


def has_mark(quote: str) -> bool:
    """Whether the quote says itself that it leaves something out."""
    return _MARK.search(quote) is not None


def find_elided(
    index: SourceIndex, quote: str, norm_ids: tuple[str, ...], is_shown: IsShown
) -> Elision | None:
    """Find a quote with marks piece by piece; ``None`` if a piece is too short or not there."""
    pieces = tuple(part[slice(*trim(part))] for part in _MARK.split(quote))
    pieces = tuple(piece for piece in pieces if piece)
    if not pieces or any(_too_short(piece) for piece in pieces):
        return None
    for norm_id in norm_ids:
        needles = [normalized_text(piece, norm_id) for piece in pieces]
        found = _in_order(index.normalized(norm_id), needles, is_shown)
        if found:
            first, last = found[0], found[-1]
            ranges = tuple(raw for _, _, raw in found)
            return Elision(norm_id=norm_id, pieces=pieces, start=first[0], end=last[1], ranges=ranges)
    return None


def _too_short(piece: str) -> bool:
    return len(piece) < ELIDED_CHARS and len(_WORD.findall(piece)) < ELIDED_WORDS


def _in_order(norm: Normalized, needles: list[str], is_shown: IsShown) -> list[tuple[int, int, RawRange]]:
    """The leftmost clean place of each needle after the one before; empty if one has none."""
    found: list[tuple[int, int, RawRange]] = []
    position = 0
    for needle in needles:
        place = _next_clean(norm, needle, position, is_shown)
        if place is None:
            return []
        position = place[0] + len(needle)
        found.append((place[0], position, place[1]))
    return found


def _next_clean(
    norm: Normalized, needle: str, position: int, is_shown: IsShown
) -> tuple[int, RawRange] | None:
    for at in starts(norm.text, needle, position):
        raw = norm.to_raw(at, at + len(needle))
        if raw.clean and is_shown(raw):
            return at, raw
    return None


def find_stitched(norm: Normalized, quote: str, is_shown: IsShown) -> tuple[RawRange, ...] | None:
    """Take a quote apart into pieces of one source; ``None`` if that is not possible.

    Args:
        norm: The source under the normalization asked for.
        quote: The quote under the same normalization.
        is_shown: Whether a raw range counts.
    """
    pieces: list[tuple[str, RawRange]] = []
    rest = quote
    while rest:
        piece = _longest_piece(norm, rest, is_shown)
        if piece is None or (pieces and pieces[-1][0] + piece[0] in norm.text):
            return None
        pieces.append(piece)
        rest = rest[len(piece[0]) :].lstrip(WHITE_SPACE)
    return tuple(raw for _, raw in pieces) if len(pieces) > 1 else None


def _longest_piece(norm: Normalized, quote: str, is_shown: IsShown) -> tuple[str, RawRange] | None:
    """The longest beginning of ``quote``, at least 12 code points, that has a clean place.

    One pass over the text: after a place that agrees for n code points only longer ones count.
    """
    found = None
    wanted = STITCHED_CHARS
    at = norm.text.find(quote[:wanted]) if len(quote) >= wanted else -1
    while at >= 0:
        raw = norm.to_raw(at, at + wanted)
        size = _agreeing(norm.text, at, quote, wanted) if is_shown(raw) else 0
        while size >= wanted:
            raw = norm.to_raw(at, at + size)
            if raw.clean and is_shown(raw) and quote[size - 1] not in WHITE_SPACE:
                found = quote[:size], raw
                wanted = size + 1
            size -= 1
        at = norm.text.find(quote[:wanted], at + 1) if len(quote) >= wanted else -1
    return found


def _agreeing(text: str, at: int, quote: str, size: int) -> int:
    """How many code points from ``at`` on agree with the quote, of which ``size`` are known to."""
    most = min(len(quote), len(text) - at)
    while size < most and text[at + size] == quote[size]:
        size += 1
    return size


def with_gaps(text: str, ranges: tuple[RawRange, ...]) -> tuple[QuotePiece, ...]:
    """The pieces with the raw text between each and the next."""
    following = [*ranges[1:], None]
    return tuple(
        QuotePiece(
            start=raw.start,
            end=raw.end,
            gap=text[raw.end : after.start] if after and after.start >= raw.end else None,
        )
        for raw, after in zip(ranges, following, strict=True)
    )
