"""What a question names, some candidate holds, and nothing that is shown does: needs that narrowing gave up.

Rules that this module owns: the words are those that the question names (as in the requirement of a place,
without the limit on their number), in the question's order. Texts alone decide; no gold. English function
words are never among them; words of other languages may be, so in a language without such a list a long
answer says little.
"""

from __future__ import annotations

from collections.abc import Iterable

from bench.selection.vocabulary import naming_words, stems


def unmet_needs(question: str, candidates: Iterable[str], shown: Iterable[str]) -> tuple[str, ...]:
    """The words that could have been met and are not.

    Args:
        question: The question's text.
        candidates: Texts of everything that could have been shown.
        shown: Texts of what is shown.
    """
    found = frozenset[str]().union(*(stems(text) for text in candidates))
    kept = frozenset[str]().union(*(stems(text) for text in shown))
    return tuple(word for key, word in naming_words(question).items() if key in found and key not in kept)
