"""A source, indexed once, in which many quotes are looked up.

Each normalization of the text is built at its first use and kept. Looking a quote up costs about one
``str.find`` a normalization, and one more to see that it occurs once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from capsules.normalization import Normalized, normalize
from capsules.unicode_tables import WHITE_SPACE, category, joining_pattern

_HYPHEN_BREAK = re.compile(f"[-\u2010\u00ad][{WHITE_SPACE}]+")


class SourceIndex:
    """The text of one source and its normalizations.

    Attributes:
        text: The raw text.
    """

    __slots__ = ("_dehyphenated", "_joinless", "_normalized", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._joinless: bool | None = None
        self._normalized: dict[str, Normalized] = {}
        self._dehyphenated: dict[str, str] = {}

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
        return self._joinless and normalize(quote, norm_id).text not in self.normalized(norm_id).text

    def holds_dehyphenated(self, quote: str, norm_id: str) -> bool:
        """Whether source and quote agree once words broken by a hyphen and white space are joined."""
        joined_quote = join_broken_words(quote)
        if norm_id not in self._dehyphenated:
            joined = join_broken_words(self.text)
            same = joined == self.text
            self._dehyphenated[norm_id] = "" if same else normalize(joined, norm_id).text
        if not self._dehyphenated[norm_id] and joined_quote == quote:
            return False
        text = self._dehyphenated[norm_id] or self.normalized(norm_id).text
        return normalize(joined_quote, norm_id).text in text


def join_broken_words(text: str) -> str:
    """The text without the hyphens between two letters that white space follows.

    Mostly that is a line end; extraction often makes a space of it.
    """

    def joined(found: re.Match[str]) -> str:
        around = text[found.start() - 1 : found.start()] + text[found.end() : found.end() + 1]
        letters = len(around) == 2 and all(category(char)[0] == "L" for char in around)
        return "" if letters else found.group()

    return _HYPHEN_BREAK.sub(joined, text)


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
