"""The canonical JSON text of records, written part by part.

* The members of a record are ASCII and sorted once a class; strings are escaped by the standard encoder.
* What stands in many capsules (spans, sources, omissions, constraints) is written once: no record changes,
  so its text does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any

from capsules.omission import Omission
from capsules.prompt import Constraint
from capsules.shape import Record, shape_of
from capsules.source import SourceRef
from capsules.span import ExactSpan

_SHARED = (Constraint, ExactSpan, Omission, SourceRef)


def object_text(members: Iterable[tuple[str, Any]]) -> str:
    """A JSON object of ASCII names without escapes, in the order given, and the values of a record."""
    return "{" + ",".join([f'"{name}":{_WRITERS[type(item)](item)}' for name, item in members]) + "}"


def record_text(record: Record) -> str:
    """The JSON object of a record, without ``digest``."""
    *_, names, values = shape_of(type(record))
    return object_text(zip(names, values(record), strict=True))


@lru_cache(maxsize=1 << 15)
def _shared_text(record: Record) -> str:
    return record_text(record)


def _array_text(items: tuple[Any, ...]) -> str:
    return "[" + ",".join([_WRITERS[type(item)](item) for item in items]) + "]"


class _Writers(dict[type, Callable[[Any], str]]):
    """How a value is written, by its exact type; record classes are added when they are first met."""

    def __missing__(self, kind: type) -> Callable[[Any], str]:
        if not issubclass(kind, Record):
            raise TypeError(f"expected a value of a record, found {kind.__name__}")
        self[kind] = _shared_text if kind in _SHARED else record_text
        return self[kind]


_WRITERS = _Writers(
    {
        str: encode_basestring,
        int: int.__repr__,
        bool: {False: "false", True: "true"}.__getitem__,
        type(None): {None: "null"}.__getitem__,
        tuple: _array_text,
    }
)
