"""Files of the hub: one commit by value, from the network or the cache, never another in its place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tasks.base import TaskError
from tasks.hub import matching, require_revision

COMMIT = "51adfef1c1287aab1d2d91b5bead9bcfb9c68583"


@pytest.mark.parametrize(
    "revision", [None, "", "main", "51adfef", COMMIT.upper(), COMMIT + "\n", COMMIT + "0"]
)
def test_only_a_full_commit_hash_is_a_revision(revision: str | None) -> None:
    with pytest.raises(TaskError, match=r"google/xquad on the hub: expected task\.revision=<40 hex>"):
        require_revision(revision, "google/xquad")


def test_a_full_commit_hash_is_a_revision() -> None:
    assert require_revision(COMMIT, "google/xquad") == COMMIT


def shards(folder: Path, *names: str) -> None:
    (folder / "en").mkdir()
    for name in names:
        (folder / "en" / name).write_bytes(b"x")


def test_shards_come_in_their_order_and_other_files_stay(tmp_path: Path) -> None:
    names = ("v-00001-of-00002.parquet", "v-00000-of-00002.parquet", "train-00000-of-00001.parquet")
    shards(tmp_path, *names)
    found = matching(tmp_path, "en/v-*.parquet")
    assert [path.name for path in found] == ["v-00000-of-00002.parquet", "v-00001-of-00002.parquet"]


@pytest.mark.parametrize("name", ["v-00001-of-00002.parquet", "v-00000-of-00002.arrow"])
def test_a_missing_shard_is_an_error(tmp_path: Path, name: str) -> None:
    shards(tmp_path, name)
    with pytest.raises(TaskError, match="2 shards"):
        matching(tmp_path, "en/v-*")


def test_a_name_without_shards_is_one_file(tmp_path: Path) -> None:
    shards(tmp_path, "rows.jsonl")
    assert [path.name for path in matching(tmp_path, "en/rows.jsonl")] == ["rows.jsonl"]
    assert matching(tmp_path, "en/none.jsonl") == ()


ASK = """
import sys
from tasks.base import TaskError
from tasks.hub import hub_files
from tasks.rows import HubSet
for revision in sys.argv[1:]:
    try:
        paths = hub_files(HubSet(repo="google/xquad", files="xquad.en/validation-*.parquet"), revision)
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


def test_a_commit_without_the_files_is_a_named_error(tmp_path: Path) -> None:
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
