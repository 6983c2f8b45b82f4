"""The store on the real file system."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st
from stored import FORMAT, ID, A, B, code_of, path_of

from capsules.content_id import content_id
from capsules.disk_store import DiskStore
from capsules.os_fs import OsFs
from capsules.store import MAX_OBJECT_BYTES, MemoryStore, Store, VerifiedBytes


def rot(path: Path, data: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(data)


def test_the_file_is_the_object_and_its_name_is_its_digest(store: DiskStore, root: Path) -> None:
    assert store.put(A) == ID
    path = path_of(root)

    assert path.read_bytes() == A
    assert blake3(path.read_bytes()).hexdigest() == path.parent.name + path.name
    assert stat.S_IMODE(path.stat().st_mode) == 0o444
    assert (root / "FORMAT").read_bytes() == FORMAT
    assert sorted(entry.name for entry in root.iterdir()) == ["FORMAT", "objects", "quarantine", "refs"]


@pytest.mark.parametrize("make", [MemoryStore, None])
def test_every_store_keeps_and_verifies(make: Callable[[], Store] | None, root: Path) -> None:
    store = DiskStore(root) if make is None else make()
    objects = [b"", A, bytes(range(256)) * 5000, A]

    assert store.put_many(objects) == [content_id(data) for data in objects]
    assert [store.get(content_id(data)).data for data in objects] == objects
    assert store.has(ID)
    assert not store.has(content_id(b"never put"))
    assert code_of(lambda: store.get(content_id(b"never put"))) == "object.missing"
    assert code_of(lambda: store.get(ID, max_bytes=len(A) - 1)) == "bytes.size.exceeded"
    assert store.get(ID, max_bytes=len(A)).data == A
    assert store.put_many([]) == []


def test_put_again_changes_nothing(store: DiskStore, root: Path) -> None:
    store.put(A)
    before = path_of(root).stat()

    assert store.put(A) == ID
    assert path_of(root).stat().st_ino == before.st_ino


def test_more_objects_than_one_batch(store: DiskStore) -> None:
    objects = [b"%d" % number for number in range(600)]

    ids = store.put_many(iter(objects))

    assert ids == [content_id(data) for data in objects]
    assert list(store.ids()) == sorted(ids)


@pytest.mark.parametrize("bad", [b"", A[:-1], A + b"!", b"first objecT", bytes(len(A))])
def test_corrupt_bytes_are_never_served(store: DiskStore, root: Path, bad: bytes) -> None:
    store.put(A)
    rot(path_of(root), bad)

    assert code_of(lambda: store.get(ID)) == "bytes.digest.mismatch"
    kept = root / "quarantine" / f"{ID[3:]}.{content_id(bad)[3:]}"
    assert kept.read_bytes() == bad
    assert code_of(lambda: store.get(ID)) == "bytes.digest.mismatch"  # again, and never "missing"
    assert store.put(A) == ID
    assert store.get(ID).data == A


def test_every_flipped_bit_and_every_truncation_is_found(store: DiskStore, root: Path) -> None:
    store.put(A)
    path = path_of(root)
    variants = [A[:size] for size in range(len(A))]
    variants += [
        bytes([*A[:at], A[at] ^ (1 << bit), *A[at + 1 :]]) for at in range(len(A)) for bit in range(8)
    ]
    for variant in variants:
        rot(path, variant)
        assert code_of(lambda: DiskStore(root, read_only=True).get(ID)) == "bytes.digest.mismatch"


def test_a_read_only_handle_writes_nothing(root: Path, tmp_path: Path) -> None:
    reader = DiskStore(root, read_only=True)
    assert code_of(lambda: reader.get(ID)) == "store.not_found"
    assert not root.exists()
    writer = DiskStore(root)
    writer.put(A)
    rot(path_of(root), B)

    assert code_of(lambda: reader.get(ID)) == "bytes.digest.mismatch"
    assert list((root / "quarantine").iterdir()) == []
    assert code_of(lambda: reader.put(A)) == "store.read_only"
    assert code_of(lambda: reader.remove_temps()) == "store.read_only"
    assert code_of(lambda: reader.refs.swap("p", "n", ID, seen=None)) == "store.read_only"


def test_the_bytes_that_were_verified_are_the_bytes_that_are_used(store: DiskStore, root: Path) -> None:
    store.put(A)
    verified = store.get(ID)
    rot(path_of(root), B)  # swapped after the check

    assert verified.data == A
    assert code_of(lambda: VerifiedBytes(id=ID, data=B)) == "bytes.digest.mismatch"


def test_a_store_that_was_made_halfway_is_finished(root: Path) -> None:
    (root / "objects").mkdir(parents=True)
    (root / ".0123456789abcdef.tmp").write_bytes(b"{")

    assert DiskStore(root).put(A) == ID
    assert DiskStore(root).remove_temps() == 1


def test_a_missing_parent_folder_is_an_error(tmp_path: Path) -> None:
    assert code_of(lambda: DiskStore(tmp_path / "no" / "store").put(A)) == "store.io"


def test_an_object_over_the_cap_is_refused_on_both_sides(store: DiskStore, root: Path) -> None:
    assert code_of(lambda: store.put(bytes(MAX_OBJECT_BYTES + 1))) == "bytes.size.exceeded"
    store.put(A)
    with open(path_of(root).parent / ("0" * 62), "wb") as file:
        file.truncate(MAX_OBJECT_BYTES + 1)  # sparse
    big = f"b3:{ID[3:5]}{'0' * 62}"

    assert code_of(lambda: store.get(big)) == "bytes.size.exceeded"


def test_stray_names_are_no_objects_and_temps_can_be_removed(store: DiskStore, root: Path) -> None:
    store.put(A)
    store.refs.swap("demo", "n", ID, seen=None)
    shard = path_of(root).parent
    (shard / ".0123456789abcdef.tmp").write_bytes(b"half")
    (shard / "README").write_bytes(b"")
    (root / "objects" / "b3" / "not-a-shard").mkdir()

    assert list(store.ids()) == [ID]
    assert store.remove_temps() == 1
    assert store.remove_temps() == 0
    assert store.get(ID).data == A


def test_ids_of_a_store_without_objects(root: Path) -> None:
    (root).mkdir()
    (root / "FORMAT").write_bytes(FORMAT)

    assert list(DiskStore(root, read_only=True).ids()) == []
    assert not DiskStore(root, read_only=True).has(ID)


def test_fsync_errors_of_threads_are_not_lost(tmp_path: Path) -> None:
    file = os.open(tmp_path / "f", os.O_CREAT | os.O_WRONLY)
    closed = os.dup(file)
    os.close(closed)
    try:
        with pytest.raises(OSError, match="Bad file"):
            OsFs().fsync_all([file, closed, file])
        with pytest.raises(OSError, match="Bad file"):
            OsFs().fsync_all([closed])
    finally:
        os.close(file)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=6))
def test_a_store_is_a_set(objects: list[bytes]) -> None:
    memory = MemoryStore()
    assert memory.put_many(objects) == [content_id(data) for data in objects]
    for data in objects:
        assert memory.get(content_id(data)).data == data
