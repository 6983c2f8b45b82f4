"""A detector of contradictions between two sentences, by rule: no label, no gold, no model.

Rules that this module owns:

* Two sentences are *similar* if they share at least two content terms, and these are at least
  ``similarity_bp`` of the content terms of the one that has fewer. Only similar sentences are compared,
  by any detector.
* The first of the following that holds gives the kind.
* ``date``: each side has a date that no date of the other agrees with, these two differ in a part that
  both know, and they stand beside a shared term.
* ``numeric``: the same for numbers; where both have a unit, it is the same.
* ``negation``: a shared term is denied on one side alone; or the sides use opposite words (polarity).

What has none of these (another name in the same sentence, say) is not seen. The lists of words are English.
``rule_named`` is the same for pairs that may speak of one thing: where each side has a name that the
other has not, it finds nothing. It misses more and is wrong less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bench.evidence.facts import Day, Facts, Placed, facts_of, same_value
from bench.evidence.words import OPPOSITES

NUMERIC, DATE, NEGATION, LABELLED = "numeric", "date", "negation", "labelled"
KINDS = (NUMERIC, DATE, NEGATION, LABELLED)
SHARED_TERMS = 2

# Kind, or None, for each pair of similar sentences.
Detector = Callable[[Sequence[tuple[str, str]]], Sequence[str | None]]


def detect(left: str, right: str) -> str | None:
    """The kind of contradiction between two similar sentences, or ``None``."""
    first, second = facts_of(left), facts_of(right)
    shared = first.terms & second.terms
    if _conflict(first.dates, second.dates, shared):
        return DATE
    if _conflict(first.numbers, second.numbers, shared):
        return NUMERIC
    if _negation(first, second, shared) or _polarity(first, second):
        return NEGATION
    return None


def rule_detector(pairs: Sequence[tuple[str, str]]) -> list[str | None]:
    """The detector ``rule``: :func:`detect` for each pair."""
    return [detect(left, right) for left, right in pairs]


def named_detector(pairs: Sequence[tuple[str, str]]) -> list[str | None]:
    """The detector ``rule_named``: :func:`detect` for each pair whose names do not tell it apart."""
    return [
        None if _named_apart(facts_of(left), facts_of(right)) else detect(left, right)
        for left, right in pairs
    ]


def similar(left: str, right: str, similarity_bp: int) -> bool:
    """Whether two sentences are about the same thing, as far as their terms tell."""
    first, second = facts_of(left), facts_of(right)
    shared = len(first.terms & second.terms)
    shorter = min(len(first.terms), len(second.terms))
    return shared >= SHARED_TERMS and shared * 10_000 >= similarity_bp * shorter


def _conflict(first: Sequence[Placed], second: Sequence[Placed], shared: frozenset[str]) -> bool:
    mine = [one for one in first if not any(same_value(one.value, other.value) for other in second)]
    theirs = [one for one in second if not any(same_value(one.value, other.value) for other in first)]
    return any(
        _differ(a.value, b.value)
        and (a.unit is None or b.unit is None or a.unit == b.unit)
        and not shared.isdisjoint(a.around & b.around)
        for a in mine
        for b in theirs
    )


def _differ(left: str | Day, right: str | Day) -> bool:
    if isinstance(left, Day) and isinstance(right, Day):
        return left.differs(right)
    return left != right


def _named_apart(first: Facts, second: Facts) -> bool:
    return bool(first.names - second.names and second.names - first.names)


def _negation(first: Facts, second: Facts, shared: frozenset[str]) -> bool:
    return not shared.isdisjoint(first.denied ^ second.denied)


def _polarity(first: Facts, second: Facts) -> bool:
    return any(
        _apart(first.words, second.words, left, right) or _apart(first.words, second.words, right, left)
        for left, right in OPPOSITES
    )


def _apart(first: Iterable[str], second: Iterable[str], left: frozenset[str], right: frozenset[str]) -> bool:
    mine, theirs = set(first), set(second)
    return bool(mine & left and theirs & right) and not (mine & right or theirs & left)
