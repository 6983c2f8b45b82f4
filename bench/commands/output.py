"""How commands print results: JSON lines for scripts, text for people, both on stdout."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from capsules.canonical import canonical_bytes


def print_json(value: Mapping[str, Any]) -> None:
    """One line of canonical JSON."""
    sys.stdout.buffer.write(canonical_bytes(dict(value)) + b"\n")
    sys.stdout.buffer.flush()


def print_text(text: str) -> None:
    """A line of text; what the terminal cannot show is escaped, never an error."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
