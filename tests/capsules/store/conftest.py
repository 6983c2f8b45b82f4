"""File systems that fail, forget and lose power: ``Fs`` implemented in memory, faults by wrapping.

``ModelFs`` knows what is durable. Data that was not fsynced may be torn by a crash (nothing, half or
all of it is left, or what was durable before); operations on the names of a folder that was not
fsynced may have happened or not, each by itself.
"""

from __future__ import annotations

import errno
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from capsules.disk_store import DiskStore
from capsules.fs import FileStat

ERRNOS = (errno.ENOSPC, errno.EIO, errno.EMFILE, errno.EDQUOT, errno.EACCES, errno.ELOOP)


@dataclass(eq=False)
class Inode:
    kind: str
    data: bytearray = field(default_factory=bytearray)
    durable: bytes = b""
    clean: bool = True
    names: dict[str, Inode] = field(default_factory=dict)
    durable_names: dict[str, Inode] = field(default_factory=dict)
    pending: list[tuple[str, ...] | tuple[str, str, Inode]] = field(default_factory=list)


@dataclass(eq=False)
class Handle:
    inode: Inode
    position: int = 0


class ModelFs:
    """An ``Fs`` in memory, rooted at an empty durable folder."""

    def __init__(self) -> None:
        self.root = Inode("dir")
        self._handles: dict[int, Handle] = {}
        self._numbers = itertools.count(3)
        self._random = itertools.count(1)

    def _open(self, inode: Inode) -> int:
        number = next(self._numbers)
        self._handles[number] = Handle(inode)
        return number

    def _inode(self, fd: int) -> Inode:
        return self._handles[fd].inode

    def _look(self, name: str, at: int) -> Inode:
        names = self._inode(at).names
        if name not in names:
            raise FileNotFoundError(errno.ENOENT, "no such file")
        return names[name]

    def open_base(self, path: str) -> int:
        return self._open(self.root)

    def open_dir(self, name: str, at: int) -> int:
        inode = self._look(name, at)
        if inode.kind != "dir":
            raise NotADirectoryError(errno.ENOTDIR, "not a folder")
        return self._open(inode)

    def open_file(self, name: str, at: int) -> int:
        inode = self._look(name, at)
        if inode.kind == "symlink":
            raise OSError(errno.ELOOP, "symlink")
        return self._open(inode)

    def create(self, name: str, at: int) -> int:
        folder = self._inode(at)
        if name in folder.names:
            raise FileExistsError(errno.EEXIST, "exists")
        inode = Inode("file")
        self._name(folder, ("link", name, inode))
        return self._open(inode)

    def make_dir(self, name: str, at: int) -> None:
        folder = self._inode(at)
        if name in folder.names:
            raise FileExistsError(errno.EEXIST, "exists")
        self._name(folder, ("link", name, Inode("dir")))

    def _name(self, folder: Inode, op: Any) -> None:
        apply(folder.names, op)
        folder.pending.append(op)

    def stat(self, fd: int) -> FileStat:
        inode = self._inode(fd)
        return FileStat(kind=inode.kind, size=len(inode.data))

    def stat_name(self, name: str, at: int) -> FileStat:
        inode = self._look(name, at)
        return FileStat(kind=inode.kind, size=len(inode.data))

    def read(self, fd: int, size: int) -> bytes:
        handle = self._handles[fd]
        part = bytes(handle.inode.data[handle.position : handle.position + size])
        handle.position += len(part)
        return part

    def write(self, fd: int, data: memoryview) -> int:
        part = bytes(data[: max(1, len(data) // 2)])  # always short
        inode = self._inode(fd)
        inode.data += part
        inode.clean = False
        return len(part)

    def fsync_all(self, fds: Sequence[int]) -> None:
        for fd in fds:
            self.fsync(fd)

    def fsync(self, fd: int) -> None:
        inode = self._inode(fd)
        inode.durable, inode.clean = bytes(inode.data), True
        inode.durable_names = dict(inode.names)
        inode.pending.clear()

    def rename(self, old: str, new: str, at: int) -> None:
        inode = self._look(old, at)
        self._name(self._inode(at), ("rename", old, new, inode))

    def unlink(self, name: str, at: int) -> None:
        self._look(name, at)
        self._name(self._inode(at), ("unlink", name))

    def list_dir(self, fd: int) -> list[str]:
        return list(self._inode(fd).names)

    def lock(self, fd: int) -> None:
        pass

    def close(self, fd: int) -> None:
        del self._handles[fd]

    def random_name(self) -> str:
        return f"{next(self._random):016x}"

    def open_handles(self) -> int:
        return len(self._handles)

    def files(self) -> dict[str, bytes]:
        return {path: bytes(inode.data) for path, inode in walk(self.root) if inode.kind == "file"}

    def crash_states(self) -> Iterator[ModelFs]:
        """Every file system that a loss of power may leave, each once."""
        seen = set()
        for root in crashed(self.root):
            key = freeze(root)
            if key not in seen:
                seen.add(key)
                state = ModelFs()
                state._random = itertools.count(10**9)
                state.root = thaw(root)
                yield state


def apply(names: dict[str, Inode], op: Any) -> None:
    match op:
        case ("link", name, inode):
            names[name] = inode
        case ("unlink", name):
            names.pop(name, None)
        case ("rename", old, new, inode):
            names.pop(old, None)
            names[new] = inode


def walk(inode: Inode, path: str = "") -> Iterator[tuple[str, Inode]]:
    for name, child in sorted(inode.names.items()):
        yield f"{path}{name}", child
        yield from walk(child, f"{path}{name}/")


# A crashed tree: bytes for a file, a dict for a folder.
def crashed(inode: Inode) -> list[Any]:
    if inode.kind == "file":
        whole = bytes(inode.data)
        return [whole] if inode.clean else list({whole, whole[: len(whole) // 2], b"", inode.durable})
    trees = []
    for keep in itertools.product((False, True), repeat=len(inode.pending)):
        names = dict(inode.durable_names)
        for op, happened in zip(inode.pending, keep, strict=True):
            if happened:
                apply(names, op)
        choices = [[(name, tree) for tree in crashed(child)] for name, child in sorted(names.items())]
        trees += [dict(choice) for choice in itertools.product(*choices)]
    return trees


def freeze(tree: Any) -> Any:
    return tuple((name, freeze(child)) for name, child in tree.items()) if isinstance(tree, dict) else tree


def thaw(tree: Any) -> Inode:
    if isinstance(tree, bytes):
        return Inode("file", data=bytearray(tree), durable=tree)
    names = {name: thaw(child) for name, child in tree.items()}
    return Inode("dir", names=names, durable_names=dict(names))


class Stopped(BaseException):
    """The process died here: nothing of it runs any more, no cleanup either."""


class FaultFs:
    """Another ``Fs``, with call number ``at`` (from 0) failing or the last one that happens.

    Args:
        inner: The file system below.
        at: Which call; ``None`` only counts.
        error: The errno that the call raises; ``None`` kills the process before the call.
    """

    def __init__(self, inner: Any, at: int | None = None, error: int | None = None) -> None:
        self._inner = inner
        self._at = at
        self._error = error
        self.calls = 0
        self.failed: str | None = None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._inner, name)

        def call(*args: Any) -> Any:
            number = self.calls
            self.calls += 1
            if self._at is not None and self._error is None and number >= self._at:
                raise Stopped
            if number == self._at:
                self.failed = name
                raise OSError(self._error, "injected")
            return method(*args)

        return call


@dataclass(frozen=True)
class Faults:
    model: type[ModelFs]
    wrap: type[FaultFs]
    stopped: type[Stopped]
    inode: type[Inode]
    errnos: tuple[int, ...]


@pytest.fixture(scope="session")
def faults() -> Faults:
    """The file systems of this module (test modules cannot import each other)."""
    return Faults(model=ModelFs, wrap=FaultFs, stopped=Stopped, inode=Inode, errnos=ERRNOS)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(root: Path) -> DiskStore:
    return DiskStore(root)
