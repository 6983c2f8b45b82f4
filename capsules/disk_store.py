"""The content-addressed store on disk.

put: validate, open the shard without following symlinks, read and verify what is present, else
temp, write loop, fsync, rename, fsync of the folder, and only then acknowledge. Rules:

* *Already present* acknowledges no less: another writer may have renamed the object a moment ago
  and not yet flushed it, so file and folder are fsynced on that path too.
* A corrupt object is copied to the quarantine and, when it is put again, replaced by a rename over
  it. It is never moved away: a reader would see "missing" where it must see "mismatch", and a move
  could take along the healthy object that another writer has just put in its place.
* ``put_many`` is one fence a batch: all files are written, then all flushed, then all renamed, then
  the folders flushed. It acknowledges nothing before all of it is durable.
* What power loss or a kill leaves behind are temps; ``remove_temps`` takes them away.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from capsules.content_id import content_id, require_content_id
from capsules.errors import StoreError
from capsules.fs import Fs
from capsules.os_fs import OsFs
from capsules.store import MAX_OBJECT_BYTES, DigestMismatchError, VerifiedBytes, check_size, missing
from capsules.store_files import (
    OpenFiles,
    is_temp_name,
    open_files,
    read_up_to,
    replace_file,
    temp_name,
    write_all,
)
from capsules.store_layout import HASH, OBJECTS, QUARANTINE, REFS, Layout
from capsules.store_refs import Refs

_BATCH_OBJECTS = 256  # open files a batch: well below the usual limit of 1,024
_BATCH_BYTES = 64 << 20
_OBJECT_NAME = re.compile(r"[0-9a-f]{62}")
_SHARD_NAME = re.compile(r"[0-9a-f]{2}")


@dataclass(slots=True, kw_only=True)
class _Staged:
    """A file on its way: written or found, not yet durable."""

    fd: int
    at: int
    name: str
    temp: str | None  # None once it has its final name


class DiskStore:
    """A store in a folder (see the module for its rules).

    Args:
        root: The store's folder; made by the first write, its parent must exist.
        fs: The file system; another one only in tests.
        read_only: For inspection: nothing is written, made, healed or quarantined.
    """

    __slots__ = ("_layout", "refs")

    def __init__(
        self, root: str | os.PathLike[str], fs: Fs | None = None, *, read_only: bool = False
    ) -> None:
        base, name = os.path.split(os.path.abspath(root))
        self._layout = Layout(base, name, OsFs() if fs is None else fs, read_only=read_only)
        self.refs = Refs(self._layout, self.has)

    def put(self, data: bytes) -> str:
        """Stores an object durably and returns its id.

        Raises:
            StoreError: ``bytes.size.exceeded``, ``store.*``; nothing was acknowledged then.
        """
        return self.put_many((data,))[0]

    def put_many(self, objects: Iterable[bytes]) -> list[str]:
        """Stores objects durably, one fence a batch, and returns their ids in order.

        Raises:
            StoreError: As ``put``. Objects of earlier batches may be there; none is acknowledged.
        """
        self._layout.require_writable()
        ids: list[str] = []
        batch: dict[str, bytes] = {}
        size = 0
        for data in objects:
            object_id = content_id(data)
            check_size(object_id, len(data), None)
            ids.append(object_id)
            batch[object_id] = data
            size += len(data)
            if len(batch) >= _BATCH_OBJECTS or size >= _BATCH_BYTES:
                self._put_batch(batch)
                batch, size = {}, 0
        if batch:
            self._put_batch(batch)
        return ids

    def get(self, object_id: str, *, max_bytes: int | None = None) -> VerifiedBytes:
        """Reads an object once and returns the bytes that were hashed.

        Raises:
            SchemaError: ``id.malformed``; no call to the file system was made.
            StoreError: ``object.missing``, ``bytes.size.exceeded``, ``bytes.digest.mismatch`` (the
                bytes are in the quarantine then) or ``store.*``.
        """
        require_content_id(object_id)
        with open_files(self._layout.fs, object_id) as files:
            try:
                at = self._layout.folder(files, OBJECTS, HASH, object_id[3:5])
                fd = files.regular(object_id[5:], at)
            except FileNotFoundError:
                raise missing(object_id) from None
            limit = MAX_OBJECT_BYTES if max_bytes is None else max_bytes
            check_size(object_id, files.fs.stat(fd).size, limit)
            data = read_up_to(files.fs, fd, limit)
        try:
            return VerifiedBytes(id=object_id, data=data)
        except DigestMismatchError:
            # Best effort: the answer is "mismatch" whether or not the copy could be kept.
            if not self._layout.read_only:
                with suppress(StoreError), open_files(self._layout.fs, object_id) as files:
                    self._quarantine(files, object_id, data)
            raise

    def has(self, object_id: str) -> bool:
        """Whether a regular file is there under this id, unread.

        Raises:
            SchemaError: ``id.malformed``.
            StoreError: ``store.symlink``, ``store.not_regular`` or another of ``store.*``.
        """
        require_content_id(object_id)
        with open_files(self._layout.fs, object_id) as files:
            try:
                at = self._layout.folder(files, OBJECTS, HASH, object_id[3:5])
                files.regular(object_id[5:], at)
            except FileNotFoundError:
                return False
            return True

    def ids(self) -> Iterator[str]:
        """The ids of all objects, sorted; unread, so some may turn out corrupt."""
        for shard in self._names(OBJECTS, HASH):
            if _SHARD_NAME.fullmatch(shard):
                for name in self._names(OBJECTS, HASH, shard):
                    if _OBJECT_NAME.fullmatch(name):
                        yield f"b3:{shard}{name}"

    def remove_temps(self) -> int:
        """Removes what killed writers left behind. Only while no other writer is at work."""
        self._layout.require_writable()
        folders = [(), (QUARANTINE,)]
        folders += [(OBJECTS, HASH, shard) for shard in self._names(OBJECTS, HASH)]
        folders += [(REFS, project) for project in self._names(REFS)]
        removed = 0
        for names in folders:
            with open_files(self._layout.fs, "temps") as files:
                at = self._layout.folder(files, *names)
                for name in filter(is_temp_name, files.fs.list_dir(at)):
                    files.fs.unlink(name, at)
                    removed += 1
        return removed

    def _names(self, *folder: str) -> list[str]:
        with open_files(self._layout.fs, "/".join(folder)) as files:
            try:
                return sorted(files.fs.list_dir(self._layout.folder(files, *folder)))
            except FileNotFoundError:
                return []

    def _put_batch(self, batch: dict[str, bytes]) -> None:
        layout = self._layout
        what = f"{len(batch)} objects from {min(batch)}"
        with open_files(layout.fs, what) as files:
            shards = layout.shards(files, {object_id[3:5] for object_id in batch})
            staged: list[_Staged] = []
            try:
                for object_id, data in batch.items():
                    self._stage(files, shards[object_id[3:5]], object_id, data, staged)
                layout.fence.sync(*(entry.fd for entry in staged))
                for entry in staged:
                    if entry.temp is not None:
                        layout.fs.rename(entry.temp, entry.name, entry.at)
                        entry.temp = None
                layout.fence.sync(*shards.values())
            finally:  # also on Ctrl-C: leave no temp behind
                for entry in staged:
                    if entry.temp is not None:
                        with suppress(OSError):
                            layout.fs.unlink(entry.temp, entry.at)

    def _stage(self, files: OpenFiles, at: int, object_id: str, data: bytes, staged: list[_Staged]) -> None:
        name = object_id[5:]
        present = self._present(files, at, object_id)
        if present is not None:
            staged.append(_Staged(fd=present, at=at, name=name, temp=None))
            return
        temp = temp_name(files.fs)
        fd = files.keep(files.fs.create(temp, at))
        staged.append(_Staged(fd=fd, at=at, name=name, temp=temp))
        write_all(files.fs, fd, data)

    def _present(self, files: OpenFiles, at: int, object_id: str) -> int | None:
        """The open file of an object that is there and whole."""
        try:
            fd = files.regular(object_id[5:], at)
        except FileNotFoundError:
            return None
        found = read_up_to(files.fs, fd, MAX_OBJECT_BYTES)
        if content_id(found) == object_id:
            return fd
        self._quarantine(files, object_id, found)
        return None

    def _quarantine(self, files: OpenFiles, object_id: str, data: bytes) -> None:
        at = self._layout.folder(files, QUARANTINE)
        replace_file(files, self._layout.fence, at, f"{object_id[3:]}.{content_id(data)[3:]}", data)
