"""Every difference of two JSON values, each with its place.

Rules that this module owns:

* Two values are equal if and only if there is no change: types count (1 is not true), and so does the
  order of an array.
* Entries of an array are paired by what names them (``span_id``, ``claim_id``, ``source``, ``id``,
  ``item``), scalars by themselves, and anything else by its position; so an entry that was added is one
  change.
* ``at`` is a JSON pointer (RFC 6901) into the left value, or into the right one where the left has
  nothing there. ``label`` is the same place with the names of entries, for people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from capsules.canonical import canonical_bytes

NAMES = ("span_id", "claim_id", "source", "id", "item")

CHANGED, LEFT_ONLY, RIGHT_ONLY, ORDER = "changed", "left_only", "right_only", "order"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference.

    Attributes:
        at: JSON pointer.
        label: The place in words, ``omissions[<item>].reason``.
        kind: ``changed`` · ``left_only`` · ``right_only`` · ``order`` (the same entries otherwise placed).
        left, right: The two values; ``None`` where there is none, both ``None`` for ``order``.
    """

    at: str
    label: str
    kind: str
    left: Any = None
    right: Any = None

    def to_value(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {"at": self.at, "kind": self.kind, "left": self.left, "right": self.right}


def changes(
    left: Any, right: Any, at: str = "", label: str = "", *, whole: Callable[[Any], bool] = lambda _: False
) -> Iterator[Change]:
    """Every difference of two values, in the order of the fields.

    Args:
        left: A value of JSON.
        right: The other one.
        at: Where the values stand.
        label: The same in words.
        whole: Which objects and arrays are not looked into: another one is one change.
    """
    opened = not whole(left) and not whole(right)
    if opened and isinstance(left, Mapping) and isinstance(right, Mapping):
        yield from _objects(left, right, at, label, whole)
    elif opened and _is_array(left) and _is_array(right):
        yield from _arrays(left, right, at, label, whole)
    elif type(left) is not type(right) or left != right:
        yield Change(at=at, label=label, kind=CHANGED, left=left, right=right)


def entry_name(entry: Any) -> str | None:
    """What names an entry of an array of objects; ``None`` where nothing does."""
    if not isinstance(entry, Mapping):
        return None
    return next((str(entry[name]) for name in NAMES if entry.get(name)), None)


def _objects(
    left: Mapping[str, Any], right: Mapping[str, Any], at: str, label: str, whole: Callable[[Any], bool]
) -> Iterator[Change]:
    for name in sorted(left.keys() | right.keys()):
        where, said = f"{at}/{_escaped(name)}", f"{label}.{name}" if label else name
        if name not in right:
            yield Change(at=where, label=said, kind=LEFT_ONLY, left=left[name])
        elif name not in left:
            yield Change(at=where, label=said, kind=RIGHT_ONLY, right=right[name])
        else:
            yield from changes(left[name], right[name], where, said, whole=whole)


def _arrays(
    left: Sequence[Any], right: Sequence[Any], at: str, label: str, whole: Callable[[Any], bool]
) -> Iterator[Change]:
    in_left, in_right = _by_name(left), _by_name(right)
    for name, index in in_left.items():
        where, said = f"{at}/{index}", f"{label}[{name}]"
        if name in in_right:
            yield from changes(left[index], right[in_right[name]], where, said, whole=whole)
        else:
            yield Change(at=where, label=said, kind=LEFT_ONLY, left=left[index])
    for name, index in in_right.items():
        if name not in in_left:
            yield Change(at=f"{at}/{index}", label=f"{label}[{name}]", kind=RIGHT_ONLY, right=right[index])
    if [name for name in in_left if name in in_right] != [name for name in in_right if name in in_left]:
        yield Change(at=at, label=label, kind=ORDER)


def _by_name(entries: Sequence[Any]) -> dict[str, int]:
    """The index of each entry by a name that no other entry of the array has."""
    found: dict[str, int] = {}
    for index, entry in enumerate(entries):
        name = unique = _name(entry, index)
        number = 1
        while unique in found:
            number += 1
            unique = f"{name}#{number}"
        found[unique] = index
    return found


def _name(entry: Any, index: int) -> str:
    if isinstance(entry, str):
        return entry
    if isinstance(entry, Mapping) or _is_array(entry):
        reason = entry.get("reason") if isinstance(entry, Mapping) else None
        return entry_name(entry) or (f"no item, {reason}" if reason else f"entry {index}")
    return canonical_bytes(entry).decode()


def _is_array(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
