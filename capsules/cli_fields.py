"""Fields of a JSON object on a line of input: required or optional, each of one type.

Unknown fields are refused, as everywhere: a misspelt option must not be ignored in silence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capsules.errors import SchemaError
from capsules.pointer import token

Kinds = Mapping[str, tuple[type, ...]]


def checked_fields(value: object, required: Kinds, optional: Kinds) -> dict[str, Any]:
    """The fields of an object, their names and types checked. ``bool`` is no ``int`` here.

    Raises:
        SchemaError: ``schema.field.missing``, ``schema.field.unknown`` or ``schema.field.type``, with a
            JSON pointer to the field.
    """
    if not isinstance(value, dict):
        raise SchemaError("schema.field.type", f"expected an object, found {type(value).__name__}")
    for name in required:
        if name not in value:
            raise SchemaError("schema.field.missing", "expected the field, found none", at=f"/{name}")
    kinds = {**required, **optional}
    for name, held in value.items():
        if name not in kinds:
            expected = ", ".join(kinds)
            raise SchemaError("schema.field.unknown", f"expected one of {expected}", at=f"/{token(name)}")
        if type(held) not in kinds[name]:
            words = " or ".join(kind.__name__ for kind in kinds[name])
            found = type(held).__name__
            raise SchemaError("schema.field.type", f"expected {words}, found {found}", at=f"/{name}")
    return value


def check_minimum(value: object, name: str, minimum: int) -> None:
    """Check that an integer field is not below its minimum.

    Raises:
        SchemaError: ``schema.limit``.
    """
    if isinstance(value, int) and value < minimum:
        raise SchemaError("schema.limit", f"expected at least {minimum}, found {value}", at=f"/{name}")
