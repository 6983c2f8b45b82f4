"""Choices that are the same on every machine: BLAKE3 in counter mode under a named key.

``random`` promises the same numbers for one version of Python only, and sets and hashes depend
on the process. Here the n-th word of a stream is the start of ``BLAKE3(PAE("draw/v1", names...,
n))``, and everything else is arithmetic on such words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from capsules.content_id import derived_key

T = TypeVar("T")
_WORD = 1 << 64


class Draw:
    """A stream of choices, fixed by its names alone."""

    def __init__(self, *names: str | int) -> None:
        """Start the stream of these names; other names, in any order, give another stream."""
        self._names = tuple(str(name).encode("utf-8") for name in names)
        self._count = 0

    def below(self, limit: int) -> int:
        """Draw a number from 0 to ``limit - 1``, each as likely as any other."""
        fair = _WORD - _WORD % limit
        while True:
            key = derived_key("draw/v1", *self._names, str(self._count).encode("ascii"))
            self._count += 1
            word = int(key[3:19], 16)
            if word < fair:
                return word % limit

    def between(self, low: int, high: int) -> int:
        """Draw a number from ``low`` to ``high``, both included."""
        return low + self.below(high - low + 1)

    def one_in(self, parts: int) -> bool:
        """Say yes once in ``parts`` times."""
        return self.below(parts) == 0

    def pick(self, things: Sequence[T]) -> T:
        """Draw one of the things."""
        return things[self.below(len(things))]

    def shuffled(self, things: Sequence[T]) -> tuple[T, ...]:
        """Draw an order of the things."""
        left = list(things)
        for last in range(len(left) - 1, 0, -1):
            other = self.below(last + 1)
            left[last], left[other] = left[other], left[last]
        return tuple(left)
