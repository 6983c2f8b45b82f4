"""Citation marks: one grammar, with a parser and a renderer.

    mark      = "[" list "]" | "[[" list "]]" | "[^" list "]" | "^[" list "]" | "^" list "^"
              | "【" list [ "†" anything ] "】"       each "[" "]" also full-width
    list      = item { separator item }             separator: , ; and their full-width and CJK forms
    item      = number [ dash number ]              dash: - ‐ ‑ ‒ – — − and full-width -
    number    = 1 to 9 digits: ASCII, full-width, Arabic, Persian, Devanagari, Bengali or Thai

Up to four spaces may stand between the parts, no line end. A link target right behind a mark,
``[1](https://...)``, belongs to it. No mark: anything in code (``capsules.code_ranges``), and the label
of a footnote's definition (``[^1]: `` at the beginning of a line).

Malformed, reported with text and place and never dropped in silence: a mark with a range that runs
backwards or holds more than 100 numbers; brackets that hold only digits and signs but no list
(``[1.2]``, ``[-1]``, ``【4:0†source】``), or a word for a source and a number (``[Source 1]``); an
opening bracket with numbers that the line never closes.

``render_marks`` writes ``[1][2]``; parsing what it wrote gives the ids back, in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from capsules.code_ranges import code_ranges

WIDEST_RANGE = 100

_DIGIT = "0-9０-９٠-٩۰-۹०-९০-৯๐-๙"
_DASH = "\\-‐‑‒–—−－"
_SEPARATOR = ",;，；、،؛"
_NUMBER = f"[{_DIGIT}]{{1,9}}"
_SPACE = " \t\u00a0\u2009\u202f\u3000"
_GAP = f"[{_SPACE}]{{0,4}}"
_ITEM = f"{_NUMBER}(?:{_GAP}[{_DASH}]{_GAP}{_NUMBER})?"
_LIST = f"{_GAP}{_ITEM}(?:{_GAP}[{_SEPARATOR}]{_GAP}{_ITEM})*{_GAP}"
_SIGNS = f"{_DASH}{_SEPARATOR}:.…#^*/+{_SPACE}"
_SOURCE_WORD = (
    "(?:sources?|src|docs?|documents?|ref(?:erence)?s?|cit(?:e|ation)s?"
    "|passages?|chunks?|quotes?|ids?|notes?)"
)
_FORMS = re.compile(
    rf"""
      (?P<mark>
          (?P<definition>^[ \t]*\[\^{_LIST}\]:)
        | \[\[(?P<doubled>{_LIST})\]\]
        | \^?[\[［]{_GAP}\^?(?P<square>{_LIST})[\]］]
        | 【(?P<lenticular>{_LIST})(?:†[^】\n]{{0,200}})?】
        | \^(?P<caret>{_LIST})\^
      )(?P<target>\((?:https?://|\#)[^()\s]{{0,2000}}\))?
    | (?P<malformed>
          [\[［【](?:[{_SIGNS}]{{0,40}}[{_DIGIT}][{_DIGIT}{_SIGNS}]{{0,200}}(?:†[^】\n]{{0,200}})?
                   |{_GAP}{_SOURCE_WORD}[{_SIGNS}]{{0,9}}[{_DIGIT}][^\[\]［］【】\n]{{0,200}})[\]］】]
        | [\[［【]{_GAP}\^?[{_DIGIT}][{_DIGIT}{_DASH}{_SEPARATOR} \t]{{0,200}}(?=\r?$)
      )
    """,
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
_RANGE = re.compile(f"({_NUMBER})(?:{_GAP}[{_DASH}]{_GAP}({_NUMBER}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One citation mark: ``text[start:end]`` cites ``ids``, in order, repetitions kept."""

    ids: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MalformedMark:
    """Something that looks like a mark and is none."""

    text: str
    start: int


def parse_marks(text: str) -> tuple[tuple[Mark, ...], tuple[MalformedMark, ...]]:
    """All marks of a text, and what looks like one."""
    marks: list[Mark] = []
    malformed: list[MalformedMark] = []
    for form in _outside_code(text):
        if form["definition"]:
            continue
        ids = None if form["malformed"] else _ids(next(filter(None, form.group(*_LISTS))))
        if ids is None:
            malformed.append(MalformedMark(text=form.group(), start=form.start()))
        else:
            marks.append(Mark(ids=ids, start=form.start(), end=form.end()))
    return tuple(marks), tuple(malformed)


_LISTS = ("doubled", "square", "lenticular", "caret")


def render_marks(ids: Sequence[int]) -> str:
    """The marks that cite ``ids`` in order: ``[1][2]``.

    Raises:
        ValueError: An id is negative or has more than nine digits.
    """
    for number in ids:
        if not 0 <= number < 10**9:
            raise ValueError(f"expected ids from 0 to 999999999, found {number}")
    return "".join(f"[{number}]" for number in ids)


def _outside_code(text: str) -> Iterator[re.Match[str]]:
    position = 0
    for start, end in [*code_ranges(text), (len(text), len(text))]:
        yield from _FORMS.finditer(text, position, start)
        position = end


def _ids(listed: str) -> tuple[int, ...] | None:
    """The ids of a list, or ``None`` if one of its ranges is reversed or too wide."""
    ids: list[int] = []
    for first, last in _RANGE.findall(listed):
        low, high = int(first), int(last or first)
        if not low <= high < low + WIDEST_RANGE:
            return None
        ids.extend(range(low, high + 1))
    return tuple(ids)
