"""The words of a question, and what each of them says.

Rules that this module owns:

* A word is a search term (``bench.retrieval.terms``). The first five letters of a longer word of the letters
  a to z stand for it, so that ``surrendered`` meets ``surrender``; every other script's terms stay whole.
* A word's weight is its inverse document frequency over the offers, titles included (as BM25 has it), so a
  word of every offer says nothing, whatever its language. A word of no offer has no weight.
* English words that only hold a sentence together name no need (``FUNCTION_WORDS``). Other languages have no
  list: there the weights alone decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import log

from bench.retrieval.terms import terms

STEM = 5

_FUNCTION_WORDS = """
a about after also an and any are as at be because been before being between both but by can could did do
does during each for from had has have he her him his how i if in into is it its many me more most much my
no not of on one or other our over s same she should so some such than that the their them then there these
they this those to under until was we were what when where which while who whom whose why will with would
you your
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())


def stem(term: str) -> str:
    """What stands for a term."""
    return term[:STEM] if len(term) > STEM and term.isascii() and term.isalpha() else term


def stems(text: str) -> frozenset[str]:
    """The stems of a text."""
    return frozenset(stem(term) for term in terms(text))


def question_words(question: str) -> dict[str, str]:
    """The question's words by stem, in order: the first form that stands there."""
    words: dict[str, str] = {}
    for term in terms(question):
        words.setdefault(stem(term), term)
    return words


def naming_words(question: str) -> dict[str, str]:
    """The question's words by stem that may name a need."""
    return {key: word for key, word in question_words(question).items() if word not in FUNCTION_WORDS}


def weights(words: Collection[str], texts: Sequence[Collection[str]]) -> dict[str, float]:
    """The weight of each stem that some text holds."""
    held = Counter(word for text in texts for word in words if word in text)
    return {
        word: log(1 + (len(texts) - held[word] + 0.5) / (held[word] + 0.5)) for word in words if held[word]
    }


def coverage(weighted: Mapping[str, float], text: Collection[str]) -> float:
    """The share of the whole weight that a text's stems have, 0 where nothing has a weight."""
    total = sum(weighted.values())
    return sum(weight for word, weight in weighted.items() if word in text) / total if total else 0.0
