"""The only reader and downloader: folders, strict files, Parquet, and hub commits by value."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsules.content_id import content_id
from tasks.base import TaskError, TaskSpec
from tasks.sources import (
    HubSet,
    data_folder,
    find_file,
    find_parquet,
    read_json,
    read_json_lines,
    read_parquet,
    require_revision,
)
from tasks.strict_json import Fault

COMMIT = "51adfef1c1287aab1d2d91b5bead9bcfb9c68583"
HUB = HubSet(repo="google/xquad", config="xquad.en", split="validation")


@pytest.mark.parametrize(
    "revision", [None, "", "main", "51adfef", COMMIT.upper(), COMMIT + "\n", COMMIT + "0"]
)
def test_only_a_full_commit_hash_is_a_revision(revision: str | None) -> None:
    with pytest.raises(TaskError, match="40 hex"):
        require_revision(revision, "google/xquad")


def test_a_full_commit_hash_is_a_revision() -> None:
    assert require_revision(COMMIT, "google/xquad") == COMMIT


def test_no_folder_set_means_none(make_spec: Callable[..., TaskSpec]) -> None:
    assert data_folder(make_spec(data_dir=None), "x") is None
    assert data_folder(make_spec(data_dir=""), "x") is None


def test_a_missing_folder_names_the_variable_and_what_was_expected_where(
    make_spec: Callable[..., TaskSpec], tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    with pytest.raises(TaskError) as caught:
        data_folder(make_spec(data_dir=str(gone)), "xquad/xquad.en.json")
    for part in ("CAPSULE_DATA", "task.data_dir", "xquad/xquad.en.json", str(gone)):
        assert part in str(caught.value)


def test_a_file_in_place_of_the_folder_is_no_folder(
    make_spec: Callable[..., TaskSpec], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(TaskError, match="no such folder"):
        data_folder(make_spec(data_dir=str(tmp_path / "file")), "x")


def test_the_first_name_that_exists_is_taken(make_spec: Callable[..., TaskSpec], tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text("{}")
    assert find_file(make_spec(), tmp_path, ("a.json", "b.json"), "a.json") == tmp_path / "b.json"
    with pytest.raises(TaskError, match="CAPSULE_DATA"):
        find_file(make_spec(), tmp_path, ("c.json",), "c.json")


def test_a_json_file_comes_with_the_id_of_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'{"a": NaN}')
    value, file_id = read_json(tmp_path / "a.json")
    assert value == {"a": Fault(code="json.constant", reason="the literal NaN")}
    assert file_id == content_id(b'{"a": NaN}')


def test_a_json_file_without_structure_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'{"a": ')
    with pytest.raises(TaskError, match=r"a\.json: json\.syntax"):
        read_json(tmp_path / "a.json")


def test_json_lines_keep_the_good_lines_beside_bad_ones(write_lines: Callable[..., Path]) -> None:
    path = write_lines('{"a": 1}', "{", "", "  ", b'{"b": "\xff"}', '{"c": 3}\r')
    rows = read_json_lines(path).rows
    assert [one.where for one in rows] == ["line 1", "line 2", "line 5", "line 6"]
    assert rows[0].value == {"a": 1}
    assert isinstance(rows[1].value, Fault)
    assert rows[1].value.code == "json.syntax"
    assert isinstance(rows[2].value, Fault)
    assert rows[2].value.code == "json.utf8.invalid"
    assert rows[3].value == {"c": 3}


def test_lines_end_at_line_feeds_alone(write_lines: Callable[..., Path]) -> None:
    rows = read_json_lines(write_lines('{"a": "x\u2028y\u0085z"}')).rows
    assert [one.value for one in rows] == [{"a": "x\u2028y\u0085z"}]


def test_gzip_is_unpacked_and_a_broken_one_is_an_error(tmp_path: Path) -> None:
    packed = gzip.compress(b'{"a": 1}\n')
    (tmp_path / "a.jsonl.gz").write_bytes(packed)
    assert [one.value for one in read_json_lines(tmp_path / "a.jsonl.gz").rows] == [{"a": 1}]
    (tmp_path / "b.jsonl.gz").write_bytes(packed[:-6])
    with pytest.raises(TaskError, match=r"b\.jsonl\.gz: cannot be read"):
        read_json_lines(tmp_path / "b.jsonl.gz")


def shard(folder: Path, name: str, ids: list[str]) -> Path:
    path = folder / "xquad.en" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"id": ids, "context": [f"c{one}" for one in ids]}), path)
    return path


def test_parquet_is_read_in_shard_order(tmp_path: Path) -> None:
    shard(tmp_path, "validation-00001-of-00002.parquet", ["c"])
    shard(tmp_path, "validation-00000-of-00002.parquet", ["a", "b"])
    rows = read_parquet(find_parquet(tmp_path, HUB), ("id", "context"))
    assert [one.value for one in rows] == [{"id": one, "context": f"c{one}"} for one in "abc"]
    assert [one.where for one in rows] == ["row 0", "row 1", "row 2"]


def test_a_missing_shard_is_an_error(tmp_path: Path) -> None:
    shard(tmp_path, "validation-00001-of-00002.parquet", ["c"])
    with pytest.raises(TaskError, match="2 shards"):
        find_parquet(tmp_path, HUB)


def test_other_splits_are_not_read(tmp_path: Path) -> None:
    shard(tmp_path, "train-00000-of-00001.parquet", ["c"])
    assert find_parquet(tmp_path, HUB) == ()


def test_a_missing_column_is_an_error_that_names_both(tmp_path: Path) -> None:
    path = shard(tmp_path, "validation-00000-of-00001.parquet", ["a"])
    with pytest.raises(TaskError, match=r"expected the columns id, question; found id, context"):
        read_parquet((path,), ("id", "question"))


def test_what_is_no_parquet_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "validation-00000-of-00001.parquet"
    path.write_bytes(b"not parquet")
    with pytest.raises(TaskError, match="cannot be read as Parquet"):
        read_parquet((path,), ("id",))


def test_new_bytes_under_an_old_name_and_time_are_read_anew(tmp_path: Path) -> None:
    import os

    path = shard(tmp_path, "validation-00000-of-00001.parquet", ["a"])
    os.utime(path, (1, 1))
    assert [one.value for one in read_parquet((path,), ("id",))] == [{"id": "a"}]
    shard(tmp_path, "validation-00000-of-00001.parquet", ["b"])
    os.utime(path, (1, 1))
    assert [one.value for one in read_parquet((path,), ("id",))] == [{"id": "b"}]


ASK = """
import sys
from tasks.base import TaskError
from tasks.sources import HubSet, hub_parquet
for revision in sys.argv[1:]:
    try:
        paths = hub_parquet(HubSet(repo="google/xquad", config="xquad.en", split="validation"), revision)
        print("found", paths[0].read_bytes().decode())
    except TaskError as error:
        print("TaskError", error)
"""


def test_the_cache_never_serves_another_commit(tmp_path: Path) -> None:
    """Offline, one commit cached: that one is served, another is an error, a branch is refused."""
    cached, wanted = "a" * 40, "b" * 40
    repo = tmp_path / "hub" / "datasets--google--xquad"
    files = repo / "snapshots" / cached / "xquad.en"
    files.mkdir(parents=True)
    (files / "validation-00000-of-00001.parquet").write_text("R1")
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(cached)
    environment = {
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(tmp_path),
        "HF_HUB_CACHE": str(tmp_path / "hub"),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    done = subprocess.run(
        [sys.executable, "-c", ASK, cached, wanted, "main"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        timeout=60,
    )
    first, second, third = done.stdout.splitlines()
    assert first == "found R1"
    assert second.startswith("TaskError")
    assert wanted in second
    assert "CAPSULE_DATA" in second
    assert third.startswith("TaskError")
    assert "'main'" in third


def test_a_commit_without_parquet_is_a_named_error(tmp_path: Path) -> None:
    commit = "c" * 40
    (tmp_path / "hub" / "datasets--google--xquad" / "snapshots" / commit).mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-c", ASK, commit],
        capture_output=True,
        text=True,
        check=True,
        env={
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": str(tmp_path),
            "HF_HUB_CACHE": str(tmp_path / "hub"),
            "PYTHONPATH": str(Path(__file__).parents[2]),
        },
        timeout=60,
    )
    assert "TaskError" in done.stdout
    assert "validation-*.parquet" in done.stdout
