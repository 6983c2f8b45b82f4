r"""Character tables of the normalizations, pinned to one version of Unicode.

The running Python brings a Unicode database of its own (14.0 with 3.11, 15.0 with 3.12, 15.1 with
3.13). A normalization must not depend on it, so everything here is as Unicode 14.0.0 says:

* A code point that Unicode 14.0 does not assign has category ``Cn`` and is inert: NFC neither moves
  nor changes it and nothing composes across it, also on a Python that knows it. Unicode promises
  that characters once assigned keep their decomposition and combining class, so nothing else differs.
* ``WHITE_SPACE`` is the 25 code points with the property White_Space. ``str.isspace`` and ``\s``
  add U+001C to U+001F and are never used.
* ``COMPAT`` maps a character to its decomposition, one step (and one more where that gives a
  character of the table: U+FBDD is U+0677 is U+06C7 U+0674), when the decomposition's tag is
  ``<wide>``, ``<narrow>`` (width forms), ``<isolated>``, ``<initial>``, ``<medial>`` or ``<final>``
  (presentation forms), or ``<compat>`` where a letter stands for two or more letters (ligatures and
  digraphs: U+FB01, U+0132, U+01C4, U+0587, U+FB4F ...). All other tags stay as they are: ``<super>``,
  ``<sub>``, ``<fraction>``, ``<circle>``, ``<square>``, ``<font>``, ``<vertical>``, ``<small>``,
  ``<noBreak>``; so do single letters with ``<compat>`` (long s, micro sign) and Roman numerals.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

UNICODE_VERSION = "14.0.0"

WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
DROPPED = "\u00ad\u200b\u2060\ufeff"
PUNCTUATION: Mapping[str, str] = MappingProxyType(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2010": "-", "\u2011": "-"}
)

# Combining class other than 0, or second in a canonical composition, or decomposing to such: what
# stands before one of these can change it, or be changed by it, under NFC.
_JOINING = (
    "300-34E 350-36F 483-487 591-5BD 5BF 5C1-5C2 5C4-5C5 5C7 610-61A 64B-65F 670 6D6-6DC 6DF-6E4 6E7-6E8 "
    "6EA-6ED 711 730-74A 7EB-7F3 7FD 816-819 81B-823 825-827 829-82D 859-85B 898-89F 8CA-8E1 8E3-8FF 93C "
    "94D 951-954 9BC 9BE 9CD 9D7 9FE A3C A4D ABC ACD B3C B3E B4D B56-B57 BBE BCD BD7 C3C C4D C55-C56 CBC "
    "CC2 CCD CD5-CD6 D3B-D3C D3E D4D D57 DCA DCF DDF E38-E3A E48-E4B EB8-EBA EC8-ECB F18-F19 F35 F37 F39 "
    "F71-F75 F7A-F7D F80-F84 F86-F87 FC6 102E 1037 1039-103A 108D 1161-1175 11A8-11C2 135D-135F 1714-1715 "
    "1734 17D2 17DD 18A9 1939-193B 1A17-1A18 1A60 1A75-1A7C 1A7F 1AB0-1ABD 1ABF-1ACE 1B34-1B35 1B44 "
    "1B6B-1B73 1BAA-1BAB 1BE6 1BF2-1BF3 1C37 1CD0-1CD2 1CD4-1CE0 1CE2-1CE8 1CED 1CF4 1CF8-1CF9 1DC0-1DFF "
    "20D0-20DC 20E1 20E5-20F0 2CEF-2CF1 2D7F 2DE0-2DFF 302A-302F 3099-309A A66F A674-A67D A69E-A69F "
    "A6F0-A6F1 A806 A82C A8C4 A8E0-A8F1 A92B-A92D A953 A9B3 A9C0 AAB0 AAB2-AAB4 AAB7-AAB8 AABE-AABF AAC1 "
    "AAF6 ABED FB1E FE20-FE2F "
    # Beyond U+FFFF, where a character class is slow, whole stretches: to call a character joining that
    # is not only means to look more closely.
    "101FD 102E0 10376-1037A 10A0D-10A3F 10AE5-10AE6 10D24-10D27 10EAB-10EAC 10F46-10F85 11046-11D97 "
    "16AF0-16B36 16FF0-16FF1 1BC9E 1D15E-1D244 1E000-1E02A 1E130-1E136 1E2AE-1E2EF 1E8D0-1E8D6 1E944-1E94A"
)
# Characters of COMPAT whose replacement begins with a space or with a joining character.
_COMPAT_JOINING = " 3000 FC5E-FC63 FE70 FE72 FE74 FE76 FE78 FE7A FE7C FE7E FF9E-FF9F"
# Characters up to U+FFFF whose NFC is longer than one code point.
_EXPANDING = (
    " 958-95F 9DC-9DD 9DF A33 A36 A59-A5B A5E B5C-B5D F43 F4D F52 F57 F5C F69 F73 F75-F76 F78 F81 F93 F9D "
    "FA2 FA7 FAC FB9 2ADC FB1D FB1F FB2A-FB36 FB38-FB3C FB3E FB40-FB41 FB43-FB44 FB46-FB4E"
)
# Assigned by Unicode 15.0 and 15.1, the versions of Python 3.12 and 3.13.
_ASSIGNED_LATER = (
    "CF3 ECE 2FFC-2FFF 31EF 10EFD-10EFF 1123F-11241 11B00-11B09 11F00-11F10 11F12-11F3A 11F3E-11F59 "
    "1342F 13439-13455 1B132 1B155 1D2C0-1D2D3 1DF25-1DF2A 1E030-1E06D 1E08F 1E4D0-1E4F9 1F6DC "
    "1F774-1F776 1F77B-1F77F 1F7D9 1FA75-1FA77 1FA87-1FA88 1FAAD-1FAAF 1FABB-1FABD 1FABF 1FACE-1FACF "
    "1FADA-1FADB 1FAE8 1FAF7-1FAF8 2B739 2EBF0-2EE5D 31350-323AF"
)
# Every character of COMPAT lies in one of these.
_COMPAT_BLOCKS = "132-133 149 1C4-1CC 1F1-1F3 587 675-678 EDC-EDD 1E9A 3000 FB00-FEFC FF01-FFEE"
_FORM_TAGS = frozenset({"<wide>", "<narrow>", "<isolated>", "<initial>", "<medial>", "<final>"})

# CPython orders combining marks by insertion: quadratic in the length of a run of marks. Texts with
# longer runs than this are put in order before.
_LONG_RUN = 1024


def _ranges(spec: str) -> list[tuple[int, int]]:
    bounds = [part.split("-") for part in spec.split()]
    return [(int(part[0], 16), int(part[-1], 16)) for part in bounds]


def _charset(spec: str) -> str:
    """The ranges as the inside of a regular expression's character class."""
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in _ranges(spec))


@cache
def joining_pattern(*, compat: bool = False) -> re.Pattern[str]:
    """One character that NFC may join to what stands before it; with ``compat``, also after ``COMPAT``."""
    return re.compile(f"[{_charset(_JOINING + _COMPAT_JOINING if compat else _JOINING)}]")


@cache
def safe_pattern() -> re.Pattern[str]:
    """One character before which a text can be cut, so that every normalization is that of its halves."""
    unsafe = _charset(_JOINING + _COMPAT_JOINING) + re.escape(WHITE_SPACE + DROPPED)
    return re.compile(f"[^{unsafe}]")


@cache
def uneven_pattern(*, compat: bool, quote: bool) -> re.Pattern[str]:
    """Stretches in which raw and normalized code points may not correspond one to one.

    A stretch is at most one ordinary character and a run of characters that join, expand or are
    dropped, with the white space among them; or white space that becomes shorter.
    """
    odd = _charset(_JOINING + _EXPANDING + (_COMPAT_JOINING if compat else ""))
    if not quote:
        return re.compile(f"[^{odd}]?[{odd}]+|\r\n")
    odd += re.escape(DROPPED) + (
        "".join(c for c, to in compat_table().items() if len(to) > 1) if compat else ""
    )
    space = re.escape(WHITE_SPACE)
    return re.compile(f"[^{odd}{space}]?[{space}]*[{odd}][{odd}{space}]*|[{space}]{{2,}}")


@cache
def _later_pattern() -> re.Pattern[str]:
    return re.compile(f"([{_charset(_ASSIGNED_LATER)}]+)")


@cache
def _long_run_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_charset(_JOINING)}]{{{_LONG_RUN},}}")


@cache
def compat_table() -> Mapping[str, str]:
    """``COMPAT`` of the module's docstring: character to replacement."""
    table = {}
    for low, high in _ranges(_COMPAT_BLOCKS):
        for char in map(chr, range(low, high + 1)):
            tag, _, points = unicodedata.decomposition(char).partition(" ")
            target = "".join(chr(int(point, 16)) for point in points.split())
            if tag in _FORM_TAGS or (tag == "<compat>" and _is_ligature(char, target)):
                table[char] = target
    return MappingProxyType(
        {char: "".join(table.get(part, part) for part in target) for char, target in table.items()}
    )


def _is_ligature(char: str, target: str) -> bool:
    letters = [unicodedata.category(part)[0] == "L" for part in char + target]
    return len(target) >= 2 and all(letters)


def category(char: str) -> str:
    """The general category of a character in Unicode 14.0."""
    return "Cn" if _later_pattern().match(char) else unicodedata.category(char)


def has_unassigned(text: str) -> bool:
    """Whether ``text`` holds a code point that Unicode 14.0 does not assign."""
    return not text.isascii() and any(category(char) == "Cn" for char in set(text))


def nfc(text: str) -> str:
    """Normalization Form C by Unicode 14.0, in time linear in the text."""
    if unicodedata.is_normalized("NFC", text):
        return text  # under a later version too: a substring of an NFC text is NFC
    if len(text) > _LONG_RUN:
        text = _long_run_pattern().sub(_in_order, text)
    if _later_pattern().search(text) is None:
        return unicodedata.normalize("NFC", text)
    parts = _later_pattern().split(text)
    parts[::2] = [unicodedata.normalize("NFC", part) for part in parts[::2]]
    return "".join(parts)


def _in_order(run: re.Match[str]) -> str:
    """A run of marks in canonical order: canonically equivalent, so its NFC is the same."""
    ordered: list[str] = []
    pending: list[str] = []
    for char in (part for mark in run.group() for part in unicodedata.normalize("NFD", mark)):
        if unicodedata.combining(char):
            pending.append(char)
        else:
            ordered += [*sorted(pending, key=unicodedata.combining), char]
            pending.clear()
    return "".join(ordered + sorted(pending, key=unicodedata.combining))
