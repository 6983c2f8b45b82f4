"""Data files as strict JSON: one fault costs its row, never the file, and is never repaired.

``capsules.canonical`` reads capsules and refuses the whole of a text for one fault. Data sets
are read row by row, so here a fault becomes a :class:`Fault` in the place of the value that
holds it, and the row that contains it is refused by :func:`first_fault`. The rules:

- UTF-8 without BOM (U+FEFF *inside* strings is text and counts in offsets); no lone
  surrogates, neither as bytes nor as escapes; no noncharacters, for they cannot enter a
  capsule;
- no duplicate keys: the object that has them is a fault as a whole;
- no ``NaN`` or ``Infinity``, no integer beyond 2^53-1, no float: none of the forms has one, and none
  may reach a digest;
- a key whose value is null is a missing key, for tables (Parquet, Arrow) know no other way to miss one.

What tables hold keeps the same rules (:func:`first_fault`). The codes are those of the capsule reader
(``json.*``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import isfinite

from capsules.characters import refused_character, refused_position

MAX_INT = 2**53 - 1
MAX_DEPTH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What stands in the place of a value that may not be read."""

    code: str
    reason: str


class Unreadable(Exception):
    """The text is not JSON at all; ``code`` and the message say why."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def parse(data: bytes) -> object:
    """Read one JSON text.

    Args:
        data: The bytes of the text.

    Returns:
        The value; a :class:`Fault` wherever something may not be read.

    Raises:
        Unreadable: The text has no structure that could be followed.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        raise Unreadable("json.bom", "begins with a byte order mark")
    try:
        return decoder().decode(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Unreadable("json.utf8.invalid", f"not UTF-8 at byte {error.start}") from error
    except RecursionError as error:
        raise Unreadable("json.depth.exceeded", "nested too deeply") from error
    except json.JSONDecodeError as error:
        raise Unreadable("json.syntax", f"{error.msg} at character {error.pos}") from error


@cache
def decoder() -> json.JSONDecoder:
    """The decoder of all readers here: a :class:`Fault` wherever something may not be read."""
    return json.JSONDecoder(
        object_pairs_hook=_object,
        parse_constant=lambda name: Fault(code="json.constant", reason=f"the literal {name}"),
        parse_float=lambda literal: Fault(code="json.number.float", reason=f"float {literal[:40]}"),
        parse_int=_integer,
    )


def _object(pairs: list[tuple[str, object]]) -> object:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    keys = [key for key, _ in pairs]
    twice = next(key for key in keys if keys.count(key) > 1)
    return Fault(code="json.key.duplicate", reason=f"the key {twice[:40]!r} twice")


def _integer(literal: str) -> object:
    if literal == "-0":
        return Fault(code="json.number.negative_zero", reason="the number -0")
    if len(literal) > 17 or abs(int(literal)) > MAX_INT:
        return Fault(code="json.number.range", reason=f"the integer {_beginning(literal)} beyond 2^53-1")
    return int(literal)


def _beginning(literal: str) -> str:
    """A number as a reason shows it: whole, or its first digits and how many there are."""
    return literal if len(literal) <= 20 else f"{literal[:17]}... ({len(literal)} characters)"


def string_fault(text: str) -> Fault | None:
    """Say what in a string could never enter a capsule, or ``None``."""
    code = refused_character(text)
    if code is None:
        return None
    place = refused_position(text)
    return Fault(code=code, reason=f"U+{ord(text[place]):04X} at character {place}")


def first_fault(value: object, at: str = "") -> tuple[str, Fault] | None:
    """Find the first fault in a value, with its JSON pointer, in reading order."""
    return next(_faults(value, at, 0), None)


def _faults(value: object, at: str, depth: int) -> Iterator[tuple[str, Fault]]:
    if isinstance(value, Fault):
        yield at, value
    elif isinstance(value, str):
        fault = string_fault(value)
        if fault is not None:
            yield at, fault
    elif isinstance(value, dict | list):
        if depth == MAX_DEPTH:
            yield at, Fault(code="json.depth.exceeded", reason=f"nested deeper than {MAX_DEPTH}")
            return
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            fault = string_fault(key) if isinstance(key, str) else None
            if fault is not None:
                yield at, fault
            yield from _faults(part, f"{at}/{str(key).replace('~', '~0').replace('/', '~1')}", depth + 1)
    elif isinstance(value, float):
        code = "json.number.float" if isfinite(value) else "json.constant"
        yield at, Fault(code=code, reason=f"the number {value}")
    elif isinstance(value, int):  # bool too, which is 0 or 1
        if abs(value) > MAX_INT:
            yield at, Fault(code="json.number.range", reason=f"the integer {str(value)[:20]} beyond 2^53-1")
    elif value is not None:
        yield at, Fault(code="row.field.type", reason=f"expected JSON data, found {type(value).__name__}")


def without_null(value: object) -> object:
    """The value without the keys whose value is null, at every depth."""
    if isinstance(value, dict):
        return {key: without_null(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [without_null(part) for part in value]
    return value
