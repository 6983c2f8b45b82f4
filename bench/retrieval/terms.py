"""Search terms of any script.

Rules: NFKC and case folding (for search only, never for identity); a word is a run of letters,
digits and combining marks, so Arabic and Devanagari words stay whole; in scripts that write no
spaces between words (Han, kana, Thai, Lao, Khmer, Burmese) a run gives its overlapping pairs of
characters, or its only character.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc\u09be-\u09cd\u09d7"
    "\u0a01-\u0a03\u0a3c-\u0a4d\u0a70\u0a71\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57"
    "\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d"
    "\u0d57\u0d81-\u0d83\u0dca-\u0ddf\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_UNSPACED = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9fe\uaa60-\uaa7f\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|(?:(?![{_UNSPACED}])[^\W_]|[{_MARKS}])+")


@lru_cache(maxsize=16_384)
def terms(text: str) -> tuple[str, ...]:
    """The terms of a text, in order, repetitions kept."""
    found: list[str] = []
    for match in _RUN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        run = match[0]
        if match["unspaced"] and len(run) > 1:
            found += (run[i : i + 2] for i in range(len(run) - 1))
        else:
            found.append(run)
    return tuple(found)
