"""Reads an answer of the contract ``quote``: ``<q>verbatim text</q> [n]``.

Rules of this module:

* Every ``<q>`` is an attempted quote. One that is not closed before the next ``<q>`` or the end of
  the answer is unfinished: it counts as a quote, never as an exact one.
* The marks between a quote's ``</q>`` and the next ``<q>`` (or the end) belong to that quote. The
  first known number is its claim. None: ``contract.number_missing``; only unknown ones:
  ``contract.number_unknown``; several known ones: ``contract.number_several``, the first counts.
* A grammar over many sources puts the number first, ``[n] <q>verbatim text</q>``. A constrained answer
  that begins with a mark is read in that order, each quote with the marks before it.
* Text outside quotes is not judged here. Nothing is repaired and nothing raises: what a model
  writes is data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from capsules.citation import parse_citations

_TAG = re.compile(r"</?q>")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerQuote:
    """One attempted quote.

    Attributes:
        text: What stands between the tags, untouched.
        number: The source number that it claims, ``None`` without a known one.
        finished: Whether ``</q>`` was reached.
        codes: What is wrong with the form, in a fixed order.
    """

    text: str
    number: int | None
    finished: bool
    codes: tuple[str, ...]


def parse_answer(answer: str, *, sources: int, leading: bool = False) -> tuple[AnswerQuote, ...]:
    """The attempted quotes of ``answer``, in order.

    Args:
        answer: The answer.
        sources: Numbers run from 1 to here.
        leading: Whether numbers may stand before their quotes.
    """
    quotes = []
    tags = list(_TAG.finditer(answer))
    first = leading and bool(tags) and "[" in answer[: tags[0].start()]
    for index, tag in enumerate(tags):
        if tag.group() != "<q>":
            continue
        close = tags[index + 1] if index + 1 < len(tags) else None
        if close is None or close.group() == "<q>":
            end = close.start() if close else len(answer)
            text = answer[tag.end() : end]
            quotes.append(AnswerQuote(text=text, number=None, finished=False, codes=("contract.unfinished",)))
            continue
        opening = next((i for i in range(index + 2, len(tags)) if tags[i].group() == "<q>"), None)
        after = len(answer) if opening is None else tags[opening].start()
        before = tags[index - 1].end() if index else 0
        marks = answer[before : tag.start()] if first else answer[close.end() : after]
        number, codes = _claim(marks, sources)
        quotes.append(
            AnswerQuote(text=answer[tag.end() : close.start()], number=number, finished=True, codes=codes)
        )
    return tuple(quotes)


def _claim(marks: str, sources: int) -> tuple[int | None, tuple[str, ...]]:
    """The number that ``marks`` claim, and the codes of what is wrong with them."""
    report = parse_citations(marks, sources)
    known = list(dict.fromkeys(n for sentence in report.sentences for n in sentence.cited))
    unknown = any(sentence.unknown for sentence in report.sentences)
    codes = []
    if not known:
        codes.append("contract.number_unknown" if unknown else "contract.number_missing")
    elif unknown:
        codes.append("contract.number_unknown")
    if len(known) > 1:
        codes.append("contract.number_several")
    return (known[0] if known else None), tuple(codes)
