"""What the store refuses: names that are no ids, links, special files, folders of something else."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stored import FORMAT, ID, A, code_of, path_of

from capsules.disk_store import DiskStore
from capsules.errors import SchemaError
from capsules.store import MemoryStore

MALFORMED = [
    "",
    "b3",
    "b3:",
    ID + "\n",
    ID + "0",
    ID[:-1],
    ID.upper(),
    ID.replace("b3:", "B3:"),
    ID.replace("b3:", "sha256:"),
    " " + ID,
    ID + " ",
    ID[:-1] + "g",
    ID[:-1] + "\0",
    ID[:-1] + "/",
    ID[:-1] + "?",
    ID[:-1] + "٣",
    ID[:-1] + "３",
    ID[:-1] + "é",
    ID[:-1] + "\n",
    "b3:" + "../" * 21 + "a",
    "b3:" + "/" * 64,
    "b3:" + "." * 64,
    "b3:" + "-" * 64,
    "b3:..",
    "b3:../../etc/passwd",
    "/etc/passwd",
    "../FORMAT",
    "b3:" + "a" * 300,
    "b3:" + "a" * 65,
    "b3:" + "a" * 63,
    "b3:" + "A" * 64,
    "b3: " + "a" * 63,
    "b3:0x" + "a" * 62,
    "b3:" + "a" * 63 + "\u2028",
    "b3:" + "a" * 63 + "\u0430",
    "b3:" + "a" * 32 + "\0" + "a" * 31,
    "b3：" + "a" * 64,
    "b3:" + "%61" * 21 + "a",
    "b3\n:" + "a" * 64,
    "\ufeff" + ID,
]


def test_a_malformed_id_is_refused_without_a_call_to_the_file_system(faults: Any) -> None:
    counting = faults.wrap(faults.model())
    store = DiskStore("/store", counting)
    assert len(MALFORMED) == 40
    for bad in MALFORMED:
        for call in (store.get, store.has, lambda name: store.refs.swap("p", "n", name, seen=None)):
            with pytest.raises(SchemaError, match=r"id\.malformed"):
                call(bad)
        with pytest.raises(SchemaError, match=r"id\.malformed"):
            MemoryStore().get(bad)

    assert counting.calls == 0


def test_a_symlink_is_refused_wherever_it_stands(store: DiskStore, root: Path, tmp_path: Path) -> None:
    store.put(A)
    elsewhere = tmp_path / "elsewhere"
    for parts in (
        (),
        ("objects",),
        ("objects", "b3"),
        ("objects", "b3", ID[3:5]),
        ("objects", "b3", ID[3:5], ID[5:]),
    ):
        path = root.joinpath(*parts)
        path.rename(elsewhere)
        path.symlink_to(elsewhere)
        for call in (store.get, store.has):
            assert code_of(lambda call=call: call(ID)) == "store.symlink"  # type: ignore[misc]
        assert code_of(lambda: store.put(A)) == "store.symlink"
        assert code_of(lambda: DiskStore(root).put(A)) == "store.symlink"
        path.unlink()
        elsewhere.rename(path)

    assert store.get(ID).data == A


def test_a_symlinked_format_or_quarantine_is_refused(store: DiskStore, root: Path, tmp_path: Path) -> None:
    store.put(A)
    (root / "FORMAT").rename(tmp_path / "f")
    (root / "FORMAT").symlink_to(tmp_path / "f")
    assert code_of(lambda: DiskStore(root).get(ID)) == "store.symlink"


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the path of a socket may only be about 100 bytes long
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(here)


@pytest.mark.parametrize("make", [_fifo, _socket, Path.mkdir])
def test_special_files_are_refused_without_hanging(
    store: DiskStore, root: Path, make: Callable[[Path], None]
) -> None:
    store.put(A)
    path = path_of(root)
    path.unlink()
    make(path)

    for call in (lambda: store.get(ID), lambda: store.has(ID), lambda: store.put(A)):
        assert code_of(call) == "store.not_regular"


def test_a_file_in_place_of_a_folder_is_refused(store: DiskStore, root: Path) -> None:
    store.put(A)
    path_of(root).unlink()
    path_of(root).parent.rmdir()
    path_of(root).parent.write_bytes(b"")

    assert code_of(lambda: store.get(ID)) == "store.not_regular"
    assert code_of(lambda: store.put(A)) == "store.not_regular"


@pytest.mark.parametrize(
    "text",
    [b"", b"{}", FORMAT + b"\n", FORMAT.replace(b"/1", b"/2"), FORMAT.replace(b"b3", b"sha256"), FORMAT[:-1]],
)
def test_another_format_is_refused_and_left_alone(root: Path, text: bytes) -> None:
    root.mkdir()
    (root / "FORMAT").write_bytes(text)

    for store in (DiskStore(root), DiskStore(root, read_only=True)):
        assert code_of(lambda store=store: store.get(ID)) == "store.format.unknown"  # type: ignore[misc]
    assert code_of(lambda: DiskStore(root).put(A)) == "store.format.unknown"
    assert [entry.name for entry in root.iterdir()] == ["FORMAT"]


def test_a_folder_of_something_else_is_no_store(root: Path) -> None:
    root.mkdir()
    (root / "thesis.tex").write_bytes(b"years of work")

    assert code_of(lambda: DiskStore(root).put(A)) == "store.format.unknown"
    assert [entry.name for entry in root.iterdir()] == ["thesis.tex"]
