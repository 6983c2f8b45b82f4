"""Which documents the best passages speak of: the links that a question of several hops goes along.

Rules that this module owns:

* A document is named by its title without what stands in parentheses; without a title, by the capitalised
  words that its first offer begins with. A name of fewer than four characters names nothing.
* A document is *mentioned* as strongly as the most relevant passage of another document that holds its name,
  among the ``LOOKED_AT`` most relevant passages. What the question itself names is no news, and counts 0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bench.retrieval.terms import terms
from bench.selection.base import Offer

LOOKED_AT = 16
SHORTEST_NAME = 4

_PARENTHESES = re.compile(r"\s*\([^)]*\)")
_WORD = re.compile(r"\w[\w'’-]*")
_ARTICLES = ("The", "A", "An")
_INSIDE = ("of", "the", "de", "and", "van", "von", "du", "la")


def mentioned(question: str, offers: Sequence[Offer], relevance: Sequence[float]) -> dict[str, float]:
    """How strongly each document is mentioned, by source.

    Args:
        question: The question's text.
        offers: The passages.
        relevance: Of each of them, from 0 to 1.
    """
    asked = _plain(question)
    best = sorted(range(len(offers)), key=lambda i: (-round(relevance[i], 6), offers[i].name))[:LOOKED_AT]
    texts = {i: _plain(offers[i].text) for i in best}
    strengths: dict[str, float] = {}
    for source, name in _names(offers).items():
        plain = _plain(name)
        news = len(plain.strip()) >= SHORTEST_NAME and plain not in asked
        strengths[source] = max(
            (relevance[i] for i in best if news and offers[i].source != source and plain in texts[i]),
            default=0.0,
        )
    return strengths


def _names(offers: Sequence[Offer]) -> dict[str, str]:
    first: dict[str, Offer] = {}
    for offer in offers:
        if offer.source not in first or offer.start < first[offer.source].start:
            first[offer.source] = offer
    return {
        source: _PARENTHESES.sub("", offer.title) if offer.title else opening_name(offer.text)
        for source, offer in first.items()
    }


def opening_name(text: str) -> str:
    """The capitalised words (and numbers) that a text begins with, its first article apart."""
    found: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        word = match[0]
        apart = found and text[end : match.start()].strip()
        if apart or not (word[0].isupper() or word[0].isdigit() or (found and word in _INSIDE)):
            break
        end = match.end()
        if found or word not in _ARTICLES:
            found.append(word)
    while found and found[-1] in _INSIDE:
        found.pop()
    return " ".join(found)


def _plain(text: str) -> str:
    return f" {' '.join(terms(text))} "
