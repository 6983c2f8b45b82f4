"""An answer that a grammar allows, without a model: what the fake engine says under a constraint."""

from __future__ import annotations

from bench.contracts.grammar import is_number_first, pointable, quotable
from capsules.normalization import trim

_LENGTH = 24  # code points of a quote; a contract that asks for more gets the whole passage


def obeying(grammar: str, seed: int, *, min_chars: int = 1) -> str:
    """One sentence of a grammar, chosen by ``seed``.

    Args:
        grammar: What ``bench.contracts.grammar`` wrote.
        seed: Chooses number, passage and place.
        min_chars: The least length of a quote.
    """
    lead = " " if '\nstart: " ' in grammar else ""
    numbers = pointable(grammar)
    if numbers:
        return f"{lead}[{numbers[seed % len(numbers)]}]"
    shown = quotable(grammar)
    number = sorted(shown)[seed % len(shown)]
    parts = shown[number]
    part = parts[(seed >> 8) % len(parts)]
    start, end = trim(part)
    visible = part[start:end]
    cut = visible[: max(_LENGTH, min_chars)]
    quote = cut[slice(*trim(cut))]
    quote = quote if len(quote) >= min_chars else visible
    return (
        f"{lead}[{number}] <q>{quote}</q>" if is_number_first(grammar) else f"{lead}<q>{quote}</q> [{number}]"
    )
