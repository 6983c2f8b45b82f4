"""Killed writers, many writers, a full disk: real processes on a real file system."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from capsules.canonical import parse_strict
from capsules.content_id import content_id
from capsules.disk_store import DiskStore
from capsules.errors import StoreError

SCRIPT = Path(__file__).with_name("writers.py")
ROOT = Path(__file__).parents[3]


@pytest.fixture
def fast(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: kill -9 cannot see a missing fsync anyway."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


def run(mode: str, store: Path, first: int, second: int) -> Any:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), mode, str(store), str(first), str(second)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=900,
        check=True,
    )
    return parse_strict(done.stdout)


def check_kills(store: Path, rounds: int) -> None:
    found = run("kill", store, rounds, 20_240_229)

    assert found["lost"] == 0
    assert found["corrupt"] == 0
    assert found["acknowledged"] > rounds


def test_kill_9_loses_nothing_that_was_acknowledged(fast: Path) -> None:
    check_kills(fast / "store", 200)


@pytest.mark.soak
def test_a_thousand_kills(fast: Path) -> None:
    check_kills(fast / "store", 1_000)


def check_race(store: Path, writers: int, objects: int) -> None:
    found = run("race", store, writers, objects)

    assert found["failed"] == 0
    assert found["lost"] == 0
    assert found["corrupt"] == 0
    assert found["temps"] == 0
    assert found["version"] == 5 * writers  # no update of the ref was lost
    assert len(list(DiskStore(store).ids())) == found["objects"] + writers * (objects // 4)


def test_16_writers_at_once(tmp_path: Path) -> None:
    check_race(tmp_path / "store", 16, 40)


@pytest.mark.soak
def test_64_writers_at_once(tmp_path: Path) -> None:
    check_race(tmp_path / "store", 64, 200)


def test_a_full_disk_stops_cleanly(tmp_path: Path) -> None:
    """A tmpfs of 1 MiB; needs the right to mount, so it is skipped loudly elsewhere."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(tmp_path)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a tmpfs is not allowed here: a really full disk is not tested")
    try:
        store = DiskStore(tmp_path / "store")
        acknowledged = []
        with pytest.raises(StoreError, match="ENOSPC"):
            acknowledged.extend(store.put(b"%d" % number * 20_000) for number in range(1_000))
        assert len(acknowledged) > 5
        for object_id in acknowledged:
            assert content_id(store.get(object_id).data) == object_id
        assert sorted(acknowledged) == list(store.ids())
        assert store.remove_temps() == 0
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
