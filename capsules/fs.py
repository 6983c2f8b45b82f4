"""The file system as the store sees it: the few calls that its durability rests on.

The store never calls the operating system itself; it gets an ``Fs``. ``capsules.os_fs.OsFs`` is
the real one; the tests bring others that fail call N, forget an fsync or lose power. Rules:

* every call works relative to an open folder (``at``), never on a path with folders in it, so a
  folder that is swapped for a symlink after it was opened changes nothing;
* no call follows a symlink, but ``open_base``, whose path is the user's own;
* opening never blocks (a FIFO opens at once and is then refused by its kind);
* every failure is an ``OSError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStat:
    """What an open file or a name is.

    Attributes:
        kind: ``file``, ``dir``, ``symlink`` or ``other`` (FIFO, device, socket).
        size: Bytes; of meaning for ``file`` only.
    """

    kind: str
    size: int


class Fs(Protocol):
    """Calls on open folders and files. Handles are small integers, as the OS gives them."""

    def open_base(self, path: str) -> int:
        """Opens the folder at a path of the user's, symlinks followed."""
        ...

    def open_dir(self, name: str, at: int) -> int:
        """Opens the folder ``name`` inside ``at``; a symlink is refused."""
        ...

    def open_file(self, name: str, at: int) -> int:
        """Opens ``name`` inside ``at`` for reading; a symlink is refused, a FIFO does not block."""
        ...

    def create(self, name: str, at: int) -> int:
        """Creates and opens a read-only file for writing through this handle; it must be new."""
        ...

    def make_dir(self, name: str, at: int) -> None:
        """Creates a folder; ``FileExistsError`` when the name is taken."""
        ...

    def stat(self, fd: int) -> FileStat:
        """What an open handle is."""
        ...

    def stat_name(self, name: str, at: int) -> FileStat:
        """What a name is, without following it."""
        ...

    def read(self, fd: int, size: int) -> bytes:
        """At most ``size`` bytes; empty at the end."""
        ...

    def write(self, fd: int, data: memoryview) -> int:
        """Writes a leading part of ``data`` and returns its length."""
        ...

    def fsync_all(self, fds: Sequence[int]) -> None:
        """Fsyncs many, in any order or at once; raises if any of them fails."""
        ...

    def rename(self, old: str, new: str, at: int) -> None:
        """Renames inside one folder; an existing ``new`` is replaced in one step."""
        ...

    def unlink(self, name: str, at: int) -> None:
        """Removes a name."""
        ...

    def list_dir(self, fd: int) -> list[str]:
        """The names in an open folder, in any order."""
        ...

    def lock(self, fd: int) -> None:
        """Waits for the exclusive lock of an open folder; closing the handle releases it."""
        ...

    def close(self, fd: int) -> None:
        """Closes a handle."""
        ...

    def random_name(self) -> str:
        """Sixteen hex digits that no other writer uses."""
        ...
