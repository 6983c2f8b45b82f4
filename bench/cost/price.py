"""Exact money: tokens by class and engine time, times dated prices, in fractions of micro-units.

Rules that this module owns:

* The four token classes are disjoint and make up what was sent and generated: uncached input, cache read,
  cache write, output. Prices are whole currency micro-units per million tokens, and per hour of an engine.
* A class without tokens costs nothing, whatever its price. A class with tokens and without a price, or with
  an unknown number of tokens, leaves the cost unknown: never 0. ``cache_write`` without a price is not billed
  apart: its tokens are then billed as uncached input.
* Nothing is rounded here: a cost is a ``Fraction`` of micro-units. The report rounds, once.
"""

from __future__ import annotations

from fractions import Fraction

from bench.cost.classes import CLASSES, TokenCounts
from bench.specs import PriceSpec

PER_MILLION = 1_000_000
US_PER_HOUR = 3_600_000_000


def token_cost(tokens: TokenCounts, price: PriceSpec) -> Fraction | None:
    """Micro-units for the tokens of a request; ``None``: unknown. 0 for a provider that bills no tokens."""
    if not price.bills_tokens:
        return Fraction(0)
    counts = {name: getattr(tokens, name) for name in CLASSES}
    prices = {name: getattr(price, name) for name in CLASSES}
    if prices["cache_write"] is None and counts["cache_write"] is not None:
        uncached = counts["input_uncached"]
        counts["input_uncached"] = None if uncached is None else uncached + counts["cache_write"]
        counts["cache_write"] = 0
    total = Fraction(0)
    for name in CLASSES:
        count, each = counts[name], prices[name]
        if count is None or (count and each is None):
            return None
        total += Fraction(count * (each or 0), PER_MILLION)
    return total


def time_cost(us: int, price: PriceSpec) -> Fraction:
    """Micro-units for microseconds of an engine or a compressor; 0 for a provider that bills no time."""
    return Fraction(us * (price.engine_hour or 0), US_PER_HOUR)
