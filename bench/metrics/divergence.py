"""How far the outputs of two cells agree, token by token.

A rate of differing outputs says nothing alone: the same engine asked twice may differ as well.
So it stands beside the floor (the same setting against its own repeat) or beside the words that no
floor was measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """Outputs of two cells on the samples that both answered.

    Attributes:
        n: Samples compared.
        differ: Samples whose output ids differ.
        first: Sample -> index of the first differing id (the shorter length if one continues the other).
    """

    n: int
    differ: int
    first: Mapping[str, int]


def divergence(left: Mapping[str, Sequence[int]], right: Mapping[str, Sequence[int]]) -> Divergence:
    """Compare output ids by sample; samples that only one side has are not compared."""
    common = [sample for sample in left if sample in right]
    first = {}
    for sample in common:
        place = _first_difference(left[sample], right[sample])
        if place is not None:
            first[sample] = place
    return Divergence(n=len(common), differ=len(first), first=first)


def _first_difference(left: Sequence[int], right: Sequence[int]) -> int | None:
    for index, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return index
    return None if len(left) == len(right) else min(len(left), len(right))
