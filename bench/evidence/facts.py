"""What a sentence states, as far as a rule can see it: terms, numbers, dates, negations.

Rules that this module owns:

* A date is a year from 1000 to 2199 with a month and a day where they stand beside it; a month with a
  day, or behind a preposition, is one without a year. What is no date and has digits, or is a number
  word, is a number.
* A number is compared by value (``3,559`` is ``3559``; ``2.0`` is ``2``), knows the terms around it, and
  its *unit*: the word right behind it, without a final s, where that is a content term.
* A negation knows the terms behind it: its scope.
* A name is a word of two letters or more that begins with a capital, but for stop words and months.
* Content terms are the search terms without stop words, numbers, months and negations.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from bench.evidence.words import MONTHS, NEGATIONS, NUMBER_WORDS, STOP_WORDS
from bench.retrieval.terms import terms

_AROUND = 4  # terms on each side of a number or date that say what it measures
_SCOPE = 4  # terms behind a negation that it denies

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR = r"(?:1\d{3}|2[01]\d{2})"
_DATE = re.compile(
    rf"(?<![\w.,-])(?P<iso>{_YEAR}-\d{{2}}-\d{{2}})(?!\d)"
    rf"|\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<m1>{_MONTH})\b\.?(?: ?,? (?P<y1>{_YEAR})(?!\d))?"
    rf"|\b(?P<m2>{_MONTH})\b\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?! ?%)(?: ?,? (?P<y2>{_YEAR})(?!\d))?"
    rf"|\b(?P<m3>{_MONTH})\b\.? ?,? (?:of )?(?P<y3>{_YEAR})(?!\d)"
    rf"|\b(?:in|since|until|on|during|of) (?P<m4>{_MONTH})\b(?!\.? ?,? ?(?:of )?\d)"
    rf"|(?<![\w.,$£€-])(?P<y5>{_YEAR})(?![\w%]|[.,]\d)"
)
_NUMBER = re.compile(r"(?<![\w.])(?!\d+s\b)\d+(?:,\d{3})*(?:\.\d+)?|\b(?:" + "|".join(NUMBER_WORDS) + r")\b")
_WORD = re.compile(r"\S+")
_LETTERS = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A date with what is known of it."""

    year: int | None
    month: int | None = None
    day: int | None = None

    def differs(self, other: Day) -> bool:
        """Whether a part that both know is not the same."""
        mine, theirs = (self.year, self.month, self.day), (other.year, other.month, other.day)
        return any(a is not None and b is not None and a != b for a, b in zip(mine, theirs, strict=True))

    def agrees(self, other: Day) -> bool:
        """Whether some part is known to both and none differs."""
        mine, theirs = (self.year, self.month, self.day), (other.year, other.month, other.day)
        return not self.differs(other) and any(
            a is not None and b is not None for a, b in zip(mine, theirs, strict=True)
        )


def same_value(left: str | Day, right: str | Day) -> bool:
    """Whether two numbers are equal, or two dates agree; a number and a date never are."""
    if isinstance(left, Day) and isinstance(right, Day):
        return left.agrees(right)
    return left == right


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A number or a date with the content terms around it; a date has no unit."""

    value: str | Day
    around: frozenset[str]
    unit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a sentence states.

    Attributes:
        terms: Content terms.
        words: All search terms, for opposites.
        denied: Content terms in the scope of a negation.
        negated: Whether there is a negation at all.
        names: Names, case folded.
    """

    terms: frozenset[str]
    words: frozenset[str]
    numbers: tuple[Placed, ...]
    dates: tuple[Placed, ...]
    denied: frozenset[str]
    negated: bool
    names: frozenset[str]


@lru_cache(maxsize=8192)
def facts_of(text: str) -> Facts:
    """The facts of a sentence."""
    plain = unicodedata.normalize("NFKC", text)
    folded = plain.casefold().replace("\u2019", "'")
    dates = list(_DATE.finditer(folded))
    without = folded
    for match in dates:
        without = without[: match.start()] + " " * (match.end() - match.start()) + without[match.end() :]
    numbers = list(_NUMBER.finditer(without))
    words = terms(folded)
    return Facts(
        terms=content_terms(without),
        words=frozenset(words),
        numbers=tuple(
            Placed(
                value=_value(m[0]), around=_around(without, m.start(), m.end()), unit=_unit(without, m.end())
            )
            for m in numbers
        ),
        dates=tuple(Placed(value=_day(m), around=_around(without, m.start(), m.end())) for m in dates),
        denied=_denied(folded),
        negated=not NEGATIONS.isdisjoint(words),
        names=frozenset(
            name
            for word in _LETTERS.findall(plain)
            if word[0].isupper() and (name := word.casefold()) not in STOP_WORDS and name not in MONTHS
        ),
    )


@lru_cache(maxsize=16_384)
def content_terms(text: str) -> frozenset[str]:
    """The terms of a text that say what it is about."""
    return frozenset(_content(terms(text)))


def _content(found: tuple[str, ...]) -> list[str]:
    return [
        term
        for term in found
        if term not in STOP_WORDS
        and term not in NEGATIONS
        and term not in NUMBER_WORDS
        and not term[0].isdigit()
        and (term not in MONTHS or term in ("may", "march"))
    ]


def _value(digits: str) -> str:
    plain = NUMBER_WORDS.get(digits, digits).replace(",", "")
    whole, point, part = plain.partition(".")
    part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if point and part else "")


def _day(match: re.Match[str]) -> Day:
    if match["iso"]:
        year, month, day = match["iso"].split("-")
        return Day(year=int(year), month=int(month), day=int(day))
    for d, m, y in (("d1", "m1", "y1"), ("d2", "m2", "y2"), (None, "m3", "y3"), (None, "m4", None)):
        if match[m]:
            year, day = (match[y] if y else None), (match[d] if d else None)
            return Day(
                year=int(year) if year else None, month=MONTHS[match[m]], day=int(day) if day else None
            )
    return Day(year=int(match["y5"]))


def _around(text: str, start: int, end: int) -> frozenset[str]:
    before = _content(tuple(t for w in _WORD.findall(text[:start])[-2 * _AROUND :] for t in terms(w)))
    after = _content(tuple(t for w in _WORD.findall(text[end:])[: 2 * _AROUND] for t in terms(w)))
    return frozenset(before[-_AROUND:] + after[:_AROUND])


def _unit(text: str, end: int) -> str | None:
    behind = _WORD.match(text[end:].lstrip(" -"))
    found = _content(terms(behind[0])) if behind else []
    return found[0].removesuffix("s") if found else None


def _denied(text: str) -> frozenset[str]:
    found: set[str] = set()
    words = [term for word in _WORD.findall(text) for term in terms(word)]
    for place, word in enumerate(words):
        if word in NEGATIONS:
            found.update(_content(tuple(words[place + 1 :]))[:_SCOPE])
    return frozenset(found)
