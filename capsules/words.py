"""Text cut into words, for what a lossy compressor may drop and for comparing what it kept.

Rules that this module owns:

* ``tokens`` cover a text without gaps: runs of white space, words, single marks.
* In scripts that are written without spaces (Han, kana, Thai, Lao, Burmese, Khmer) a word is one
  character with the marks that combine with it, so that a cut never splits one.
"""

from __future__ import annotations

import re

# Code point ranges of scripts without spaces between words.
_SPACELESS = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
# Marks of those scripts that join the character before them.
_JOINING = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3\u3099\u309a"
)

SPACELESS = re.compile(f"[{_SPACELESS}]")
_TOKEN = re.compile(rf"\s+|[{_SPACELESS}][{_JOINING}]*|[^\W{_SPACELESS}]+|[^\w\s]")
_UNIT = re.compile(rf"\s*(?:[{_SPACELESS}][{_JOINING}]*|[^\s{_SPACELESS}]+)|\s+\Z")


def tokens(text: str) -> list[str]:
    """White space, words and marks, in order; joined they are the text."""
    return _TOKEN.findall(text)


def units(text: str) -> list[str]:
    """What can be dropped at once: a word with its marks and the white space before it."""
    return _UNIT.findall(text)
