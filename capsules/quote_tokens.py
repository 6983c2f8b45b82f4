"""Whether a quote cuts a token: ``50 mg`` taken out of ``150 mg``.

A token is a run of letters, marks and digits, with full stop or comma between two digits (``2.5``).
Letters of scripts that put no space between words (Han, kana, Thai, Lao, Khmer, Myanmar) make no token
with what stands beside them; digits beside digits do in every script. Dropped characters (a soft
hyphen) end no token.
"""

from __future__ import annotations

from capsules.unicode_tables import DROPPED, category

_DECIMAL = ".,\u066b\u066c"
# First and last letters of scripts written without spaces between words.
_UNSPACED = (
    ("\u0e00", "\u0eff"),  # Thai, Lao
    ("\u1000", "\u109f"),  # Myanmar
    ("\u1780", "\u17ff"),  # Khmer
    ("\u3005", "\u3007"),  # iteration mark, closing mark, zero
    ("\u3040", "\u30ff"),  # Hiragana, Katakana
    ("\u31f0", "\u31ff"),
    ("\u3400", "\u4dbf"),  # Han
    ("\u4e00", "\u9fff"),
    ("\uf900", "\ufaff"),
    ("\uff66", "\uff9f"),
    ("\U0001b000", "\U0001b16f"),
    ("\U00020000", "\U0003ffff"),
)


def cuts_token(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]``, not empty, begins or ends inside a token of ``text``."""
    return _joined(text, start) or _joined(text, end)


def _joined(text: str, position: int) -> bool:
    """Whether the characters on both sides of a position belong to one token."""
    left = _visible(text, position - 1, -1)
    right = _visible(text, position, 1)
    if left < 0 or right >= len(text):
        return False
    if text[left] in _DECIMAL:
        left = _visible(text, left - 1, -1)
        return left >= 0 and _is_digit(text[left]) and _is_digit(text[right])
    if text[right] in _DECIMAL:
        right = _visible(text, right + 1, 1)
        return right < len(text) and _is_digit(text[left]) and _is_digit(text[right])
    return _token_part(text[left]) and _token_part(text[right]) and _together(text[left], text[right])


def _visible(text: str, index: int, step: int) -> int:
    while 0 <= index < len(text) and text[index] in DROPPED:
        index += step
    return index


def _is_digit(char: str) -> bool:
    return category(char) == "Nd"


def _token_part(char: str) -> bool:
    return category(char)[0] in "LMN"


def _together(left: str, right: str) -> bool:
    if category(right)[0] == "M" or (category(left)[0] == "N" and category(right)[0] == "N"):
        return True
    return not any(low <= char <= high for char in (left, right) for low, high in _UNSPACED)
