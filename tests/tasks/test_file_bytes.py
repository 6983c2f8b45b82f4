"""The bytes of local files: hashed as they are read, unpacked within bounds."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from capsules.content_id import content_id
from tasks.base import TaskError
from tasks.file_bytes import CHUNK, FileBytes, files_revision


def test_the_id_is_that_of_the_bytes_that_were_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * (CHUNK + 1))
    file = FileBytes(tmp_path / "a")
    assert [len(chunk) for chunk in file.chunks()] == [CHUNK, 1]
    assert file.revision() == f"file:{content_id(b'x' * (CHUNK + 1))}"


def test_the_id_of_a_packed_file_is_that_of_its_content(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"text\n"))
    file = FileBytes(tmp_path / "a.gz")
    assert b"".join(file.chunks()) == b"text\n"
    assert file.revision() == f"file:{content_id(b'text' + bytes([10]))}"


def test_the_id_is_unknown_before_the_end(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * (CHUNK + 1))
    file = FileBytes(tmp_path / "a")
    next(file.chunks())
    with pytest.raises(TaskError, match="when all of it has been read"):
        file.revision()


@pytest.mark.parametrize("kept", [-6, 12])
def test_a_broken_packed_file_is_an_error(tmp_path: Path, kept: int) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(b'{"a": 1}\n')[:kept])
    with pytest.raises(TaskError, match=r"a\.gz: cannot be read"):
        list(FileBytes(tmp_path / "a.gz").chunks())


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"b\.json: cannot be read"):
        list(FileBytes(tmp_path / "b.json").chunks())


def test_a_file_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b"\x00" * (220 << 20), compresslevel=1))
    read: list[int] = []
    with pytest.raises(TaskError, match="unpacks to more than 200 times its size"):
        read.extend(len(chunk) for chunk in FileBytes(tmp_path / "bomb.gz").chunks())
    assert sum(read) <= 200 << 20


def test_the_id_of_several_files_is_that_of_their_bytes_in_order(tmp_path: Path) -> None:
    paths = tuple(tmp_path / name for name in "ab")
    for path in paths:
        path.write_bytes(path.name.encode())
    assert files_revision(paths) == f"file:{content_id(b'ab')}"
