"""Where sentences begin and end, in Latin, CJK, Arabic, Indic and Thai text.

A sentence ends
* at a blank line, at the end of a line that a list item or heading follows, and at the end of the text;
* after ``。！？｡`` and other stops that no script uses inside a word, with closing quotes and brackets;
* after ``.``, ``!``, ``?``, ``…`` with closing quotes and brackets, when white space follows and what
  comes then is no lower-case letter. A full stop after an abbreviation, an initial or the number of a list
  item ends no sentence; after an abbreviation that may end one (``etc.``, ``U.S.``), it does before a
  word that often begins one;
* in Thai, at white space between two Thai characters (Thai writes no full stop).

Spans are trimmed of white space, never empty, and together hold all text that is not white space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from capsules.sentence_words import MAY_END, NEVER_ENDS, STARTERS
from capsules.unicode_tables import WHITE_SPACE, category

_SPACE = f"[{WHITE_SPACE}]"
_CLOSERS = "\"'”’»›)\\]}）］】〉》」』〕"
_OPENERS = "\"'“‘«‹(\\[{（［【〈《「『〔¿¡*_"
# Stops that end a sentence whatever follows.
_HARD = "。｡！？؟۔।॥։።፧።។៕။༎"
_SOFT = ".!?…"
_BLANK_LINE = re.compile(rf"\n[{WHITE_SPACE}]*\n|[\u2029\x0c]")
_NEW_ITEM = re.compile(rf"\n(?={_SPACE}*(?:[-*•‣◦–—]|#{{1,6}}|\d{{1,3}}[.)]|[a-z]\)){_SPACE})")
_THAI_GAP = re.compile(r"(?<=[\u0e01-\u0e45\u0e47-\u0e5b])[ \u00a0\u200b]+(?=[\u0e01-\u0e5b])")
_STOP = re.compile(
    rf"(?P<hard>[{_HARD}．]+[{_HARD}{_SOFT}．]*[{_CLOSERS}]*)|(?P<soft>[{_SOFT}]+[{_HARD}{_SOFT}]*[{_CLOSERS}]*)(?={_SPACE})"
)
_BEFORE_STOP = re.compile(rf"[^{WHITE_SPACE}{_OPENERS}]*\Z")
_NEXT = re.compile(rf"[{WHITE_SPACE}{_OPENERS}]*")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_LIST_NUMBER = re.compile(rf"(?:\A|\n){_SPACE}*(?:\d{{1,3}}|[A-Za-z])\Z")
_INITIALS = re.compile(r"(?:[^\W\d_]\.?-?)*[^\W\d_]\Z")


def split_sentences(text: str, lang: str | None = None) -> list[tuple[int, int]]:
    """The sentences of ``text`` as half-open ranges of code points.

    Args:
        text: Any text.
        lang: A language tag. Only ``th`` changes anything: white space before a digit or a Latin
            letter that follows Thai ends a sentence, too. Everything else is told by the script.
    """
    spans = []
    for start, end in _blocks(text):
        begin = start
        for cut in sorted({*_stops(text, start, end), *_thai_gaps(text, start, end, lang), end}):
            span = _trimmed(text, begin, cut)
            if span:
                spans.append(span)
            begin = cut
    return spans
