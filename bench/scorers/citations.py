"""Scores of the quotes in one answer: exactness, uniqueness, the right source, the answer's text.

Rules of this module:

* The denominator is every attempted quote. An answer without one is undefined, never 1 and never 0
  here: its headline counts 0.
* ``code`` of a score tells the first reason, in reading order, why a quote did not count.
* ``answer_in_quote`` compares under quote/1; case is kept, so that "US" is not found in "us".
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.metrics.answers import EMPTY, NO_QUOTE
from bench.scorers.base import Case, Score, Scorer, ok, undefined
from bench.scorers.judge import JudgedQuote
from capsules.normalization import normalize

METRICS = ("exact_citation", "exact_unique", "answer_in_quote", "right_source")


def _score(case: Case) -> tuple[Score, ...]:
    text = case.sent.response.text
    quotes = case.judge.answer(text, case.build.shown, case.contract)
    if not quotes:
        code = NO_QUOTE if text.strip() else EMPTY
        return tuple(undefined(metric, code) for metric in METRICS)
    return (
        _share("exact_citation", quotes, [q.exact for q in quotes]),
        _share("exact_unique", quotes, [q.exact and not q.ambiguous for q in quotes]),
        _answer_in_quote(case, quotes),
        _right_source(case, quotes),
    )


def _share(metric: str, quotes: Sequence[JudgedQuote], hits: Sequence[bool]) -> Score:
    reason = next((q.reason for q, hit in zip(quotes, hits, strict=True) if not hit), None)
    return ok(metric, sum(hits) / len(hits), reason)


def _answer_in_quote(case: Case, quotes: Sequence[JudgedQuote]) -> Score:
    wanted = [folded for answer in case.sample.answers if (folded := fold(answer))]
    if not wanted:
        return undefined("answer_in_quote", "gold.no_answers")
    shown = [fold(quote.text) for quote in quotes]
    return ok("answer_in_quote", any(answer in quote for answer in wanted for quote in shown))


def _right_source(case: Case, quotes: Sequence[JudgedQuote]) -> Score:
    gold = {source for source, _, _ in case.sample.gold_spans}
    if not gold:
        return undefined("right_source", "gold.no_spans")
    return _share("right_source", quotes, [q.source in gold for q in quotes])


def fold(text: str) -> str:
    """``text`` as quotes are compared: normalized under quote/1 and trimmed."""
    return normalize(text, "quote/1").text.strip(" ")


CITATIONS = Scorer(basis="answer", metrics=METRICS, score=_score)
