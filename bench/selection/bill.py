"""What evidence costs: item tokens, and a header for every run of items.

Rule that this module owns: a run is a longest row of shown items that follow each other in their source, so
an item between two shown ones costs its own tokens and saves a header. (Where every item has a header of its
own, there are no runs.) A header's tokens are those of a usual one; the digits of the real one may differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.selection.base import Offer, SelectionQuery, Sentence
from capsules.rendering import TAG_CHARS
from capsules.tokenizer import Tokenizer

USUAL_HEADER = f"[1] {'0123456789abcdef'[:TAG_CHARS]}\n"


def header_tokens(tokenizer: Tokenizer) -> int:
    """Tokens of a usual header and of the line end after its run."""
    return len(tokenizer.encode(USUAL_HEADER)) + len(tokenizer.encode("\n"))


class Bill:
    """The cost of a growing set of sentences.

    Args:
        sentences: All that may be shown.
        query: For the cost of a header.
    """

    def __init__(self, sentences: Iterable[Sentence], query: SelectionQuery) -> None:
        self._after = {one.follows: one.item for one in sentences if one.follows is not None}
        self._header, self._each = query.header_tokens, query.header_each
        self.shown: set[str] = set()
        self.tokens = 0

    def more(self, sentence: Sentence) -> int:
        """Tokens that showing it adds: less than its own where it joins two runs."""
        if sentence.item in self.shown:
            return 0
        headers = 1
        if not self._each:
            headers -= sentence.follows in self.shown
            headers -= self._after.get(sentence.item) in self.shown
        return sentence.tokens + headers * self._header

    def add(self, sentence: Sentence) -> None:
        """Show it."""
        self.tokens += self.more(sentence)
        self.shown.add(sentence.item)


def bill_of(offers: Sequence[Offer], query: SelectionQuery) -> Bill:
    """The bill of what is required, before anything is chosen."""
    bill = Bill((sentence for offer in offers for sentence in offer.sentences), query)
    for offer in offers:
        for sentence in offer.sentences:
            if sentence.required:
                bill.add(sentence)
    return bill
