"""A source, indexed once, in which many quotes are looked up.

Each normalization of the text is built at its first use and kept. Looking a quote up costs about one
``str.find`` a normalization, and one more to see that it occurs once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from capsules.normalization import Normalized, normalize, normalized_text
from capsules.unicode_tables import WHITE_SPACE, category, joining_pattern

_LETTERS = re.compile(r"[^\W\d_]+")
_AROUND = 256  # code points of the source looked at beside a broken word, and four times the quote
_PLACES = 1000  # where the same broken word is looked up
_HYPHEN_BREAK = re.compile(f"[-\u2010\u00ad][{WHITE_SPACE}]+")
_ASCII_BREAK = re.compile("-[\\t-\\r ]+")  # ten times faster: it begins with a literal


class SourceIndex:
    """The text of one source and its normalizations.

    Attributes:
        text: The raw text.
    """

    __slots__ = ("_broken", "_joinless", "_normalized", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._joinless: bool | None = None
        self._normalized: dict[str, Normalized] = {}
        self._broken: dict[str, dict[str, list[int]]] = {}

    def normalized(self, norm_id: str) -> Normalized:
        """The text under a normalization.

        Raises:
            SchemaError: ``schema.word`` if no normalization has that id.
        """
        if norm_id not in self._normalized:
            self._normalized[norm_id] = normalize(self.text, norm_id)
        return self._normalized[norm_id]

    def rules_out(self, quote: str, norm_id: str) -> bool:
        """Whether a trimmed quote is seen, by one ``find``, to occur under no normalization up to one.

        Where no character joins the one before it, cutting a text never changes its normalization, so
        what occurs under one normalization occurs under all more lenient ones. Elsewhere a normalized
        text may lose what its raw text has: ``e`` in U+0065 U+0301.
        """
        if self._joinless is None:
            self._joinless = self.text.isascii() or joining_pattern(compat=True).search(self.text) is None
        return self._joinless and normalized_text(quote, norm_id) not in self.normalized(norm_id).text

    def holds_dehyphenated(self, quote: str, norm_id: str) -> bool:
        """Whether source and quote agree once words broken by a hyphen and white space are joined."""
        broken = self._broken_words(norm_id)
        joined = join_broken_words(quote)
        if not broken and joined == quote:
            return False
        needle = normalized_text(joined, norm_id)
        if joined != quote and needle in self.normalized(norm_id).text:
            return True
        around = 4 * len(quote) + _AROUND
        for word in set(_LETTERS.findall(needle)) & broken.keys():
            for position in broken[word]:
                window = join_broken_words(self.text[max(0, position - around) : position + around])
                if needle in normalized_text(window, norm_id):
                    return True
        return False

    def _broken_words(self, norm_id: str) -> dict[str, list[int]]:
        """The words that the source breaks, joined, and where it breaks them."""
        if norm_id not in self._broken:
            broken: dict[str, list[int]] = {}
            for left, right in _breaks(self.text):
                start, end = left, right
                while start and _is_letter(self.text[start - 1]):
                    start -= 1
                while end < len(self.text) and _is_letter(self.text[end]):
                    end += 1
                word = normalized_text(self.text[start:left] + self.text[right:end], norm_id)
                places = broken.setdefault(word, [])
                if len(places) < _PLACES:
                    places.append(left)
            self._broken[norm_id] = broken
        return self._broken[norm_id]


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Hyphens between two letters, with the white space that follows them."""
    for found in (_ASCII_BREAK if text.isascii() else _HYPHEN_BREAK).finditer(text):
        start, end = found.span()
        if start and end < len(text) and _is_letter(text[start - 1]) and _is_letter(text[end]):
            yield start, end


def _is_letter(char: str) -> bool:
    return category(char)[0] == "L"


def join_broken_words(text: str) -> str:
    """The text without the hyphens between two letters that white space follows.

    Mostly that is a line end; extraction often makes a space of it.
    """
    parts, position = [], 0
    for start, end in _breaks(text):
        parts.append(text[position:start])
        position = end
    return "".join(parts) + text[position:]


def starts(text: str, needle: str, position: int = 0) -> Iterator[int]:
    """Where ``needle`` begins in ``text`` from a position on, in order, overlapping occurrences too.

    Linear in the text: inside a run of overlapping occurrences it advances by the period of the
    needle and compares only what is new.

    Args:
        text: Where to look.
        needle: What to look for, not empty.
        position: The first place that counts.
    """
    size = len(needle)
    at = text.find(needle, position)
    step, tail = 0, ""
    while at >= 0:
        yield at
        if tail and text.startswith(tail, at + size):
            at += step
            continue
        following = text.find(needle, at + 1)
        if not tail and 0 <= following < at + size:
            step = _period(needle)
            tail = needle[-step:]
        at = following


def _period(needle: str) -> int:
    """The smallest shift under which ``needle`` agrees with itself (Knuth, Morris, Pratt)."""
    borders = [0] * len(needle)
    border = 0
    for index in range(1, len(needle)):
        while border and needle[index] != needle[border]:
            border = borders[border - 1]
        border += needle[index] == needle[border]
        borders[index] = border
    return len(needle) - border
