"""The bytes of a local file, in pieces, hashed as they are read.

The rules:

- One pass: what is hashed is what was read.
- ``.gz`` is unpacked, and the id is that of the unpacked bytes. A file that unpacks to more than
  ``MOST_RATIO`` times its size is refused before it fills anything (gzip packs text 3 to 20 times).
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from blake3 import blake3

from tasks.base import TaskError

CHUNK = 1 << 20
MOST_RATIO = 200


class FileBytes:
    """A file to be read once.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._hash = blake3()
        self._done = False

    def chunks(self) -> Iterator[bytes]:
        """The bytes, in pieces of at most ``CHUNK``.

        Raises:
            TaskError: The file cannot be read, or unpacks to too much.
        """
        try:
            yield from self._chunks()
        except (OSError, EOFError, zlib.error) as error:
            raise TaskError(f"{self.path}: cannot be read: {error}") from error
        self._done = True

    def _chunks(self) -> Iterator[bytes]:
        packed = self.path.suffix == ".gz"
        most = max(self.path.stat().st_size, CHUNK) * MOST_RATIO
        read = 0
        with gzip.open(self.path, "rb") if packed else self.path.open("rb") as file:
            while chunk := file.read(CHUNK):
                read += len(chunk)
                if packed and read > most:
                    raise TaskError(f"{self.path}: unpacks to more than {MOST_RATIO} times its size")
                self._hash.update(chunk)
                yield chunk

    def revision(self) -> str:
        """``file:<ContentId>`` of all bytes.

        Raises:
            TaskError: They have not been read to their end.
        """
        if not self._done:
            raise TaskError(f"{self.path}: the id of a file is known when all of it has been read")
        return f"file:b3:{self._hash.hexdigest()}"


def files_revision(paths: tuple[Path, ...]) -> str:
    """``file:<ContentId>`` of the bytes of several files, one after the other.

    Raises:
        TaskError: One cannot be read.
    """
    found = blake3()
    for path in paths:
        for chunk in FileBytes(path).chunks():
            found.update(chunk)
    return f"file:b3:{found.hexdigest()}"
