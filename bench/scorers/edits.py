"""Does the check of exact quotes see a one-character change? Deterministic edits, counted.

Rules of this module:

* Pointers hold no text of the model's, so there is nothing to edit in them.
* Each exact quote, trimmed, gets up to nine edits: one character substituted, deleted, inserted at
  the start, in the middle and at the end. The new character is ``x`` (``y`` where ``x`` stands), which
  no normalization folds.
* An edited quote is checked at the place of the quote that it was made from. Accepted there: a
  *false accept*; unless both are equal under quote/1 (say, one of two spaces was deleted): *folded*.
* An edited quote that is refused there but accepted at another range, as a quote without its last
  letter is, is counted apart as *elsewhere* if the source really holds it (a plain search says so,
  not the check itself); if it does not, it is a false accept, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bench.scorers.judge import Judge, JudgedQuote, fold
from capsules.normalization import trim


@dataclass(frozen=True, slots=True, kw_only=True)
class EditCounts:
    """``edits`` = ``refused`` + ``elsewhere`` + ``folded`` + ``accepted``; ``accepted`` should be 0."""

    quotes: int = 0
    edits: int = 0
    refused: int = 0
    elsewhere: int = 0
    folded: int = 0
    accepted: int = 0

    def __add__(self, other: EditCounts) -> EditCounts:
        return EditCounts(
            quotes=self.quotes + other.quotes,
            edits=self.edits + other.edits,
            refused=self.refused + other.refused,
            elsewhere=self.elsewhere + other.elsewhere,
            folded=self.folded + other.folded,
            accepted=self.accepted + other.accepted,
        )


def one_character_edits(quote: str) -> tuple[str, ...]:
    """The distinct edited forms of a quote, none equal to it."""
    last = len(quote) - 1
    edited = []
    for at in (0, len(quote) // 2, last):
        edited.append(quote[:at] + _other(quote[at]) + quote[at + 1 :])
        edited.append(quote[:at] + quote[at + 1 :])
    for at in (0, len(quote) // 2, len(quote)):
        edited.append(quote[:at] + "x" + quote[at:])
    return tuple(dict.fromkeys(text for text in edited if text != quote))


def _other(character: str) -> str:
    return "y" if character == "x" else "x"


def check_edits(judge: Judge, quotes: Iterable[JudgedQuote]) -> EditCounts:
    """Edit every exact quote among ``quotes`` and count what the check says."""
    total = EditCounts()
    for quote in quotes:
        if quote.exact and not quote.pointer and quote.source is not None and quote.span is not None:
            total = total + _check(judge, quote.text, quote.source, quote.span)
    return total


def _check(judge: Judge, text: str, source: str, span: tuple[int, int]) -> EditCounts:
    first, last = trim(text)
    edits = one_character_edits(text[first:last])
    outcomes = [_outcome(judge, text, edited, source, span) for edited in edits]
    return EditCounts(
        quotes=1,
        edits=len(edits),
        refused=outcomes.count("refused"),
        elsewhere=outcomes.count("elsewhere"),
        folded=outcomes.count("folded"),
        accepted=outcomes.count("accepted"),
    )


def _outcome(judge: Judge, original: str, edited: str, source: str, span: tuple[int, int]) -> str:
    if judge.holds_at(source, edited, span):
        return "folded" if fold(edited) == fold(original) else "accepted"
    if not judge.occurs(source, edited):
        return "refused"
    return "elsewhere" if fold(edited) in judge.folded(source) else "accepted"
