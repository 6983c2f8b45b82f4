"""JSON Schema (draft 2020-12) of both records, generated from their annotations.

The shipped files ``capsules/schemas/*.json`` are exactly ``schema_files()``; they describe the wire form, and
the stored form too, since ``digest`` is optional. JSON Schema cannot say everything: the calendar,
the order and uniqueness by a key, references, and the laws between fields stand in ``description``
or only in docs/capsule-format.md, so a value that passes is not yet a valid capsule.
"""

from __future__ import annotations

import json
from typing import Any

from capsules.codec import RECORD_TYPES
from capsules.content_id import CONTENT_ID_PATTERN
from capsules.shape import Array, Nested, Node, Nullable, Record, Scalar, shape_of
from capsules.strict_json import MAX_ITEMS

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(cls: type[Record]) -> dict[str, Any]:
    """The JSON Schema of a record class."""
    records: dict[str, Any] = {}
    schema = _object(cls, records)
    if cls in RECORD_TYPES.values():
        schema["properties"]["digest"] = {"type": "string", "pattern": f"^{CONTENT_ID_PATTERN}$"}
    return {"$schema": _DRAFT, "title": cls.__name__, **schema, "$defs": dict(sorted(records.items()))}


def schema_files() -> dict[str, str]:
    """Name and text of each shipped schema file."""
    encode = json.JSONEncoder(indent=2, ensure_ascii=False).encode
    return {
        schema_id.replace("/", "-") + ".json": encode(json_schema(cls)) + "\n"
        for schema_id, cls in RECORD_TYPES.items()
    }


def _object(cls: type[Record], records: dict[str, Any]) -> dict[str, Any]:
    nodes = shape_of(cls).nodes
    return {
        "description": (cls.__doc__ or "").partition("\n")[0],
        "type": "object",
        "properties": {name: _schema(node, records) for name, node in nodes.items()},
        "required": list(nodes),
        "additionalProperties": False,
    }


def _schema(node: Node, records: dict[str, Any]) -> dict[str, Any]:
    if isinstance(node, Scalar):
        return node.rule.schema()
    if isinstance(node, Nullable):
        return {"anyOf": [{"type": "null"}, _schema(node.inner, records)]}
    if isinstance(node, Array):
        return _array(node, records)
    return _reference(node, records)


def _array(node: Array, records: dict[str, Any]) -> dict[str, Any]:
    low, high = (0, MAX_ITEMS) if node.length is None else (node.length, node.length)
    bounds = {"minItems": low, "maxItems": high} if low else {"maxItems": high}
    rule = {} if node.rule is None else {"description": node.rule.expected, "uniqueItems": True}
    return {"type": "array", "items": _schema(node.item, records), **bounds, **rule}


def _reference(node: Nested, records: dict[str, Any]) -> dict[str, Any]:
    name = node.cls.__name__
    records[name] = _object(node.cls, records)
    return {"$ref": f"#/$defs/{name}"}
