"""The compressor interface: which of the selected items are still sent.

Rules: an item goes whole or stays whole, so every span stays exact; a required item always stays;
the asked share is of the tokens as the target model counts them. What was asked and what was
achieved are two numbers: nothing here pretends that they agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionItem:
    """An item that a compressor may drop.

    Attributes:
        text: Its exact text.
        tokens: Its item tokens by the target model's tokenizer.
        required: Whether it must stay.
    """

    text: str
    tokens: int
    required: bool


Compressor = Callable[[str, int, Sequence[CompressionItem]], Sequence[int]]
"""(question, rate in basis points, items in rank order) -> indexes of the items that stay."""
