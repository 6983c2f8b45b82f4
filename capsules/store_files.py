"""Files of the store: opening without surprises, replacing durably, one fence.

* Opening classifies refusals: a symlink is ``store.symlink``; a FIFO, device, socket or a folder in
  place of a file (and the reverse) is ``store.not_regular``.
* A file is replaced by: temp in the same folder, write loop, fsync, rename over, fsync of the
  folder. Nothing is ever unlinked first: a reader sees the old bytes or the new ones.
* A failed fsync is final. The kernel may have dropped the dirty pages, and a second fsync would
  then report success for bytes that are gone, so the fence refuses all further work.
* ``OSError`` never leaves the store: it becomes ``store.io`` with the name of the errno.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from capsules.errors import StoreError
from capsules.fs import Fs

_READ_SIZE = 1 << 20
# What POSIX systems answer when O_NOFOLLOW, O_DIRECTORY or O_NONBLOCK meets the wrong kind of file.
_WRONG_KIND = frozenset({errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.EMLINK})


class Fence:
    """The fsyncs of one handle; broken for good by the first that fails."""

    __slots__ = ("_broken", "_fs")

    def __init__(self, fs: Fs) -> None:
        self._fs = fs
        self._broken = False

    def check(self) -> None:
        """Refuses to start work that could no longer be made durable.

        Raises:
            StoreError: ``store.poisoned``.
        """
        if self._broken:
            raise StoreError(
                "store.poisoned", "expected a handle whose fsyncs all succeeded, found an earlier failure"
            )

    def sync(self, *fds: int) -> None:
        """Fsyncs files or folders, all of them or none that counts."""
        self.check()
        try:
            self._fs.fsync_all(fds)
        except OSError:
            self._broken = True
            raise


class OpenFiles:
    """The handles of one operation; all are closed at its end.

    Use as a context manager. ``OSError`` inside becomes ``StoreError("store.io")``.
    """

    __slots__ = ("_fds", "fs")

    def __init__(self, fs: Fs) -> None:
        self.fs = fs
        self._fds: list[int] = []

    def keep(self, fd: int) -> int:
        """Takes charge of closing a handle."""
        self._fds.append(fd)
        return fd

    def folder(self, name: str, at: int) -> int:
        """Opens a folder of the store.

        Raises:
            StoreError: ``store.symlink`` or ``store.not_regular``.
        """
        with _classified(self.fs, name, at, wanted="dir"):
            return self.keep(self.fs.open_dir(name, at))

    def regular(self, name: str, at: int) -> int:
        """Opens a regular file for reading.

        Raises:
            StoreError: ``store.symlink`` or ``store.not_regular``.
        """
        with _classified(self.fs, name, at, wanted="file"):
            fd = self.keep(self.fs.open_file(name, at))
        kind = self.fs.stat(fd).kind
        if kind != "file":
            raise _not_regular(name, "file", kind)
        return fd

    def close(self) -> None:
        """Closes everything; what was promised durable was fsynced, so a failure loses nothing."""
        for fd in reversed(self._fds):
            with suppress(OSError):
                self.fs.close(fd)
        self._fds.clear()


@contextmanager
def open_files(fs: Fs, what: str) -> Iterator[OpenFiles]:
    """The handles of one operation on ``what`` (an id or a name, for the error message)."""
    files = OpenFiles(fs)
    try:
        yield files
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, str(error.errno))
        raise StoreError("store.io", f"expected to reach {what}, found {name} ({error.strerror})") from error
    finally:
        files.close()


@contextmanager
def _classified(fs: Fs, name: str, at: int, *, wanted: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _WRONG_KIND:
            raise
        try:
            kind = fs.stat_name(name, at).kind
        except (
            FileNotFoundError
        ):  # it went away in between: that is no "absent", the first call met something
            raise error from None
        if kind == "symlink":
            raise StoreError("store.symlink", f"expected a {wanted} at {name}, found a symlink") from None
        if kind != wanted:
            raise _not_regular(name, wanted, kind) from None
        raise


def _not_regular(name: str, wanted: str, kind: str) -> StoreError:
    return StoreError("store.not_regular", f"expected a {wanted} at {name}, found a {kind}")


def read_up_to(fs: Fs, fd: int, limit: int) -> bytes:
    """The bytes of an open file, at most ``limit`` of them."""
    parts: list[bytes] = []
    left = limit
    while left and (part := fs.read(fd, min(left, _READ_SIZE))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def write_all(fs: Fs, fd: int, data: bytes) -> None:
    """Writes all of ``data``, however short the single writes are."""
    rest = memoryview(data)
    while rest:
        written = fs.write(fd, rest)
        if written == 0:  # no progress and no errno: retrying would never end
            raise OSError(errno.EIO, "write made no progress")
        rest = rest[written:]


def temp_name(fs: Fs) -> str:
    """A name for a file in the making, beside its final name."""
    return f".{fs.random_name()}.tmp"


def is_temp_name(name: str) -> bool:
    """Whether a writer may have left this name behind."""
    return name.startswith(".") and name.endswith(".tmp")


def replace_file(files: OpenFiles, fence: Fence, at: int, name: str, data: bytes) -> None:
    """Makes ``data`` the content of ``name``, durably and in one step."""
    fs = files.fs
    temp = temp_name(fs)
    fd = files.keep(fs.create(temp, at))
    try:
        write_all(fs, fd, data)
        fence.sync(fd)
        fs.rename(temp, name, at)
    except BaseException:  # also on Ctrl-C: leave no temp behind
        with suppress(OSError):
            fs.unlink(temp, at)
        raise
    fence.sync(at)
