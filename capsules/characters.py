"""Which code points a string may hold: all but surrogates and noncharacters.

Surrogates (U+D800 to U+DFFF) are halves of UTF-16 and have no UTF-8 form. Noncharacters (U+FDD0 to
U+FDEF and the last two of each of the 17 planes) are for internal use only; readers in other
languages drop or replace them, so a quote that holds one cannot stay exact. Every other code point,
assigned or not, passes unchanged: strings are verbatim.
"""

from __future__ import annotations

import re

_ENDS = "".join(chr(plane << 16 | 0xFFFE) + chr(plane << 16 | 0xFFFF) for plane in range(17))
_REFUSED = re.compile(f"[\ud800-\udfff\ufdd0-\ufdef{_ENDS}]")
_SURROGATE_BYTES = re.compile(b"\xed[\xa0-\xbf]")


def may_hold_refused(data: bytes) -> bool:
    """Whether UTF-8 bytes (surrogates passed) may hold a refused code point; never wrong when it says no.

    The last two code points of a plane end in the bytes BF BE or BF BF, U+FDD0 to U+FDEF begin with
    EF B7, surrogates with ED and A0 to BF. Four searches in C instead of a class of 98 characters.
    """
    return (
        b"\xbf\xbe" in data
        or b"\xbf\xbf" in data
        or b"\xef\xb7" in data
        or (b"\xed" in data and _SURROGATE_BYTES.search(data) is not None)
    )


def refused_character(text: str) -> str | None:
    """The code of the first refused code point in ``text``, or ``None`` if it is clean."""
    if text.isascii() or not may_hold_refused(text.encode("utf-8", "surrogatepass")):
        return None
    first = _REFUSED.search(text)
    if first is None:
        return None
    return "json.string.surrogate" if "\ud800" <= first.group() <= "\udfff" else "json.string.noncharacter"


def refused_position(text: str) -> int:
    """The index of the first refused code point in ``text``, or -1."""
    first = _REFUSED.search(text)
    return first.start() if first else -1
