"""JSON lines in, JSON lines out: as many out as in, in order.

A bad line gives ``{"error": {"code", "at"}}`` in its place and does not disable the others; the exit
status at the end is 1 then. What a good line says (an absent quote, say) never changes the status.
Output is canonical JSON, flushed line by line, so a caller may use the command as a co-process. A
refusal is ASCII JSON: ``at`` may hold a key of the input, which must not steer a terminal.

A line is at most ``MAX_LINE_BYTES`` (a source of 64 MiB, every other character of it escaped) and holds at
most ``MAX_VALUES`` values: both are judged before anything is made of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from capsules.canonical import canonical_bytes, parse_strict
from capsules.errors import CapsuleError, ParseError

MAX_LINE_BYTES = 128 << 20
MAX_VALUES = 4_000_000
_CHUNK = 1 << 20
_BETWEEN = (b",", b"[", b"{")  # each begins a value or separates two
_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_ASCII = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def run_lines(
    answer: Callable[[object], object], stdin: BinaryIO, stdout: BinaryIO, *, max_bytes: int = MAX_LINE_BYTES
) -> int:
    """Answer every line; returns the exit status.

    Args:
        answer: From the parsed line to a JSON value; a ``CapsuleError`` refuses the line.
        stdin: The lines; the last one may lack its line end.
        stdout: Where the answers go.
        max_bytes: Cap on a line.
    """
    status = 0
    for line in _lines(stdin, max_bytes):
        try:
            _require_few(line, max_bytes)
            result = answer(parse_strict(line, max_bytes=max_bytes, max_items=MAX_VALUES))
            output = canonical_bytes(result)
        except CapsuleError as error:
            output = _ASCII.encode({"error": {"code": error.code, "at": error.at}}).encode()
            status = 1
        stdout.write(output + b"\n")
        stdout.flush()
    return status


def _lines(stdin: BinaryIO, max_bytes: int) -> Iterator[bytes]:
    """The lines without their ends; of one over the cap only so much that the reader refuses it."""
    while line := stdin.readline(max_bytes + 2):
        if not line.endswith(b"\n") and len(line) > max_bytes + 1:
            while (rest := stdin.readline(_CHUNK)) and not rest.endswith(b"\n"):
                pass
        yield line.removesuffix(b"\n")


def _require_few(line: bytes, max_bytes: int) -> None:
    """Refuse a line of too many values before they take memory; one that is too long is the reader's."""
    if len(line) > max_bytes or _marks(line) <= MAX_VALUES:
        return
    found = _marks(_STRINGS.sub(b"", line))
    if found > MAX_VALUES:
        raise ParseError("schema.limit", f"expected at most {MAX_VALUES} values, found about {found}")


def _marks(data: bytes) -> int:
    return sum(data.count(mark) for mark in _BETWEEN)


def refusal(error: CapsuleError, *, message: bool) -> bytes:
    """An error as one line of JSON for stderr; with its message where a person will read it."""
    value = {"code": error.code, "at": error.at}
    if message:
        value["message"] = error.message
    return _ASCII.encode(value).encode() + b"\n"
