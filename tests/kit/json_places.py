"""Places of JSON values: every leaf, what stands there, and the value with something else there."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

Place = tuple[str, ...]


def leaves(value: Any, at: Place = ()) -> Iterator[Place]:
    """The places of all values that are no object and no array, inside of one."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from leaves(entry, (*at, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from leaves(entry, (*at, str(index)))
    elif at:
        yield at


def _step(node: Any, name: str) -> Any:
    return int(name) if isinstance(node, list) else name


def standing_at(value: Any, place: Place) -> Any:
    """What stands there."""
    for name in place:
        value = value[_step(value, name)]
    return value


def mutated(value: Any, place: Place, change: Callable[[Any], Any]) -> Any:
    """A copy in which something else stands there."""
    result = copy.deepcopy(value)
    node = standing_at(result, place[:-1])
    key = _step(node, place[-1])
    node[key] = change(node[key])
    return result
