"""Typed access to the fields of a data row: what is there is checked, what is wrong is named.

A row is refused as a whole, with a code, the place inside the row and a reason; the rows
beside it go on. The rules of text that is to become a source or a question:

- not empty and not blank;
- no control characters but tab, line feed and carriage return;
- at most 64 MiB of UTF-8 (the cap of a source);
- U+FFFD, U+FEFF, bidirectional marks and unnormalized text are text like any other: they stay
  and count in the offsets.

``ROW_CODES`` lists every code of a refusal beside the ``json.*`` codes of the reader.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from tasks.base import RefusedRow
from tasks.strict_json import Fault, first_fault, without_null

ROW_CODES = (
    "bytes.size.exceeded",  # a row too long to be read
    "gold.missing",  # no answer in a row that must have one
    "gold.mismatch",  # the text at the gold offset is not the gold text
    "gold.range",  # a gold range that is empty or outside its text
    "gold.source.missing",  # gold names a document that the row does not have
    "row.field.missing",
    "row.field.type",
    "row.field.unknown",
    "row.field.value",  # right type, not an allowed value
    "row.id.duplicate",
    "text.control",
    "text.empty",
    "text.size.exceeded",
)
MAX_SOURCE_BYTES = 64 << 20
_BLANK = re.compile("[\\s\xad\u200b\u2060\ufeff]*")  # what a quote is trimmed of, and nothing else
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

T = TypeVar("T")


class RowRefused(Exception):
    """A row cannot become a sample: ``code``, place inside the row, reason."""

    def __init__(self, code: str, where: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.where = where

    def as_row(self, row: str) -> RefusedRow:
        """Make the record of the refusal, for the row of that name."""
        return RefusedRow(row=row, where=self.where, code=self.code, reason=str(self))


def whole_row(value: object) -> dict[str, object]:
    """Return a row that is an object without faults, its null keys left out, or refuse it."""
    found = first_fault(value)
    if found is not None:
        at, fault = found
        raise RowRefused(fault.code, at, fault.reason)
    if not isinstance(value, dict):
        raise RowRefused("row.field.type", "", f"expected an object, found {_kind(value)}")
    return {str(key): without_null(part) for key, part in value.items() if part is not None}


def known_keys(row: Mapping[str, object], known: frozenset[str], where: str = "") -> None:
    """Refuse a row that has a key which its form does not know."""
    for key in row:
        if key not in known:
            expected = ", ".join(sorted(known))
            raise RowRefused("row.field.unknown", f"{where}/{key}", f"unknown key; known: {expected}")


def field(row: Mapping[str, object], name: str, kind: type[T], where: str = "") -> T:
    """Return a field of exactly this JSON type (``bool`` is not ``int``), or refuse the row."""
    if name not in row:
        raise RowRefused("row.field.missing", f"{where}/{name}", "missing")
    return of_kind(row[name], kind, f"{where}/{name}")


def ordinal(where: str) -> int:
    """The number of a row from its place, for sets without ids: 0 for ``line 1`` as for ``row 0``."""
    kind, number = where.split()[:2]
    return int(number) - (kind == "line")


def optional(row: Mapping[str, object], name: str, kind: type[T], where: str = "") -> T | None:
    """Return a field that may be missing or null."""
    return None if row.get(name) is None else field(row, name, kind, where)


def of_kind(value: object, kind: type[T], where: str) -> T:
    """Return the value if it is of exactly this JSON type, or refuse the row."""
    if type(value) is not kind:
        raise RowRefused("row.field.type", where, f"expected {_kind(kind())}, found {_kind(value)}")
    return value


def text_field(row: Mapping[str, object], name: str, where: str = "") -> str:
    """Return a field that holds text which may become a source or a question."""
    return checked_text(field(row, name, str, where), f"{where}/{name}")


def checked_text(text: str, where: str) -> str:
    """Return the text if it keeps the rules of this module, or refuse the row."""
    if _BLANK.fullmatch(text):
        raise RowRefused("text.empty", where, "expected text, found none")
    found = _CONTROL.search(text)
    if found is not None:
        reason = f"control character U+{ord(found.group()):04X} at character {found.start()}"
        raise RowRefused("text.control", where, reason)
    # Four bytes a code point at most: only long texts are encoded to be measured.
    if len(text) * 4 > MAX_SOURCE_BYTES and len(text.encode("utf-8")) > MAX_SOURCE_BYTES:
        raise RowRefused("text.size.exceeded", where, f"more than {MAX_SOURCE_BYTES} bytes")
    return text


def _kind(value: object) -> str:
    if value is None:
        return "null"
    names = {str: "a string", bool: "a boolean", int: "an integer", list: "an array", dict: "an object"}
    if isinstance(value, Fault):
        return value.reason
    return names.get(type(value), type(value).__name__)
