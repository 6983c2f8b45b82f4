"""Where sentences begin and end, in Latin, CJK, Arabic, Indic and Thai text.

A sentence ends
* at a blank line, before and after a heading line (``#``), before a list item, and at the end of the text;
* after ``。！？؟۔।`` and other stops of which no script makes abbreviations, with the closing quotes and
  brackets that follow; a full-width full stop between two digits is none;
* after ``.``, ``!``, ``?``, ``…`` with closing quotes and brackets (also set off by a space, as
  tokenized texts have them), when white space follows and what comes then is no lower-case letter;
* but not after a full stop behind an abbreviation, an initial, dotted letters or the number of a list
  item. Where such an abbreviation may end a sentence (``etc.``, ``U.S.``), it does before a word that
  often begins one (``capsules.sentence_words``). The letter of a unit after a number is no initial
  (``3.8 m. Red``); capitals are (``in 2001 F. Lee``), and so are letters of dates (``100 a. C.``);
* in Thai, which writes no full stop, at white space between two Thai characters.

Spans are trimmed of white space, never empty, and together hold all text that is not white space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from heapq import merge
from itertools import chain

from capsules.sentence_words import BEFORE_NUMBER, MAY_END, NEVER_ENDS, STARTERS
from capsules.unicode_tables import WHITE_SPACE, category

_CLOSERS = "'”’»›)\\]}）］】〉》」』〕"
_OPENERS = "\"'“‘«‹([{（［【〈《「『〔¿¡*_"
_HARD = "。｡！？؟۔।॥։።፧។៕༎．"
_SOFT = ".!?…"
_STOP = re.compile(
    rf"(?P<hard>[{_HARD}][{_HARD}{_SOFT}]*[{_CLOSERS}]*)(?P<quote>\"?)"
    rf"|(?P<soft>[{_SOFT}][{_HARD}{_SOFT}]*)[{_CLOSERS}\"]*(?:[{WHITE_SPACE}](?:''|[)\]”’»])+(?=[{WHITE_SPACE}]|\Z))*"
    rf"(?=[{WHITE_SPACE}]|\Z)"
)
_THAI_GAP = re.compile(rf"(?<=[\u0e01-\u0e2e\u0e30-\u0e45\u0e47-\u0e5b])[{WHITE_SPACE}]+(?=[\u0e01-\u0e5b])")
_HEADING = re.compile(rf"[{WHITE_SPACE}]*#{{1,6}}[{WHITE_SPACE}]")
_ITEM = re.compile(rf"[{WHITE_SPACE}]*(?:[-*+•‣◦–—]|\d{{1,3}}[.)]|[A-Za-z]\))[{WHITE_SPACE}]")
_TOKEN_EDGE = re.compile(f"[{re.escape(WHITE_SPACE + _OPENERS)}]")
_SKIPPED = frozenset(WHITE_SPACE + _OPENERS)
_WORD = re.compile(r"[^\W\d_]+")
_LIST_NUMBER = re.compile(rf"[{WHITE_SPACE}]*(?:\d{{1,3}}|[A-Za-z])\Z")
_DOTTED_LETTERS = re.compile(r"(?:[^\W\d_][.\-]+)*[^\W\d_]\Z")
_UNIT = re.compile(rf"\d[{WHITE_SPACE}]+[ghmst]\Z")
_LONGEST_TOKEN = 40  # longer tokens are no abbreviations


def split_sentences(text: str, lang: str | None = None) -> list[tuple[int, int]]:
    """The sentences of ``text`` as half-open ranges of code points.

    Args:
        text: Any text.
        lang: A language tag. White space between Thai characters counts unless this names another
            language than Thai; all other rules follow from the script.
    """
    return list(iter_sentences(text, lang))


def iter_sentences(text: str, lang: str | None = None) -> Iterator[tuple[int, int]]:
    """The same as :func:`split_sentences`, one by one: the text is read as far as sentences are taken."""
    thai = lang is None or lang.lower().split("-")[0] == "th"
    for start, end in _blocks(text):
        cuts = _stops(text, start, end)
        if thai:
            cuts = merge(cuts, (gap.start() for gap in _THAI_GAP.finditer(text, start, end)))
        begin = start
        for cut in chain(cuts, (end,)):
            sentence = text[begin:cut].lstrip(WHITE_SPACE)
            first = cut - len(sentence)
            sentence = sentence.rstrip(WHITE_SPACE)
            if sentence:
                yield first, first + len(sentence)
            begin = cut


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Stretches that no sentence crosses."""
    start = position = 0
    for line in text.splitlines(keepends=True):
        heading = _HEADING.match(line) is not None
        if (heading or not line.strip(WHITE_SPACE) or _ITEM.match(line)) and start < position:
            yield start, position
            start = position
        position += len(line)
        if heading:
            yield start, position
            start = position
    if start < position:
        yield start, position


def _stops(text: str, start: int, end: int) -> Iterator[int]:
    """Positions after the stops that end a sentence."""
    begin = start
    for stop in _STOP.finditer(text, start, end):
        if stop["soft"]:
            cut = stop.end() if _soft_ends(text, begin, stop, end) else None
        else:
            cut = _hard_end(text, begin, stop)
        if cut is not None:
            yield cut
            begin = cut


def _hard_end(text: str, begin: int, stop: re.Match[str]) -> int | None:
    if (
        stop["hard"] == "．"
        and text[begin : stop.start()][-1:].isdigit()
        and text[stop.end() :][:1].isdigit()
    ):
        return None
    closes = text.count('"', begin, stop.start()) % 2 == 1
    return stop.end() if closes else stop.end("hard")


def _soft_ends(text: str, begin: int, stop: re.Match[str], end: int) -> bool:
    following = stop.end()
    while following < end and text[following] in _SKIPPED:
        following += 1
    if following == end:
        return True
    if category(text[following]) == "Ll":
        return False
    before = text[max(begin, stop.start() - _LONGEST_TOKEN) : stop.start()]
    return stop["soft"] != "." or not _abbreviates(before, text, following, end)


def _abbreviates(before: str, text: str, following: int, end: int) -> bool:
    """Whether a full stop after ``before`` and followed by what stands at ``following`` ends no sentence."""
    token = _TOKEN_EDGE.split(before)[-1].lower()
    if token in NEVER_ENDS or _LIST_NUMBER.match(before):
        return True
    if token in BEFORE_NUMBER:
        return text[following].isdigit()
    if _UNIT.search(before):
        return False
    if token not in MAY_END and not _DOTTED_LETTERS.match(token):
        return False
    word = _WORD.match(text, following, end)
    return not (word and word.group().lower() in STARTERS and text[word.end() : word.end() + 1] != ".")
