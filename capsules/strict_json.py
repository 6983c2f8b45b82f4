"""The strict JSON reader: what it refuses, and with which code. It repairs nothing.

    bytes.size.exceeded        more bytes than the cap, before anything is read
    json.bom                   a UTF-8 byte order mark
    json.utf8.invalid          not UTF-8: UTF-16, overlong forms, encoded surrogates (ED A0 80)
    json.depth.exceeded        more containers inside each other than the cap, found before parsing
    json.syntax                not JSON (RFC 8259)
    json.constant              NaN, Infinity, -Infinity
    json.number.float          a fraction or an exponent, 1.0 and 1e3 included
    json.number.negative_zero  -0
    json.number.range          |n| > 2^53 - 1, the integers that every reader keeps exactly
    json.key.duplicate         a key twice in one object, also when spelt with escapes
    json.string.surrogate      a lone surrogate, in a value or a key
    json.string.noncharacter   a noncharacter, in a value or a key
    schema.limit               more items in an array than the cap
    json.noncanonical          equal to the canonical form as a value, but not byte for byte

A refusal names the JSON pointer of the value where there is one, else the offset of the byte.
"""

from __future__ import annotations

import json
import re
from typing import TypeAlias

from capsules.characters import may_hold_refused, refused_character, refused_position
from capsules.errors import ParseError
from capsules.pointer import Path, pointer

JsonValue: TypeAlias = "bool | int | str | list[JsonValue] | dict[str, JsonValue] | None"

MAX_INT = 2**53 - 1
MAX_BYTES = 4 << 20
MAX_DEPTH = 32
MAX_ITEMS = 10_000

_MAX_INT_CHARS = len(str(-MAX_INT))
_STRUCTURE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_TRAILING_COMMA = re.compile(r",[ \t\n\r]*")
_NO_BRACKET = re.compile(r"[^\[\]{}]+")


class _Refused:
    """Stands in the parsed value where a hook met something refused, until its path is known."""

    __slots__ = ("code", "message")

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message


class _Hooks:
    """Hooks for the standard decoder, and whether one of them met something refused."""

    def __init__(self) -> None:
        self.met = False
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._pairs,
            parse_int=self._int,
            parse_float=self._float,
            parse_constant=self._constant,
        )

    def _refused(self, code: str, message: str) -> _Refused:
        self.met = True
        return _Refused(code, message)

    def _pairs(self, pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue] | _Refused:
        members = dict(pairs)
        if len(members) == len(pairs):
            return members
        return self._refused(
            "json.key.duplicate", f"expected distinct keys, found {len(pairs) - len(members)} repeated"
        )

    def _int(self, digits: str) -> int | _Refused:
        if digits == "-0":
            return self._refused("json.number.negative_zero", "expected 0, found -0")
        if len(digits) <= _MAX_INT_CHARS and -MAX_INT <= (number := int(digits)) <= MAX_INT:
            return number
        found = digits if len(digits) <= 40 else f"{len(digits)} digits"
        return self._refused("json.number.range", f"expected |n| <= 2^53-1, found {found}")

    def _float(self, digits: str) -> _Refused:
        return self._refused("json.number.float", f"expected an integer, found {digits[:40]}")

    def _constant(self, word: str) -> _Refused:
        return self._refused("json.constant", f"expected a JSON value, found {word}")


def parse_strict(
    data: bytes, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH, max_items: int = MAX_ITEMS
) -> JsonValue:
    """The value of strict JSON bytes; white space and key order are free, nothing else is.

    Args:
        data: The whole document.
        max_bytes: Cap on its size.
        max_depth: Cap on containers inside each other; some hundreds at most, for reading recurses.
        max_items: Cap on the items of one array.

    Returns:
        ``None``, bool, int, str, list or dict, without anything that the reader refuses.

    Raises:
        ParseError: With the code of the refusal, see the module.
    """
    if len(data) > max_bytes:
        raise ParseError("bytes.size.exceeded", f"expected at most {max_bytes} bytes, found {len(data)}")
    text = _decode(data)
    _require_depth(text, max_depth)
    hooks = _Hooks()
    try:
        value: JsonValue = hooks.decoder.decode(text)
    except json.JSONDecodeError as error:
        raise ParseError(
            "json.syntax", "expected JSON, found another character or the end", position=_byte(text, error)
        ) from None
    # Most documents hold no escape and no candidate for a refusal: their values need no walk.
    if (
        hooks.met
        or "\\u" in text
        or text.count(",") >= max_items
        or (not text.isascii() and may_hold_refused(data))
    ):
        _require_clean(value, None, max_items)
    return value


def _byte(text: str, error: json.JSONDecodeError) -> int:
    """Offset of what is no JSON, the same on every Python (3.13 points at a trailing comma)."""
    comma = _TRAILING_COMMA.match(text, error.pos) if error.msg.startswith("Illegal trailing comma") else None
    return len(text[: comma.end() if comma else error.pos].encode())


def _decode(data: bytes) -> str:
    if data.startswith(b"\xef\xbb\xbf"):
        raise ParseError("json.bom", "expected no byte order mark, found EF BB BF", position=0)
    if 0 in data[:2]:  # JSON begins with an ASCII character; a NUL beside it is UTF-16 or UTF-32
        raise ParseError("json.utf8.invalid", "expected UTF-8, found a NUL as in UTF-16", position=0)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ParseError(
            "json.utf8.invalid", f"expected UTF-8: {error.reason}", position=error.start
        ) from None


def _require_depth(text: str, max_depth: int) -> None:
    """Count brackets outside of strings before the parser, which recurses, sees them.

    Strings are cut out by splitting at quotes once escapes are gone. On text that is no JSON the
    cut may be wrong after the place where the parser stops, so a finding is looked at again.
    """
    if text.count("[") + text.count("{") <= max_depth:
        return
    plain = text.replace("\\\\", "").replace('\\"', "") if "\\" in text else text
    brackets = _NO_BRACKET.sub("", "".join(plain.split('"')[::2]))
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket in "[{" else -1
        if depth > max_depth:
            _refuse_depth(text, max_depth)
            return


def _refuse_depth(text: str, max_depth: int) -> None:
    depth = 0
    for token in _STRUCTURE.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token.group(), 0)
        if depth > max_depth:
            raise ParseError(
                "json.depth.exceeded",
                f"expected at most {max_depth} containers inside each other, found more",
                position=len(text[: token.start()].encode()),
            )


def _require_clean(value: JsonValue | _Refused, path: Path, max_items: int) -> None:
    """Raise for the first refused thing in document order."""
    if isinstance(value, _Refused):
        raise ParseError(value.code, value.message, at=pointer(path))
    if isinstance(value, str):
        require_clean_string(value, path)
    elif isinstance(value, list):
        if len(value) > max_items:
            raise ParseError(
                "schema.limit", f"expected at most {max_items} items, found {len(value)}", at=pointer(path)
            )
        for index, item in enumerate(value):
            _require_clean(item, (path, index), max_items)
    elif isinstance(value, dict):
        for key, item in value.items():
            require_clean_string(key, path)
            _require_clean(item, (path, key), max_items)


def require_clean_string(text: str, path: Path) -> None:
    """Raise if a string (or a key of the object at ``path``) holds a refused code point.

    Raises:
        ParseError: ``json.string.surrogate`` or ``json.string.noncharacter``.
    """
    code = refused_character(text)
    if code is not None:
        index = refused_position(text)
        raise ParseError(
            code,
            f"expected Unicode characters, found U+{ord(text[index]):04X} as code point {index} of a string",
            at=pointer(path),
        )
