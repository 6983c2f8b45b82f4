"""Metadata of arrays: in which order their items stand and what may not repeat.

A sorted array is strictly increasing by its key, so no two items share a key. Strings compare by code
point, which is also the order of their UTF-8 bytes. An order-bearing array may forbid repetition only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import lt
from typing import Any, Protocol

from capsules.rules import Problem

Key = Callable[[Any], Any]
Placed = Sequence[tuple[int, Any]]


class ArrayRule(Protocol):
    """What an array's metadata must offer."""

    @property
    def expected(self) -> str:
        """The rule in words, as in docs/capsule-format.md."""
        ...

    def problems(self, items: Placed, at: str) -> Iterator[Problem]:
        """A problem for each item that breaks the rule; ``items`` are (index, item)."""
        ...


class Sorted:
    """Strictly increasing by a key (``schema.order``)."""

    def __init__(self, words: str, key: Key) -> None:
        self.expected = f"strictly increasing by {words}"
        self._key = key

    def problems(self, items: Placed, at: str) -> Iterator[Problem]:
        """See ``ArrayRule``."""
        keys = [self._key(item) for _, item in items]
        if all(map(lt, keys, keys[1:])):
            return
        for (index, _), earlier, later in zip(items[1:], keys, keys[1:], strict=False):
            if not earlier < later:
                found = "the same twice" if earlier == later else "a smaller one after a larger"
                yield Problem("schema.order", f"{at}/{index}", self.expected, found)


class Distinct:
    """In an order of their own, no two with the same key (``schema.duplicate``)."""

    def __init__(self, words: str, key: Key) -> None:
        self.expected = f"distinct {words}"
        self._key = key

    def problems(self, items: Placed, at: str) -> Iterator[Problem]:
        """See ``ArrayRule``."""
        seen: dict[Any, int] = {}
        for index, item in items:
            first = seen.setdefault(self._key(item), index)
            if first != index:
                yield Problem("schema.duplicate", f"{at}/{index}", self.expected, f"the same as item {first}")


def itself(item: Any) -> Any:
    """The key of an array of plain values."""
    return item
