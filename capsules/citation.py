"""Which sentence of an answer cites which sources.

* Sentences are those of the answer without its marks (``capsules.sentences``).
* A mark belongs to the sentence that it stands in or right behind, before or after the full stop. At the
  beginning of a line it belongs to what follows on that line; alone on a line, to what came before.
* Ids are known from ``base`` to ``base + sources - 1``; all others are kept apart as unknown.
* An answer of marks alone is one sentence without text, so that no citation is lost.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from operator import itemgetter

from capsules.citation_marks import MalformedMark, Mark, parse_marks
from capsules.sentences import split_sentences
from capsules.unicode_tables import WHITE_SPACE, category

_LINE_BREAKS = "\n\r\x0b\x0c\x85\u2028\u2029"
_INLINE_SPACE = "".join(char for char in WHITE_SPACE if char not in _LINE_BREAKS)
_OPENING = "\"'*_#-"


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedSentence:
    """A sentence of an answer and what it cites.

    Attributes:
        text: The sentence without its marks and the white space before them.
        start: First code point in the answer, marks included.
        end: The position after its last.
        cited: Known ids, distinct, in order of appearance.
        unknown: Ids that no source has, distinct, in order of appearance.
    """

    text: str
    start: int
    end: int
    cited: tuple[int, ...]
    unknown: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationReport:
    """The citations of one answer: sentences, number of marks, and what was malformed."""

    sentences: tuple[CitedSentence, ...]
    marks: int
    malformed: tuple[MalformedMark, ...]


def parse_citations(answer: str, sources: int, base: int = 1, lang: str | None = None) -> CitationReport:
    """Read the citation marks of an answer.

    Args:
        answer: The answer.
        sources: How many sources it may cite.
        base: The number of the first source.
        lang: Language tag for ``split_sentences``.
    """
    marks, malformed = parse_marks(answer)
    plain = _without_marks(answer, marks)
    leading = [_leads(plain.text, place) for place in plain.places]
    spans = _sentences(plain, leading, lang) or ([(0, 0)] if marks else [])
    owned: list[list[Mark]] = [[] for _ in spans]
    for mark, place, leads in zip(marks, plain.places, leading, strict=True):
        owned[_owner(spans, place, leads)].append(mark)
    known = range(base, base + sources)
    return CitationReport(
        sentences=tuple(_cited(plain, span, held, known) for span, held in zip(spans, owned, strict=True)),
        marks=len(marks),
        malformed=malformed,
    )


@dataclass(frozen=True, slots=True)
class _Plain:
    """An answer without its marks and the white space before them on their line.

    Attributes:
        text: What is left.
        places: For each mark, where it stood in ``text``.
        resumes: For each mark, where the answer goes on after it.
    """

    text: str
    places: tuple[int, ...]
    resumes: tuple[int, ...]

    def in_answer(self, position: int) -> int:
        """Where a code point of ``text`` stands in the answer."""
        part = bisect_right(self.places, position)
        return position if not part else self.resumes[part - 1] + position - self.places[part - 1]


def _without_marks(answer: str, marks: tuple[Mark, ...]) -> _Plain:
    parts: list[str] = []
    places: list[int] = []
    begin = size = 0
    for mark in marks:
        parts.append(answer[begin : mark.start].rstrip(_INLINE_SPACE))
        size += len(parts[-1])
        places.append(size)
        begin = mark.end
    parts.append(answer[begin:])
    return _Plain("".join(parts), tuple(places), tuple(mark.end for mark in marks))


def _leads(text: str, place: int) -> bool:
    """Whether a mark that stood there opens a line of which the text begins a sentence."""
    if place and text[place - 1] not in _LINE_BREAKS:
        return False
    while place < len(text) and text[place] in _INLINE_SPACE:
        place += 1
    if place == len(text):
        return False
    kind = category(text[place])
    return text[place] in _OPENING or kind in ("Ps", "Pi") or (kind[0] in "LN" and kind != "Ll")


def _sentences(plain: _Plain, leading: list[bool], lang: str | None) -> list[tuple[int, int]]:
    """Sentences of the plain text; a mark that leads a line begins a new one."""
    cuts = [place for place, leads in zip(plain.places, leading, strict=True) if leads]
    spans = []
    for start, end in zip([0, *cuts], [*cuts, len(plain.text)], strict=True):
        spans += [(start + low, start + high) for low, high in split_sentences(plain.text[start:end], lang)]
    return spans


def _owner(spans: list[tuple[int, int]], place: int, leads: bool) -> int:
    """Which sentence a mark belongs to that stood at ``place``."""
    if leads:
        return bisect_left(spans, (place, place))
    owner = bisect_right(spans, place, key=itemgetter(0)) - 1
    right_behind = owner > 0 and spans[owner][0] == place == spans[owner - 1][1]
    return max(owner - right_behind, 0)


def _cited(plain: _Plain, span: tuple[int, int], marks: list[Mark], known: range) -> CitedSentence:
    start, end = span
    ids = dict.fromkeys(number for mark in marks for number in mark.ids)
    starts = [mark.start for mark in marks]
    ends = [mark.end for mark in marks]
    if start < end:
        starts.append(plain.in_answer(start))
        ends.append(plain.in_answer(end - 1) + 1)
    return CitedSentence(
        text=plain.text[start:end],
        start=min(starts),
        end=max(ends),
        cited=tuple(number for number in ids if number in known),
        unknown=tuple(number for number in ids if number not in known),
    )
