r"""Canonical JSON: RFC 8785 (JCS) over null, booleans, integers, strings, arrays and objects.

* No white space; keys sorted by their UTF-16 code units; strings verbatim, with only ``"``, ``\`` and
  the control characters below U+0020 escaped (``\b \t \n \f \r``, else ``\u00xx``); UTF-8, no final
  newline.
* No floats: their shortest form is where implementations differ. Ratios are basis points.
* A reader demands ``canonical_bytes(parse_strict(data)) == data``: equal values have one spelling,
  so the id of the bytes is the id of the value.

Where all keys are ASCII (those of the records are), their code-point order is their UTF-16 order and
the standard encoder, in C, writes exactly this form. Other keys are sorted here first.
"""

from __future__ import annotations

import json

from capsules.characters import may_hold_refused
from capsules.errors import ParseError, SchemaError
from capsules.pointer import Path, pointer
from capsules.strict_json import (
    MAX_DEPTH,
    MAX_INT,
    JsonValue,
    parse_strict,
    require_clean_string,
)

__all__ = ["JsonValue", "canonical_bytes", "parse_strict", "require_canonical"]

_SORTING = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":"))
_KEEPING = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=False, separators=(",", ":"))


def canonical_bytes(value: object) -> bytes:
    """The canonical form of a JSON value; tuples are arrays.

    Raises:
        ParseError: ``json.number.float``, ``json.number.range``, ``json.string.*``,
            ``json.depth.exceeded`` (a cycle is one).
        SchemaError: ``schema.field.type``: not a JSON type, or a key that is not a string.
    """
    ascii_keys = _require_plain(value, None, 0)
    text = _SORTING.encode(value) if ascii_keys else _KEEPING.encode(_by_utf16(value))
    data = text.encode("utf-8", "surrogatepass")
    if may_hold_refused(data):
        _require_clean_strings(value, None)
    return data


def require_canonical(data: bytes, value: object) -> None:
    """Raise unless ``data`` is the canonical form of ``value``, which ``parse_strict`` read from it.

    Raises:
        ParseError: ``json.noncanonical``, with the offset of the first byte that differs.
    """
    if data.isascii() and b"\\u" not in data:  # so all keys are ASCII, and the reader has judged the rest
        expected = _SORTING.encode(value).encode()
    else:
        expected = canonical_bytes(value)
    if data == expected:
        return
    same = min(len(data), len(expected))
    position = next((i for i in range(same) if data[i] != expected[i]), same)
    raise ParseError("json.noncanonical", "expected the canonical form of the same value", position=position)


def _require_plain(value: object, path: Path, depth: int) -> bool:
    """Raise for what is no JSON of ours; return whether all keys are ASCII.

    Types are compared exactly: an IntEnum or a str subclass may print as something else.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if kind is int:
        if -MAX_INT <= value <= MAX_INT:  # type: ignore[operator]
            return True
        raise ParseError("json.number.range", "expected |n| <= 2^53-1, found more", at=pointer(path))
    if kind is float:
        raise ParseError("json.number.float", "expected an integer, found a float", at=pointer(path))
    if depth == MAX_DEPTH and kind in (dict, list, tuple):
        raise ParseError(
            "json.depth.exceeded", f"expected at most {MAX_DEPTH} containers, found more", at=pointer(path)
        )
    ascii_keys = True
    if isinstance(value, dict) and kind is dict:
        for key, item in value.items():
            if type(key) is not str:
                found = type(key).__name__
                raise SchemaError(
                    "schema.field.type", f"expected string keys, found {found}", at=pointer(path)
                )
            ascii_keys = ascii_keys and key.isascii()
            if not ((sort := type(item)) is str or (sort is int and -MAX_INT <= item <= MAX_INT)):
                ascii_keys = _require_plain(item, (path, key), depth + 1) and ascii_keys
        return ascii_keys
    if isinstance(value, list | tuple) and kind in (list, tuple):
        for index, item in enumerate(value):
            if not ((sort := type(item)) is str or (sort is int and -MAX_INT <= item <= MAX_INT)):
                ascii_keys = _require_plain(item, (path, index), depth + 1) and ascii_keys
        return ascii_keys
    raise SchemaError(
        "schema.field.type",
        f"expected None, bool, int, str, list, tuple or dict, found {kind.__name__}",
        at=pointer(path),
    )


def _by_utf16(value: object) -> object:
    """The same value with the keys of every object in the order of their UTF-16 code units."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: str(key).encode("utf-16-be", "surrogatepass"))
        return {key: _by_utf16(value[key]) for key in keys}
    if isinstance(value, list | tuple):
        return [_by_utf16(item) for item in value]
    return value


def _require_clean_strings(value: object, path: Path) -> None:
    if isinstance(value, str):
        require_clean_string(value, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            require_clean_string(key, path)
            _require_clean_strings(item, (path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _require_clean_strings(item, (path, index))
