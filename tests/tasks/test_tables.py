"""Parquet and Arrow files through ``datasets``: rows as they are, whatever the pieces."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.base import TaskError
from tasks.tables import table_rows

ROWS = [{"id": f"r{n}", "n": n, "parts": [{"text": "x", "at": n}], "sub": {"k": ["v"]}} for n in range(7)]


def parquet(folder: Path, *, group: int = 100, name: str = "a.parquet") -> Path:
    pq.write_table(pa.Table.from_pylist(ROWS), folder / name, row_group_size=group)
    return folder / name


def arrow(folder: Path, *, stream: bool) -> Path:
    table, path = pa.Table.from_pylist(ROWS), folder / f"{stream}.arrow"
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with pa.OSFile(str(path), "wb") as sink, make(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return path


@pytest.mark.parametrize("batch", [1, 3, 64])
@pytest.mark.parametrize("kind", ["parquet", "small groups", "arrow stream", "arrow file"])
def test_rows_do_not_depend_on_how_they_are_cut(tmp_path: Path, kind: str, batch: int) -> None:
    if "arrow" in kind:
        path = arrow(tmp_path, stream=kind == "arrow stream")
    else:
        path = parquet(tmp_path, group=2 if kind == "small groups" else 100)
    rows = list(table_rows((path,), batch=batch))
    assert [one.value for one in rows] == ROWS
    assert [one.where for one in rows] == [f"row {n}" for n in range(7)]


def test_files_follow_each_other(tmp_path: Path) -> None:
    both = parquet(tmp_path), parquet(tmp_path, name="b.parquet")
    assert [one.value for one in table_rows(both)] == ROWS * 2


def test_with_columns_others_are_not_looked_at(tmp_path: Path) -> None:
    (row, *_) = table_rows((parquet(tmp_path),), ("id",), ("n", "title"))
    assert row.value == {"id": "r0", "n": 0}


def test_a_missing_column_is_an_error_that_names_both(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="expected the columns id, question; found id, n, parts, sub"):
        list(table_rows((parquet(tmp_path),), ("id", "question")))


@pytest.mark.parametrize(("name", "kind"), [("a.parquet", "Parquet"), ("a.arrow", "Arrow")])
@pytest.mark.parametrize("data", [b"", b"not a table", b"PAR1" * 10])
def test_what_is_no_table_is_an_error_that_names_the_file(
    tmp_path: Path, name: str, kind: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(TaskError, match=rf"{name}: cannot be read as {kind}"):
        list(table_rows((tmp_path / name,)))


def test_a_table_that_breaks_off_is_an_error(tmp_path: Path) -> None:
    path = arrow(tmp_path, stream=True)
    path.write_bytes(path.read_bytes()[:-400])
    with pytest.raises(TaskError, match="cannot be read as Arrow"):
        list(table_rows((path,)))


def test_new_bytes_under_an_old_name_and_time_are_read_anew(tmp_path: Path) -> None:
    path = parquet(tmp_path)
    os.utime(path, (1, 1))
    assert len(list(table_rows((path,)))) == 7
    pq.write_table(pa.table({"id": ["new"]}), path)
    os.utime(path, (1, 1))
    assert [one.value for one in table_rows((path,))] == [{"id": "new"}]


def test_nothing_is_asked_of_the_network_and_no_cache_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("asked the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    path = parquet(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert len(list(table_rows((path,)))) == 7
    assert sorted(tmp_path.iterdir()) == before
