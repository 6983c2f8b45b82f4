"""Normalized text and the way back to raw text. The normalizations: ``capsules.norm_registry``.

* Spans always point into raw text, in code points. ``Normalized`` maps a normalized range back to
  the raw range that gave it, and says when the range would begin or end inside a raw character (half
  a ligature, half a composed letter, half a run of white space).
* A slice between two such positions normalizes to the corresponding slice of the whole.

Method: the text is cut every thousand or so code points, before a character that nothing can join to
what precedes it, so that every piece normalizes by itself, in C. Only the positions of the cuts are
stored; a range is mapped by looking closely at the pieces where it begins and ends
(``capsules.alignment``). A text that a normalization leaves alone is not copied.
"""

from __future__ import annotations

import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from capsules.alignment import Rules, Units, units
from capsules.norm_registry import NORMS, ORDER, rules_of
from capsules.unicode_tables import (
    DROPPED,
    PUNCTUATION,
    WHITE_SPACE,
    compat_table,
    has_unassigned,
    nfc,
    safe_pattern,
)

__all__ = ["NORMS", "ORDER", "Normalized", "RawRange", "normalize", "normalized_text", "trim"]

_PIECE = 1024
_LARGEST_PIECE = 65_536  # a changed piece without any safe cut for so long is one unit
_CACHED_UNITS = 256
_JOINED_AT_ONCE = 4096
_ASCII_SPACES = {ord(char): " " for char in WHITE_SPACE if char.isascii()}
_QUOTE_TABLE = MappingProxyType(
    {**dict.fromkeys(DROPPED, ""), **PUNCTUATION, **dict.fromkeys(WHITE_SPACE, " ")}
)
_TRIMMED = WHITE_SPACE + DROPPED


class RawRange(NamedTuple):
    """Where a normalized range lies in raw text.

    ``clean`` is false when the normalized range begins or ends inside a raw character; ``start`` and
    ``end`` are then widened to whole units.
    """

    start: int
    end: int
    clean: bool


class Normalized:
    """A normalized text that knows where each part of it came from.

    Attributes:
        norm_id: The normalization.
        raw: The raw text.
        text: The normalized text; the same object as ``raw`` where nothing changed.
    """

    __slots__ = ("_norm_cuts", "_raw_cuts", "_rules", "_units", "norm_id", "raw", "text")

    def __init__(self, raw: str, norm_id: str) -> None:
        self.norm_id = norm_id
        self.raw = raw
        self._rules = rules_of(norm_id)
        self._raw_cuts = array("Q", [0])
        self._norm_cuts = array("Q", [0])
        self._units: dict[int, Units | None] = {}
        self.text = raw if self._unchanged() else self._fold_all()

    @property
    def codes(self) -> tuple[str, ...]:
        """Info codes about the text: ``norm.unicode.unassigned`` or nothing."""
        return ("norm.unicode.unassigned",) if has_unassigned(self.raw) else ()

    def to_raw(self, start: int, end: int) -> RawRange:
        """The raw range that gave ``text[start:end]``.

        Args:
            start: First code point of a non-empty range of the normalized text.
            end: The position after its last.

        Raises:
            ValueError: The range is empty or not inside the text.
        """
        if not 0 <= start < end <= len(self.text):
            raise ValueError(f"expected 0 <= start < end <= {len(self.text)}, found {start} and {end}")
        if self.text is self.raw:
            return RawRange(start, end, True)
        first = bisect_right(self._norm_cuts, start) - 1
        raw_start, clean_start = self._side(first, start, Units.raw_start)
        last = bisect_right(self._norm_cuts, end - 1) - 1
        raw_end, clean_end = self._side(last, end, Units.raw_end)
        return RawRange(raw_start, raw_end, clean_start and clean_end)

    def to_normalized(self, position: int) -> int | None:
        """The normalized position of a raw one, or ``None`` inside a raw character.

        Before characters that are dropped the position is that of what follows them.
        """
        if self.text is self.raw:
            return position
        if position == len(self.raw):
            return len(self.text)
        piece = bisect_right(self._raw_cuts, position) - 1
        found = self._piece_units(piece)
        local = position - self._raw_cuts[piece]
        inside = local if found is None else found.norm_start(local)
        return None if inside is None else self._norm_cuts[piece] + inside

    def _side(self, piece: int, position: int, find: _Find) -> tuple[int, bool]:
        """One end of a range, as a raw position and whether it is clean."""
        found = self._piece_units(piece)
        local = position - self._norm_cuts[piece]
        inside, clean = (local, True) if found is None else find(found, local)
        return self._raw_cuts[piece] + inside, clean

    def _piece_units(self, piece: int) -> Units | None:
        """The units of one piece; ``None`` where every code point is one unit."""
        if piece not in self._units:
            if len(self._units) >= _CACHED_UNITS:
                self._units.clear()
            self._units[piece] = self._look_closely(piece)
        return self._units[piece]

    def _look_closely(self, piece: int) -> Units | None:
        raw = self.raw[slice(*self._raw_cuts[piece : piece + 2])]
        text = self.text[slice(*self._norm_cuts[piece : piece + 2])]
        if raw == text or (len(raw) == len(text) and raw.isascii()):
            return None
        if len(raw) > _LARGEST_PIECE:
            whole = Units()
            whole.add(0, len(raw), len(text))
            return whole
        return units(raw, self._rules)

    def _unchanged(self) -> bool:
        """Whether the normalization is seen to leave the text alone without trying it."""
        rules, raw = self._rules, self.raw
        if rules.quote:
            return False
        return not rules.line_ends or (
            "\r" not in raw and (raw.isascii() or unicodedata.is_normalized("NFC", raw))
        )

    def _fold_all(self) -> str:
        """Normalize piece by piece, noting where the pieces meet."""
        if self.raw.isascii():
            text = _fold(self.raw, self._rules)
            if len(text) == len(self.raw):  # then nothing moved: one piece is enough
                self._raw_cuts.append(len(text))
                self._norm_cuts.append(len(text))
                return self.raw if text == self.raw else text
        text = ""
        waiting: list[str] = []
        norm_end = 0
        for start, end in _pieces(self.raw):
            waiting.append(_fold(self.raw[start:end], self._rules))
            norm_end += len(waiting[-1])
            self._raw_cuts.append(end)
            self._norm_cuts.append(norm_end)
            if len(waiting) == _JOINED_AT_ONCE:  # so that a large text is never held twice
                text += "".join(waiting)
                waiting.clear()
        text += "".join(waiting)
        return self.raw if text == self.raw else text


_Find = Callable[[Units, int], tuple[int, bool]]


def normalize(text: str, norm_id: str) -> Normalized:
    """Normalize ``text``, keeping the way back to it.

    Raises:
        SchemaError: ``schema.word`` if no normalization has that id.
    """
    return Normalized(text, norm_id)


def normalized_text(text: str, norm_id: str) -> str:
    """``normalize(text, norm_id).text`` without the way back: for the quote's side of a comparison.

    Raises:
        SchemaError: ``schema.word`` if no normalization has that id.
    """
    rules = rules_of(norm_id)
    if len(text) <= _PIECE:
        return _fold(text, rules)
    return "".join(_fold(text[start:end], rules) for start, end in _pieces(text))


def trim(quote: str) -> tuple[int, int]:
    """The range of ``quote`` without leading and trailing White_Space and dropped characters."""
    start = len(quote) - len(quote.lstrip(_TRIMMED))
    return start, max(start, len(quote.rstrip(_TRIMMED)))


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Ranges that normalize by themselves, together the whole text."""
    safe = safe_pattern()
    start = 0
    while start < len(text):
        cut = safe.search(text, start + _PIECE)
        end = cut.start() if cut else len(text)
        yield start, end
        start = end


def _fold(text: str, rules: Rules) -> str:
    """The normalization of a short text; ``raw/1`` has no rules."""
    ascii_only = text.isascii()
    if rules.line_ends:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if rules.quote and ascii_only:
        text = text.translate(_ASCII_SPACES)
    elif rules.quote:
        if rules.compat:
            text = _replaced(text, compat_table())
        text = _replaced(text, _QUOTE_TABLE)
    if not ascii_only and (rules.quote or rules.line_ends):
        text = nfc(text)
    if rules.quote:
        while "  " in text:
            text = text.replace("  ", " ")
    return text


def _replaced(text: str, table: Mapping[str, str]) -> str:
    for char in set(text) & table.keys():
        text = text.replace(char, table[char])
    return text
