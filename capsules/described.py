"""What a refusal says of a value that it refuses: its kind and its length, never its text.

A malformed id, word or time may be a private text in the wrong field, and whoever reads an error or a
report may not be allowed to read it. Only a schema_id that looks like one is named: it says which
reader is needed.
"""

from __future__ import annotations

import re

_SCHEMA_ID = re.compile(r"[a-z][a-z-]{0,40}/[0-9]{1,6}")


def described(value: object) -> str:
    """``text of 12 characters`` (code points); the name of the type of anything but a string."""
    return f"text of {len(value)} characters" if isinstance(value, str) else type(value).__name__


def described_schema_id(value: object) -> str:
    """A schema_id by its name, if it has the form of one; else as ``described``."""
    return value if isinstance(value, str) and _SCHEMA_ID.fullmatch(value) else described(value)
