"""What a lossy compressor did to a text: recomputed from the rewrite, never stored.

Rules that this module owns:

* Numbers are runs of decimal digits, with ``.`` or ``,`` between digits, compared as multisets: a number
  that appears more often than in the original is *added*, one that appears less often *lost*.
* Negations are words of a fixed list (English; Arabic, Hindi; Chinese and Thai by character), any case.
* Names are capitalised words of the original that do not begin a sentence; a text keeps one wherever it
  has the same word.
* Broken characters are U+FFFD that the original does not hold.
* Citation marks ``[n]`` are no content: they are taken out on both sides.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from capsules.sentences import split_sentences

REPLACEMENT = "\ufffd"
_MARK = re.compile(r"\[[0-9]{1,4}\]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_ENGLISH = (
    "no",
    "not",
    "never",
    "none",
    "nor",
    "neither",
    "nobody",
    "nothing",
    "nowhere",
    "without",
    "cannot",
)
_ARABIC = ("\u0644\u0627", "\u0644\u0645", "\u0644\u0646", "\u0644\u064a\u0633", "\u0644\u064a\u0633\u062a")
_NEGATIONS = frozenset(_ENGLISH + _ARABIC)
_NEGATING = re.compile("[\u4e0d\u6ca1\u672a\u65e0]|\u0e44\u0e21\u0e48")  # Chinese, Thai
# A combining vowel is no word character for ``re``: Hindi words are looked for by their ends.
_HINDI = re.compile("(?<![\u0900-\u097f])(?:\u0928\u0939\u0940\u0902|\u0928|\u092e\u0924)(?![\u0900-\u097f])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What a text lost against its original; entries repeat as often as they were lost."""

    numbers_lost: tuple[str, ...]
    numbers_added: tuple[str, ...]
    negations_lost: tuple[str, ...]
    names_lost: tuple[str, ...]
    broken: int

    @property
    def codes(self) -> tuple[str, ...]:
        """Info codes of everything that happened; none: nothing of these kinds was lost."""
        found = {
            "compression.character.broken": self.broken,
            "compression.name.lost": self.names_lost,
            "compression.negation.lost": self.negations_lost,
            "compression.number.added": self.numbers_added,
            "compression.number.lost": self.numbers_lost,
        }
        return tuple(code for code, happened in found.items() if happened)


def loss(original: str, text: str) -> Loss:
    """Compare a rewritten text with its original."""
    before, after = _MARK.sub(" ", original), _MARK.sub(" ", text)
    numbers, kept = Counter(numbers_of(before)), Counter(numbers_of(after))
    return Loss(
        numbers_lost=_elements(numbers - kept),
        numbers_added=_elements(kept - numbers),
        negations_lost=_elements(Counter(negations_of(before)) - Counter(negations_of(after))),
        names_lost=_elements(Counter(names_of(before)) - Counter(_WORD.findall(after))),
        broken=max(0, after.count(REPLACEMENT) - before.count(REPLACEMENT)),
    )


def numbers_of(text: str) -> list[str]:
    """The numbers of a text, in order."""
    return _NUMBER.findall(text)


def negations_of(text: str) -> list[str]:
    """The negations of a text: words of the list, and ``n't`` for each contraction."""
    found = []
    for word in _WORD.findall(text):
        folded = word.lower().replace("\u2019", "'")
        if folded.endswith("n't"):
            found.append("n't")
        elif folded in _NEGATIONS:
            found.append(folded)
    return found + _HINDI.findall(text) + _NEGATING.findall(text)


def names_of(text: str) -> list[str]:
    """Capitalised words that do not begin a sentence, in order."""
    found = []
    for start, end in split_sentences(text):
        words = _WORD.findall(text[start:end])
        found += [word for word in words[1:] if word[0].isupper()]
    return found


def _elements(counted: Counter[str]) -> tuple[str, ...]:
    return tuple(sorted(counted.elements()))
