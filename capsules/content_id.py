"""ContentIds: ``b3:`` and the 64 lower-case hex digits of BLAKE3-256 over exactly the bytes meant.

* The id of a stored record is the id of its file: ``b3sum FILE`` prints the same digits.
* A key derived from several parts is the id of their pre-authentication encoding (PAE), which
  writes the length of each part: no two lists of parts share an encoding, ("ab", "c") and
  ("a", "bc") included. Parts are never joined by a separator.
* The pattern is matched to the very end of the string, so a trailing newline does not pass.
"""

from __future__ import annotations

import re

from blake3 import blake3

from capsules.described import described
from capsules.errors import SchemaError

CONTENT_ID_PATTERN = r"b3:[0-9a-f]{64}"
CONTENT_ID_EXPECTED = '"b3:" and 64 lower-case hex digits'

_CONTENT_ID = re.compile(CONTENT_ID_PATTERN)


def content_id(data: bytes) -> str:
    """The ContentId of ``data``."""
    return "b3:" + blake3(data).hexdigest()


def is_content_id(value: object) -> bool:
    """Whether ``value`` has the form of a ContentId."""
    return isinstance(value, str) and _CONTENT_ID.fullmatch(value) is not None


def require_content_id(value: str, at: str = "") -> str:
    """Return ``value`` if it has the form of a ContentId.

    Raises:
        SchemaError: ``id.malformed``.
    """
    if not is_content_id(value):
        raise SchemaError("id.malformed", f"expected {CONTENT_ID_EXPECTED}, found {described(value)}", at=at)
    return value


def pae(context: str, *parts: bytes) -> bytes:
    """Pre-authentication encoding: ``CAPS1`` and each part with its length in bytes, decimal.

    ``"CAPS1" SP len(context) SP context (SP len(part) SP part)*``; the context says what the key
    is for, so that equal parts used for two purposes give two keys.
    """
    head = context.encode()
    pieces = [b"CAPS1 %d %s" % (len(head), head)]
    pieces += [b" %d %s" % (len(part), part) for part in parts]
    return b"".join(pieces)


def derived_key(context: str, *parts: bytes) -> str:
    """The ContentId of ``pae(context, *parts)``: a key that is not the id of any record."""
    return content_id(pae(context, *parts))
