"""JSON lines in, JSON lines out: as many out as in, in order.

A bad line gives ``{"error": {"code", "at"}}`` in its place and does not disable the others; the exit
status at the end is 1 then. What a good line says (an absent quote, say) never changes the status.
Output is canonical JSON, flushed line by line, so a caller may use the command as a co-process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from capsules.canonical import canonical_bytes, parse_strict
from capsules.errors import CapsuleError

# A source of 64 MiB, every character of it escaped, and the rest of the line.
MAX_LINE_BYTES = 512 << 20
_MAX_ITEMS = 100_000_000
_CHUNK = 1 << 20


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
            result = answer(parse_strict(line, max_bytes=max_bytes, max_items=_MAX_ITEMS))
            output = canonical_bytes(result)
        except CapsuleError as error:
            output = canonical_bytes({"error": {"code": error.code, "at": error.at}})
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


def refusal(error: CapsuleError, *, message: bool) -> bytes:
    """An error as one line of JSON for stderr; with its message where a person will read it."""
    value = {"code": error.code, "at": error.at}
    if message:
        value["message"] = error.message
    return canonical_bytes(value) + b"\n"
