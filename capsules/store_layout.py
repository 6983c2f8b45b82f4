"""The folders of a store on disk, and the file that says so.

    <root>/FORMAT                {"format":"capsule-store/1","hash":"b3"}
    <root>/objects/b3/ab/<62 hex>      exact bytes, mode 0444; temps ".<16 hex>.tmp" beside them
    <root>/refs/<hex of project>/<hex of capsule_id>.json
    <root>/quarantine/<hex expected>.<hex found>       corrupt bytes, for a person, never served

* Another FORMAT is refused (one hash per store: two names for one object would defeat deny-lists,
  de-duplication and audit), and so is a folder with other things in it and no FORMAT.
* FORMAT is written after the folders, and every writing handle fsyncs the folders once before its
  first acknowledgement: it cannot know whether the handle that made them got so far.
* What is wrong with the root, FORMAT or a folder that all objects share is an ``UnusableStoreError``:
  it says nothing about any one object.
* A read-only handle writes nothing, not even the layout.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

from capsules.errors import StoreError
from capsules.fs import Fs
from capsules.store import UnusableStoreError
from capsules.store_files import Fence, OpenFiles, is_temp_name, read_up_to, replace_file

FORMAT_BYTES = b'{"format":"capsule-store/1","hash":"b3"}'
OBJECTS, HASH, REFS, QUARANTINE = "objects", "b3", "refs", "quarantine"
_FORMAT = "FORMAT"
_OWN_NAMES = frozenset({_FORMAT, OBJECTS, REFS, QUARANTINE})


class Layout:
    """Where the folders of one store are, for one handle.

    Args:
        base: Folder that holds the store's folder; symlinks on the way are the user's business.
        name: Name of the store's folder inside it; never a symlink.
        fs: The file system.
        read_only: Never write: a missing store is ``store.not_found``.
    """

    __slots__ = ("_base", "_checked", "_name", "_shards", "fence", "fs", "read_only")

    def __init__(self, base: str, name: str, fs: Fs, *, read_only: bool) -> None:
        self._base = base
        self._name = name
        self.fs = fs
        self.read_only = read_only
        self.fence = Fence(fs)
        self._checked = False
        self._shards: set[str] = set()

    def require_writable(self) -> None:
        """Refuses a write through a read-only or broken handle.

        Raises:
            StoreError: ``store.read_only`` or ``store.poisoned``.
        """
        if self.read_only:
            raise StoreError("store.read_only", "expected a writable handle, found a read-only one")
        self.fence.check()

    def root(self, files: OpenFiles) -> int:
        """The store's folder; checked, and made where needed, once per handle.

        Raises:
            UnusableStoreError: ``store.not_found``, ``store.format.unknown``, ``store.symlink`` or
                ``store.not_regular``.
        """
        with _shared():
            return self._root(files)

    def _root(self, files: OpenFiles) -> int:
        base = files.keep(self.fs.open_base(self._base))
        if not self._checked and not self.read_only:
            self._make(files, base)
        try:
            root = files.folder(self._name, base)
        except FileNotFoundError:
            raise StoreError("store.not_found", "expected a store's folder, found nothing there") from None
        if not self._checked:
            self._check_format(files, root)
            self._checked = True
        return root

    def folder(self, files: OpenFiles, *names: str) -> int:
        """A folder below the root; ``FileNotFoundError`` where it does not exist."""
        at = self.root(files)
        shared = 2 if names[:1] == (OBJECTS,) else 1
        for depth, name in enumerate(names):
            with _shared() if depth < shared else nullcontext():
                at = files.folder(name, at)
        return at

    def shards(self, files: OpenFiles, names: set[str]) -> dict[str, int]:
        """The folders of objects with these first two digits, made durable before they are used."""
        at = self.folder(files, OBJECTS, HASH)
        new = names - self._shards
        for name in sorted(new):
            _make_folder(self.fs, name, at)
        if new:
            self.fence.sync(at)
            self._shards |= new
        return {name: files.folder(name, at) for name in sorted(names)}

    def sub_folder(self, files: OpenFiles, parent: str, name: str) -> int:
        """A folder inside one of the root's folders, made durable before it is used."""
        at = self.folder(files, parent)
        _make_folder(self.fs, name, at)
        self.fence.sync(at)
        return files.folder(name, at)

    def _make(self, files: OpenFiles, base: int) -> None:
        self.fence.check()
        _make_folder(self.fs, self._name, base)
        self.fence.sync(base)
        root = files.folder(self._name, base)
        present = self._read_format(files, root)
        if present is None:
            self._require_empty(root)
        elif present != FORMAT_BYTES:
            return  # refused by the check that follows, before anything is made
        for name in (OBJECTS, REFS, QUARANTINE):
            _make_folder(self.fs, name, root)
        objects = files.folder(OBJECTS, root)
        _make_folder(self.fs, HASH, objects)
        self.fence.sync(objects)
        if present is None:
            replace_file(files, self.fence, root, _FORMAT, FORMAT_BYTES)
        else:
            self.fence.sync(root)

    def _require_empty(self, root: int) -> None:
        other = [n for n in self.fs.list_dir(root) if n not in _OWN_NAMES and not is_temp_name(n)]
        if other:
            raise StoreError(
                "store.format.unknown", f"expected an empty folder or a store, found {len(other)} other names"
            )

    def _check_format(self, files: OpenFiles, root: int) -> None:
        found = self._read_format(files, root)
        if found != FORMAT_BYTES:
            what = "none" if found is None else f"{len(found)} other bytes"
            raise StoreError("store.format.unknown", f"expected FORMAT {FORMAT_BYTES.decode()}, found {what}")

    def _read_format(self, files: OpenFiles, root: int) -> bytes | None:
        try:
            fd = files.regular(_FORMAT, root)
        except FileNotFoundError:
            return None
        return read_up_to(self.fs, fd, len(FORMAT_BYTES) + 1)


@contextmanager
def _shared() -> Iterator[None]:
    """A refusal inside concerns the whole store."""
    try:
        yield
    except StoreError as error:
        raise UnusableStoreError(error.code, error.message) from error


def _make_folder(fs: Fs, name: str, at: int) -> None:
    with suppress(FileExistsError):
        fs.make_dir(name, at)
