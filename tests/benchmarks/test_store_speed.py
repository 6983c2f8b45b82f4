"""What the store costs: durable puts of 4 KB in batches, verified gets. Recorded, never asserted.

The figures depend on the disk and on who else writes to it, so each stands beside what the bare
system calls do in the same run (``extra_info``).
"""

from __future__ import annotations

import itertools
import os
import timeit
from pathlib import Path
from typing import Any

import pytest

from capsules.disk_store import DiskStore

pytestmark = pytest.mark.benchmark_ratio

SIZE, BATCH = 4096, 1024


def objects(count: int) -> list[bytes]:
    return [os.urandom(SIZE) for _ in range(count)]


def bare_put(folder: Path, data: bytes) -> None:
    """One durable file in the obvious way: write, fsync, fsync of the folder."""
    path = folder / os.urandom(8).hex()
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    parent = os.open(folder, os.O_RDONLY)
    os.fsync(parent)
    os.close(parent)


def test_durable_puts_in_batches(benchmark: Any, tmp_path: Path) -> None:
    """The goal is 2,000 objects a second."""
    store = DiskStore(tmp_path / "store")
    store.put(b"the first makes the folders")
    bare = timeit.timeit(lambda: bare_put(tmp_path, b"x" * SIZE), number=50) / 50

    benchmark.pedantic(store.put_many, setup=lambda: ((objects(BATCH),), {}), rounds=8)

    rate = BATCH / benchmark.stats.stats.median
    benchmark.extra_info.update(puts_per_second=rate, bare_per_second=1 / bare, ratio=rate * bare)


def test_durable_puts_one_by_one(benchmark: Any, tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "store")
    store.put_many(b"%d" % number for number in range(2_000))  # every folder exists
    benchmark.pedantic(store.put, setup=lambda: ((os.urandom(SIZE),), {}), rounds=200)
    benchmark.extra_info.update(puts_per_second=1 / benchmark.stats.stats.median)


def test_verified_gets(benchmark: Any, tmp_path: Path) -> None:
    """The goal is 20,000 a second: opened without following links, read once, hashed."""
    store = DiskStore(tmp_path / "store")
    ids = itertools.cycle(store.put_many(objects(BATCH)))
    benchmark(lambda: store.get(next(ids)))
    benchmark.extra_info.update(gets_per_second=1 / benchmark.stats.stats.median)


def test_gets_of_a_large_source(benchmark: Any, tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "store")
    object_id = store.put(os.urandom(16 << 20))
    benchmark.pedantic(store.get, args=(object_id,), rounds=10)
    benchmark.extra_info.update(mib_per_second=16 / benchmark.stats.stats.median)
