"""JSON pointers (RFC 6901), built only when there is something to point at.

A walk carries a linked path instead of a string, so that walking a value that is in order costs no
string.
"""

from __future__ import annotations

from typing import TypeAlias

# (path of the parent, key or index); None is the whole document.
Path: TypeAlias = "tuple[Path, str | int] | None"


def token(part: str | int) -> str:
    """One reference token, with ``~`` and ``/`` escaped."""
    return str(part).replace("~", "~0").replace("/", "~1")


def pointer(path: Path) -> str:
    """The JSON pointer of a path; ``""`` is the whole document."""
    tokens = []
    while path is not None:
        path, part = path
        tokens.append(token(part))
    return "".join(f"/{part}" for part in reversed(tokens))
