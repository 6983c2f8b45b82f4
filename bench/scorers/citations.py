"""Scores of the quotes in one answer: exactness, uniqueness, the right source, the answer's text.

Rules of this module:

* The denominator is every attempted quote. An answer without one is undefined, never 1 and never 0
  here: its headline counts 0.
* ``code`` of a score tells the first reason, in reading order, why a quote did not count.
* A grammar that met a limit of the engine is the tool's failure, never a silent empty answer: a constrained
  answer that ended by itself before its form was complete is ``contract.grammar_limit``. Whether it is
  complete is judged by parsing: an engine may say ``length`` of a whole answer.
* ``answer_in_quote`` compares under quote/1; case is kept, so that "US" is not found in "us".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bench.contracts.forms import is_constrained
from bench.metrics.answers import EMPTY, NO_QUOTE
from bench.scorers.base import Case, Score, Scorer, documents, ok, undefined
from bench.scorers.judge import JudgedQuote, fold, rewritten_texts

UNFINISHED, GRAMMAR_LIMIT = "contract.unfinished", "contract.grammar_limit"
METRICS = ("exact_citation", "exact_unique", "answer_in_quote", "right_source")


def _score(case: Case) -> tuple[Score, ...]:
    text = case.sent.response.text
    sources = documents(case.sample, case.build)
    build = case.build
    quotes = case.judge.answer(text, build.shown, sources, case.contract, rewritten_texts(build))
    if not quotes:
        code = _torn(case) or (NO_QUOTE if text.strip() else EMPTY)
        return tuple(undefined(metric, code) for metric in METRICS)
    exact = _share("exact_citation", [q.exact for q in quotes], [q.reason for q in quotes])
    if not all(q.finished for q in quotes):
        exact = replace(exact, code=_torn(case) or exact.code)
    if exact.code is None and len(quotes) > case.contract.max_quotes:
        exact = replace(exact, code="contract.quotes_exceeded")
    return (
        exact,
        _share("exact_unique", [q.unique for q in quotes], [q.reason for q in quotes]),
        _answer_in_quote(case, quotes),
        _right_source(case, quotes),
    )


def _torn(case: Case) -> str | None:
    """Why a constrained answer has no complete form; ``None`` for a free one."""
    if not is_constrained(case.contract.name):
        return None
    return UNFINISHED if case.sent.response.finish_reason == "length" else GRAMMAR_LIMIT


def _share(metric: str, hits: Sequence[bool], reasons: Sequence[str | None]) -> Score:
    reason = next((r for hit, r in zip(hits, reasons, strict=True) if not hit), None)
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
    reasons = ["gold.other_source" if q.number is not None else q.reason for q in quotes]
    return _share("right_source", [q.source in gold for q in quotes], reasons)


CITATIONS = Scorer(basis="answer", metrics=METRICS, score=_score)
