"""Server-sent events out of bytes that come in any pieces.

Rules that this module owns (the event stream format of the HTML standard, as far as data goes):

* A line ends with LF, CR LF or CR. A line that begins with a colon is a comment and carries nothing.
* ``data`` lines up to an empty line make one event, joined by LF; one space after the colon is dropped. Other
  fields are passed over. An event that no empty line ended is none.
* Bytes are cut into lines before they are decoded, so a character may arrive in halves.
"""

from __future__ import annotations

_BOM = b"\xef\xbb\xbf"


class EventParser:
    """Takes bytes, gives the data of the events that they complete."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[str] = []
        self._after_cr = False
        self._first = True

    def feed(self, data: bytes) -> list[str]:
        """The events that end in these bytes.

        Raises:
            UnicodeDecodeError: A line is no UTF-8.
        """
        events = []
        for line in self._lines(data):
            if line:
                self._field(line)
            elif self._data:
                events.append("\n".join(self._data))
                self._data = []
        return events

    def _lines(self, data: bytes) -> list[bytes]:
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]  # the second half of a CR LF that was torn apart
        if data:
            self._after_cr = data.endswith(b"\r")
        *lines, self._rest = (self._rest + data).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        if lines and self._first:
            self._first = False
            lines[0] = lines[0].removeprefix(_BOM)
        return lines

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" ").decode("utf-8"))
