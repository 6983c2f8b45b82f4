"""Record <-> JSON value <-> bytes; no record knows its wire form.

* Stored form: the canonical bytes of the record. Its ContentId is their BLAKE3, so ``b3sum`` of the file
  is the id.
* Wire form: the same object with ``digest`` in its sorted place, canonical too.
* Verification hashes the bytes that were read, never a re-serialization of something edited.

A record is valid once it exists; writing it checks only its size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from capsules import evidence, prompt
from capsules.canonical import canonical_bytes, parse_strict, require_canonical
from capsules.content_id import CONTENT_ID_EXPECTED, content_id, is_content_id
from capsules.errors import ParseError, SchemaError
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule
from capsules.record_text import object_text, record_text
from capsules.rules import Problem, type_name
from capsules.shape import Record, raise_first, read, shape_of
from capsules.strict_json import MAX_BYTES

R = TypeVar("R", bound=Record)

RECORD_TYPES: dict[str, type[Record]] = {
    evidence.SCHEMA_ID: EvidenceCapsule,
    prompt.SCHEMA_ID: PromptCapsule,
}

_FOREIGN = ("object.type.mismatch", "schema.major.unsupported")
_DIGEST_MEMBER_BYTES = len(',"digest":""') + len("b3:") + 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed(Generic[R]):
    """A record with its identity and its stored form; both are made here, so none has those of another.

    Raises:
        ParseError: ``bytes.size.exceeded``, on construction.
    """

    record: R
    digest: str = field(init=False)
    data: bytes = field(init=False)

    def __post_init__(self) -> None:
        data = preimage(self.record)
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "digest", content_id(data))


def _members(record: Record) -> dict[str, Any]:
    """The fields of a record, sorted, values untouched."""
    *_, names, values = shape_of(type(record))
    return dict(zip(names, values(record), strict=True))


def to_value(record: Record) -> dict[str, Any]:
    """The JSON value of a record, without ``digest``."""
    return {name: _value(item) for name, item in _members(record).items()}


def _value(item: object) -> object:
    if isinstance(item, Record):
        return to_value(item)
    if isinstance(item, tuple):
        return [_value(each) for each in item]
    return item


def check_value(cls: type[Record], value: object) -> list[Problem]:
    """Every way in which a JSON value is not a ``cls``, never only the first.

    Returns:
        Problems ``(code, at, expected, actual)`` in the order of the fields; empty if it is one.
        A ``schema_id`` of another type or major is the only problem reported: the rest of such a
        record has other rules.
    """
    return _read(cls, value)[1]


def from_value(cls: type[R], value: object) -> R:
    """The record of a JSON value (lists and dicts, without ``digest``).

    Raises:
        SchemaError: The first of ``check_value``.
    """
    record, problems = _read(cls, value)
    if problems:
        raise_first(problems, cls.__name__)
    return record


def _read(cls: type[R], value: object) -> tuple[R, list[Problem]]:
    problems: list[Problem] = []
    record = read(cls, value, "", problems)
    foreign = [p for p in problems if p.at == "/schema_id" and p.code in _FOREIGN]
    return record, foreign or problems


def preimage(record: Record) -> bytes:
    """The stored form of a record: the bytes whose BLAKE3 is its id.

    Raises:
        ParseError: ``bytes.size.exceeded``: its wire form is over 4 MiB.
    """
    data = record_text(record).encode()
    if len(data) + _DIGEST_MEMBER_BYTES > MAX_BYTES:
        limit = MAX_BYTES - _DIGEST_MEMBER_BYTES
        raise ParseError("bytes.size.exceeded", f"expected at most {limit} bytes, found {len(data)}")
    return data


def digest_of(record: Record) -> str:
    """The ContentId of a record."""
    return content_id(preimage(record))


def seal(record: R) -> Sealed[R]:
    """The record with its identity and the bytes to store."""
    return Sealed(record=record)


def wire(record: Record) -> bytes:
    """The wire form: the record with its ``digest``, canonical."""
    members = _members(record) | {"digest": digest_of(record)}
    return object_text(sorted(members.items())).encode()


def read_stored(data: bytes, cls: type[R]) -> R:
    """The record of its stored form. The caller has verified the bytes against the id asked for.

    Raises:
        ParseError: What the strict reader refuses; ``json.noncanonical``.
        SchemaError: The first failure of the shape.
    """
    value = parse_strict(data)
    require_canonical(data, value)
    return from_value(cls, value)


def read_wire(data: bytes, cls: type[R]) -> R:
    """The record of its wire form, its digest verified.

    Raises:
        ParseError: What the strict reader refuses; ``json.noncanonical``; ``bytes.digest.missing`` and
            ``bytes.digest.mismatch``.
        SchemaError: ``id.malformed`` of the digest; the first failure of the shape.
    """
    value = parse_strict(data)
    require_canonical(data, value)
    return from_value(cls, open_wire(value))


def open_wire(value: object) -> object:
    """The value of a wire form without its ``digest``, which must be that of the rest.

    Raises:
        ParseError: ``bytes.digest.missing``, ``bytes.digest.mismatch``.
        SchemaError: ``id.malformed``, ``schema.field.type``.
    """
    if not isinstance(value, dict):
        raise SchemaError("schema.field.type", f"expected an object, found {type_name(value)}")
    if "digest" not in value:
        raise ParseError("bytes.digest.missing", f"expected {CONTENT_ID_EXPECTED}, found none", at="/digest")
    digest = value["digest"]
    if not is_content_id(digest):
        raise SchemaError("id.malformed", f"expected {CONTENT_ID_EXPECTED}, found another", at="/digest")
    rest = {key: item for key, item in value.items() if key != "digest"}
    actual = content_id(canonical_bytes(rest))
    if actual != digest:
        raise ParseError("bytes.digest.mismatch", f"expected {digest}, found {actual}", at="/digest")
    return rest
