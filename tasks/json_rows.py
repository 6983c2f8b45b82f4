"""Rows of JSON Lines and of JSON files, one at a time: no file is ever held whole.

The rules:

- Lines end with LF or CR LF; lines of white space alone hold no row.
- A JSON file is an array of rows, or an object with one under a key (SQuAD: ``data``); nothing else of
  it is kept.
- A fault costs its row, never the file: a line that is not JSON, bytes that are not UTF-8 inside a
  string, a line longer than ``MAX_ROW_BYTES`` (twice the largest source). What costs the file is what
  leaves no way to find the next row: a JSON file whose structure breaks off, a row of it beyond the cap.
- At most one row and one piece of the file are in memory.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator

from tasks.rows import RawRow
from tasks.strict_json import Fault, Unreadable, decoder, parse

MAX_ROW_BYTES = 128 << 20
_SPACE = re.compile(r"[ \t\n\r]*")
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")  # what "surrogateescape" makes of a byte that is not UTF-8
_NOT_UTF8 = Fault(code="json.utf8.invalid", reason="a string with bytes that are not UTF-8")
_TAIL = 16  # an error this near to the end of what was read may be no more than the end


def line_rows(chunks: Iterable[bytes], *, max_bytes: int = MAX_ROW_BYTES) -> Iterator[RawRow]:
    """Read JSON Lines; a line that is not JSON becomes a fault.

    Args:
        chunks: The bytes of the file, in pieces.
        max_bytes: Cap on a line.
    """
    too_long = Fault(code="bytes.size.exceeded", reason=f"a line of more than {max_bytes} bytes")
    for number, line in enumerate(_lines(chunks, max_bytes), start=1):
        value: object = too_long
        if line is not None:
            if not line.strip():
                continue
            try:
                value = parse(line)
            except Unreadable as error:
                value = Fault(code=error.code, reason=str(error))
        yield RawRow(where=f"line {number}", value=value)


def _lines(chunks: Iterable[bytes], max_bytes: int) -> Iterator[bytes | None]:
    """The lines; ``None`` for one over the cap, of which nothing is kept."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            yield None if size + len(piece) > max_bytes else b"".join((*parts, piece))
            parts, size = [], 0
        size += len(rest)
        parts = [*parts, rest] if size <= max_bytes else []
    if size:
        yield b"".join(parts) if parts else None


def array_rows(chunks: Iterable[bytes], *, max_bytes: int = MAX_ROW_BYTES) -> Iterator[RawRow]:
    """Read a JSON array of rows.

    Raises:
        Unreadable: It is none, or breaks off.
    """
    text = _Text(chunks, max_bytes)
    for index, value in enumerate(text.items()):
        yield RawRow(where=f"row {index}", value=value)
    text.end()


def keyed_items(chunks: Iterable[bytes], key: str, *, max_bytes: int = MAX_ROW_BYTES) -> Iterator[object]:
    """Read the array under a key of a JSON object, item by item.

    Raises:
        Unreadable: There is none, or the file breaks off.
    """
    text = _Text(chunks, max_bytes)
    text.expect("{", "an object")
    found = False
    while text.next() != "}":
        name = text.value()
        if not isinstance(name, str):
            raise Unreadable("json.syntax", f"expected a key, found {type(name).__name__}")
        text.expect(":", f"a value of {name[:40]!r}")
        if name == key and found:
            raise Unreadable("json.key.duplicate", f"the key {key!r} twice")
        if name == key:
            found = True
            yield from text.items()
        else:
            text.value()
        if text.next() == ",":
            text.skip()
            if text.next() == "}":
                raise Unreadable("json.syntax", "expected a key after the comma")
        elif text.next() != "}":
            raise Unreadable("json.syntax", f"expected a comma or the end, found {text.next()!r}")
    text.skip()
    if not found:
        raise Unreadable("row.field.missing", f"expected an array under the key {key!r}")
    text.end()


class _Text:
    """A JSON text that is read as far as the next value needs it."""

    def __init__(self, chunks: Iterable[bytes], max_bytes: int) -> None:
        self._chunks = iter(chunks)
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self._scan: Callable[[str, int], tuple[object, int]] = decoder().raw_decode
        self._text = ""
        self._at = 0
        self._gone = 0  # characters before those of _text
        self._ended = False
        self._max_bytes = max_bytes
        self._more(1)
        if self._text.startswith("\ufeff"):
            raise Unreadable("json.bom", "begins with a byte order mark")

    def next(self) -> str:
        """The next character that is no white space; it stays. Empty at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._more(1)

    def skip(self) -> None:
        """Go over the next character."""
        self._at += 1

    def expect(self, mark: str, what: str) -> None:
        """Go over this character.

        Raises:
            Unreadable: Another one stands there.
        """
        found = self.next()
        if found != mark:
            raise Unreadable("json.syntax", f"expected {what}, found {found!r}" if found else "it breaks off")
        self.skip()

    def value(self) -> object:
        """Read one value; strings with bytes that are not UTF-8 become faults.

        Raises:
            Unreadable: There is none, or it is longer than the cap.
        """
        self.next()
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except RecursionError as error:
                raise Unreadable("json.depth.exceeded", "nested too deeply") from error
            except ValueError as error:  # not JSON, or JSON only so far as it was read
                self._require_rest(error)
            else:
                # A number may go on behind the end of what was read.
                if end < len(self._text) or self._ended:
                    broken = _ESCAPED_BYTE.search(self._text, self._at, end)
                    self._at = end
                    return _without_bytes(value) if broken else value
            if len(self._text) - self._at > self._max_bytes:
                raise Unreadable("bytes.size.exceeded", f"a row of more than {self._max_bytes} bytes")
            self._more(len(self._text) - self._at)

    def items(self) -> Iterator[object]:
        """Read an array, item by item.

        Raises:
            Unreadable: There is none, or it breaks off.
        """
        self.expect("[", "an array")
        if self.next() == "]":
            self.skip()
            return
        while True:
            yield self.value()
            mark = self.next()
            if mark not in (",", "]"):
                reason = f"expected a comma or the end of the array, found {mark!r}"
                raise Unreadable("json.syntax", reason if mark else "it breaks off")
            self.skip()
            if mark == "]":
                return

    def end(self) -> None:
        """Read to the end of the file.

        Raises:
            Unreadable: Something follows.
        """
        found = self.next()
        if found:
            raise Unreadable("json.syntax", f"expected the end of the file, found {found!r}")

    def _require_rest(self, error: ValueError) -> None:
        """Go on only where the error may come from the end of what was read."""
        place = getattr(error, "pos", 0)
        message = getattr(error, "msg", str(error))
        open_string = message.startswith("Unterminated string")
        if self._ended or not (open_string or place + _TAIL >= len(self._text)):
            raise Unreadable("json.syntax", f"{message} at character {self._gone + place}") from error

    def _more(self, wanted: int) -> None:
        """Read at least so many characters more, and forget what has been gone over."""
        parts = [self._text[self._at :]]
        self._gone += self._at
        self._at = 0
        found = 0
        while found < wanted and not self._ended:
            chunk = next(self._chunks, None)
            self._ended = chunk is None
            parts.append(self._decode(chunk or b"", final=self._ended))
            found += len(parts[-1])
        self._text = "".join(parts)


def _without_bytes(value: object) -> object:
    if isinstance(value, str):
        return _NOT_UTF8 if _ESCAPED_BYTE.search(value) else value
    if isinstance(value, list):
        return [_without_bytes(one) for one in value]
    if isinstance(value, dict):
        return {key: _without_bytes(one) for key, one in value.items()}
    return value
