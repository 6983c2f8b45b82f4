r"""Capsule names: ``project:task:object:kind``, stable over rebuilds.

A capsule_id is a name. It is never a path, never an authority and never an identity: several
digests may share it, they are its versions. Each part matches ``[a-z0-9][a-z0-9._-]{0,63}\Z``; a
part that does not becomes ``x-`` and the first 16 hex digits of the BLAKE3 of its UTF-8 bytes.
"""

from __future__ import annotations

import re

from capsules.content_id import content_id
from capsules.errors import SchemaError

_PART_PATTERN = r"[a-z0-9][a-z0-9._-]{0,63}"
CAPSULE_ID_PATTERN = ":".join([_PART_PATTERN] * 4)
CAPSULE_ID_EXPECTED = f"four parts {_PART_PATTERN} joined by ':'"

_PART = re.compile(_PART_PATTERN)
_CAPSULE_ID = re.compile(CAPSULE_ID_PATTERN)


def name_part(text: str) -> str:
    """One part of a capsule_id: ``text`` where it fits, else its short digest.

    Raises:
        SchemaError: ``json.string.surrogate``: the text has no UTF-8 form.
    """
    if _PART.fullmatch(text):
        return text
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise SchemaError(
            "json.string.surrogate", f"expected Unicode text, found a surrogate at code point {error.start}"
        ) from None
    return "x-" + content_id(data)[3:19]


def capsule_id(project: str, task: str, obj: str, kind: str) -> str:
    """The name of a capsule from its four parts, of any spelling."""
    return ":".join(name_part(part) for part in (project, task, obj, kind))


def is_capsule_id(value: object) -> bool:
    """Whether ``value`` has the form of a capsule_id."""
    return isinstance(value, str) and _CAPSULE_ID.fullmatch(value) is not None
