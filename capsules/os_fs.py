"""The real file system (POSIX): thin, without a decision of its own.

Interrupted calls are retried by Python itself (PEP 475). What a drive does after it has
acknowledged a flush is beyond this module.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from capsules.fs import FileStat

_FSYNC_THREADS = 8
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def _file_stat(result: os.stat_result) -> FileStat:
    mode = result.st_mode
    if stat.S_ISREG(mode):
        kind = "file"
    elif stat.S_ISDIR(mode):
        kind = "dir"
    elif stat.S_ISLNK(mode):
        kind = "symlink"
    else:
        kind = "other"
    return FileStat(kind=kind, size=result.st_size)


class OsFs:
    """``capsules.fs.Fs`` over the operating system."""

    __slots__ = ()

    def open_base(self, path: str) -> int:
        """Follows symlinks: the path is the user's."""
        return os.open(path, _FOLDER)

    def open_dir(self, name: str, at: int) -> int:
        """``O_NOFOLLOW``: a symlink is ``ENOTDIR``."""
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=at)

    def open_file(self, name: str, at: int) -> int:
        """``O_NOFOLLOW | O_NONBLOCK``: a symlink is ``ELOOP``, a FIFO opens at once."""
        return os.open(name, _READ, dir_fd=at)

    def create(self, name: str, at: int) -> int:
        """``O_EXCL``, mode 0444."""
        return os.open(name, _CREATE, 0o444, dir_fd=at)

    def make_dir(self, name: str, at: int) -> None:
        """Mode 0777 less the umask."""
        os.mkdir(name, 0o777, dir_fd=at)

    def stat(self, fd: int) -> FileStat:
        """``fstat``."""
        return _file_stat(os.fstat(fd))

    def stat_name(self, name: str, at: int) -> FileStat:
        """``lstat``."""
        return _file_stat(os.stat(name, dir_fd=at, follow_symlinks=False))

    def read(self, fd: int, size: int) -> bytes:
        """One ``read``."""
        return os.read(fd, size)

    def write(self, fd: int, data: memoryview) -> int:
        """One ``write``; it may be short."""
        return os.write(fd, data)

    def fsync_all(self, fds: Sequence[int]) -> None:
        """``fsync`` from several threads: a journal commits concurrent ones together.

        Measured on ext4 with 4 KB objects in 256 folders: 200 to 3,100 objects a second one by
        one, depending on what else the disk does, against 4,000 to 5,000 at once.
        """
        if len(fds) == 1:
            os.fsync(fds[0])
            return
        with ThreadPoolExecutor(_FSYNC_THREADS) as pool:
            for result in [pool.submit(os.fsync, fd) for fd in fds]:
                result.result()

    def rename(self, old: str, new: str, at: int) -> None:
        """``rename``: atomic, replaces."""
        os.rename(old, new, src_dir_fd=at, dst_dir_fd=at)

    def unlink(self, name: str, at: int) -> None:
        """``unlink``."""
        os.unlink(name, dir_fd=at)

    def list_dir(self, fd: int) -> list[str]:
        """``readdir`` to its end."""
        return os.listdir(fd)

    def lock(self, fd: int) -> None:
        """``flock``: released when the handle closes, also by the death of the process."""
        fcntl.flock(fd, fcntl.LOCK_EX)

    def close(self, fd: int) -> None:
        """``close``."""
        os.close(fd)

    def random_name(self) -> str:
        """64 random bits from the operating system."""
        return os.urandom(8).hex()
