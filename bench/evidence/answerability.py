"""Whether evidence can answer a question, judged without gold by the terms and the time that it holds.

Rules that this module owns:

* *Coverage* is the mean of two shares of the question's content terms: those in the sentence that holds
  the most, and those in all sentences together. A question without content terms has coverage 0.
* A question that names years has a *time scope*, from its first year to its last. *Time* is the mean of
  two shares: the ends of the scope that some sentence names, and whether any sentence names a year inside
  it (0 or 1).
* The score is coverage, or the mean of coverage and time where there is a time scope; in basis points. It
  is a score and no probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.evidence.facts import Day, Facts, content_terms, facts_of

_WHOLE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerability:
    """What the evidence holds of a question.

    Attributes:
        coverage_bp, time_bp: The two parts of the score; ``time_bp`` is ``None`` without a time scope.
        missing: Content terms that no sentence holds, sorted.
        scope: First and last year that the question names, or ``None``.
        in_scope: Whether a sentence names a year of the scope; ``None`` without one.
    """

    score_bp: int
    coverage_bp: int
    time_bp: int | None
    missing: tuple[str, ...]
    scope: tuple[int, int] | None
    in_scope: bool | None


def assess(question: str, sentences: Sequence[str]) -> Answerability:
    """Judge sentences as the evidence for a question."""
    wanted = content_terms(question)
    facts = [facts_of(sentence) for sentence in sentences]
    held: set[str] = set().union(*(wanted & one.terms for one in facts))
    best = max((len(wanted & one.terms) for one in facts), default=0)
    coverage = (best + len(held)) * _WHOLE // (2 * len(wanted)) if wanted else 0
    years = _years(facts_of(question))
    named = {year for one in facts for year in _years(one)}
    time, inside = _time(years, named) if years else (None, None)
    return Answerability(
        score_bp=coverage if time is None else (coverage + time) // 2,
        coverage_bp=coverage,
        time_bp=time,
        missing=tuple(sorted(wanted - held)),
        scope=(min(years), max(years)) if years else None,
        in_scope=inside,
    )


def _time(years: set[int], named: set[int]) -> tuple[int, bool]:
    """How far the named years speak for a scope, and whether one lies inside it."""
    ends = {min(years), max(years)}
    inside = any(min(years) <= year <= max(years) for year in named)
    return (len(ends & named) * _WHOLE // len(ends) + inside * _WHOLE) // 2, inside


def _years(facts: Facts) -> set[int]:
    return {
        one.value.year for one in facts.dates if isinstance(one.value, Day) and one.value.year is not None
    }
