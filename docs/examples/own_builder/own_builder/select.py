"""A selector: which of the retrieved passages are worth their tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bench.retrieval.base import Passage, Query

COMMON = frozenset(
    {"a", "an", "and", "at", "how", "in", "is", "of", "on", "the", "to", "what", "when", "who"}
)


def words(text: str) -> frozenset[str]:
    """The words of a text that say something."""
    return frozenset(re.findall(r"\w+", text.lower())) - COMMON


def most_words(query: Query, passages: Sequence[Passage]) -> list[int]:
    """The ``k`` passages that share the most words with the question, of equal ones the earlier."""
    asked = words(query.question)
    shared = [len(asked & words(passage.text)) for passage in passages]
    ranked = sorted(range(len(passages)), key=lambda index: (-shared[index], index))
    return [index for index in ranked if shared[index]][: query.k]
