"""Refs: which digest a capsule_id of a project stands for now, and that it never goes back.

A ref file is named by the BLAKE3 of project and capsule_id (a name is never a path) and holds
canonical JSON with a ``digest`` of its own:

    {"capsule_id", "digest", "id", "project", "schema_id": "ref/1", "version"}

* ``swap`` is compare-and-swap under the lock of the project's folder: the caller says which ref it
  saw; another one there is ``ref.conflict``. The version rises by one with each swap.
* A handle remembers the newest version that it saw. A lower one, another id under the same
  version, or a ref that vanished is ``ref.rollback``. Callers that keep the version across
  processes pass it as ``at_least``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from capsules.canonical import canonical_bytes, parse_strict
from capsules.content_id import content_id, is_content_id, require_content_id
from capsules.errors import CapsuleError, StoreError
from capsules.store import missing
from capsules.store_files import OpenFiles, open_files, read_up_to, replace_file
from capsules.store_layout import REFS, Layout

_SCHEMA_ID = "ref/1"
_MAX_REF_BYTES = 1 << 20
_MAX_VERSION = 2**53 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """What a name stood for at one version."""

    project: str
    capsule_id: str
    id: str
    version: int


class Refs:
    """The refs of one store handle.

    Args:
        layout: The store's folders.
        has: Whether an object is in the store; a ref to nothing is refused.
    """

    __slots__ = ("_has", "_layout", "_newest")

    def __init__(self, layout: Layout, has: Callable[[str], bool]) -> None:
        self._layout = layout
        self._has = has
        self._newest: dict[tuple[str, str], Ref] = {}

    def read(self, project: str, capsule_id: str, *, at_least: int = 0) -> Ref | None:
        """The current ref, or ``None`` where there never was one.

        Raises:
            StoreError: ``ref.rollback``, ``ref.malformed``, ``bytes.digest.mismatch``, ``store.*``.
        """
        with open_files(self._layout.fs, "a ref") as files:
            try:
                at = self._layout.folder(files, REFS, _hex(project))
            except FileNotFoundError:
                return self._no_older(project, capsule_id, None, at_least)
            return self._no_older(project, capsule_id, _load(files, at, project, capsule_id), at_least)

    def swap(self, project: str, capsule_id: str, object_id: str, *, seen: Ref | None) -> Ref:
        """Points the name to another object if it still is what the caller saw.

        Raises:
            SchemaError: ``id.malformed``.
            StoreError: ``ref.conflict``, ``object.missing`` (the target), or as ``read``.
        """
        require_content_id(object_id)
        self._layout.require_writable()
        if not self._has(object_id):
            raise missing(object_id)
        with open_files(self._layout.fs, "a ref") as files:
            at = self._layout.sub_folder(files, REFS, _hex(project))
            self._layout.fs.lock(at)
            current = self._no_older(project, capsule_id, _load(files, at, project, capsule_id), 0)
            if current != seen:
                raise StoreError("ref.conflict", f"expected {_name(seen)}, found {_name(current)}")
            version = 1 if current is None else current.version + 1
            ref = Ref(project=project, capsule_id=capsule_id, id=object_id, version=version)
            replace_file(files, self._layout.fence, at, f"{_hex(capsule_id)}.json", _encode(ref))
        self._newest[project, capsule_id] = ref
        return ref

    def _no_older(self, project: str, capsule_id: str, ref: Ref | None, at_least: int) -> Ref | None:
        newest = self._newest.get((project, capsule_id))
        version = 0 if ref is None else ref.version
        floor = max(at_least, 0 if newest is None else newest.version)
        if version < floor:
            raise StoreError("ref.rollback", f"expected version {floor} or later, found {version}")
        if newest is not None and ref is not None and version == newest.version and ref.id != newest.id:
            raise StoreError("ref.rollback", f"expected {_name(newest)}, found {_name(ref)}")
        if ref is not None:
            self._newest[project, capsule_id] = ref
        return ref


def _hex(name: str) -> str:
    try:
        return content_id(name.encode())[3:]
    except UnicodeEncodeError:
        raise StoreError(
            "json.string.surrogate", "expected a name in Unicode text, found a surrogate"
        ) from None


def _name(ref: Ref | None) -> str:
    return "no ref" if ref is None else f"version {ref.version} of {ref.id}"


def _encode(ref: Ref) -> bytes:
    record: dict[str, str | int] = {
        "capsule_id": ref.capsule_id,
        "id": ref.id,
        "project": ref.project,
        "schema_id": _SCHEMA_ID,
        "version": ref.version,
    }
    digest = content_id(canonical_bytes(record))
    return canonical_bytes(record | {"digest": digest})


def _load(files: OpenFiles, at: int, project: str, capsule_id: str) -> Ref | None:
    try:
        fd = files.regular(f"{_hex(capsule_id)}.json", at)
    except FileNotFoundError:
        return None
    data = read_up_to(files.fs, fd, _MAX_REF_BYTES)
    try:
        value = parse_strict(data)
    except CapsuleError as error:
        raise StoreError("ref.malformed", f"expected a ref, found {error.code}") from error
    match value:
        case {"id": str(object_id), "version": int(version)} if (
            is_content_id(object_id) and 1 <= version <= _MAX_VERSION
        ):
            ref = Ref(project=project, capsule_id=capsule_id, id=object_id, version=version)
        case _:
            raise StoreError("ref.malformed", "expected id and version of a ref, found another shape")
    expected = _encode(ref)
    if data != expected:
        # One comparison covers key set, names, canonical form and the ref's own digest.
        raise StoreError(
            "bytes.digest.mismatch",
            f"expected a ref of {len(expected)} bytes with its digest, found other bytes",
        )
    return ref
