"""What a stage answers with: distinct indexes of what it was given."""

from __future__ import annotations

from collections.abc import Sequence

from bench.build.base import BuildError


def checked_indexes(found: Sequence[int], n: int, kind: str, name: str) -> list[int]:
    """The indexes as a list.

    Raises:
        BuildError: ``stage.indexes``: an index out of range, repeated, or no index at all.
    """
    order = list(found)
    if len(set(order)) != len(order) or not all(type(i) is int and 0 <= i < n for i in order):
        raise BuildError(
            "stage.indexes", f"{kind} {name!r}: expected distinct indexes below {n}, found {order}"
        )
    return order
