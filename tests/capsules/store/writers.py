"""Real processes that write to one store, and some that are killed. Run by test_processes.py.

    python writers.py kill STORE N SEED       N writers, each killed with SIGKILL at a random moment
    python writers.py race STORE N OBJECTS    N writers at once, on the same objects and on one ref

Forks, so it must be started as a process of its own (no threads). Prints one line of JSON.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable

from capsules.canonical import canonical_bytes
from capsules.content_id import content_id
from capsules.disk_store import DiskStore
from capsules.errors import StoreError

PROJECT, NAME = "demo", "demo:task:q-1:prompt"


def spawn(work: Callable[[int], None]) -> tuple[int, int]:
    """A child that runs ``work`` with the writing end of a pipe; returns (pid, reading end)."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    status = 1
    try:
        os.close(reading)
        work(writing)
        status = 0
    finally:
        os._exit(status)


def drain(fd: int) -> list[str]:
    parts = []
    while part := os.read(fd, 1 << 16):
        parts.append(part)
    os.close(fd)
    return b"".join(parts).decode().splitlines()


def payload(seed: int, number: int) -> bytes:
    return b"%d/%d " % (seed, number) * (1 + number % 400)


def kill(root: str, rounds: int, seed: int) -> dict[str, int]:
    chance = random.Random(seed)
    acknowledged: list[str] = []
    for number in range(rounds):

        def work(pipe: int, number: int = number) -> None:
            store = DiskStore(root)
            for step in range(10_000):
                objects = [payload(number, step * 3 + part) for part in range(3)]
                ids = store.put_many(objects) if step % 2 else [store.put(data) for data in objects]
                os.write(pipe, "".join(f"{object_id}\n" for object_id in ids).encode())

        pid, reading = spawn(work)
        time.sleep(chance.uniform(0.001, 0.03))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        acknowledged += drain(reading)
    return verify(root, acknowledged) | {"rounds": rounds}


def verify(root: str, acknowledged: list[str]) -> dict[str, int]:
    store = DiskStore(root)
    lost = sum(not store.has(object_id) for object_id in acknowledged)
    corrupt = 0
    for object_id in store.ids():
        try:
            store.get(object_id)
        except StoreError:
            corrupt += 1
    temps = store.remove_temps()
    return {"acknowledged": len(acknowledged), "lost": lost, "corrupt": corrupt, "temps": temps}


def race(root: str, writers: int, objects: int) -> dict[str, int]:
    shared = [payload(0, number) for number in range(objects)]

    def work(pipe: int) -> None:
        store = DiskStore(root)
        mine = [b"%d %d" % (os.getpid(), number) for number in range(objects // 4)]
        ids = store.put_many(shared[: objects // 2] + mine)
        ids += [store.put(data) for data in shared[objects // 2 :]]
        for _ in range(5):  # until this writer has won five swaps
            while True:
                seen = store.refs.read(PROJECT, NAME)
                try:
                    store.refs.swap(PROJECT, NAME, ids[0], seen=seen)
                    break
                except StoreError as error:
                    if error.code != "ref.conflict":
                        raise
                    os.write(pipe, b"conflict\n")
        os.write(pipe, "".join(f"{object_id}\n" for object_id in ids).encode())

    children = [spawn(work) for _ in range(writers)]
    lines = [line for _, reading in children for line in drain(reading)]
    failed = sum(os.waitpid(pid, 0)[1] != 0 for pid, _ in children)
    acknowledged = [line for line in lines if line != "conflict"]
    ref = DiskStore(root).refs.read(PROJECT, NAME)
    found = verify(root, acknowledged)
    return found | {
        "failed": failed,
        "objects": len({content_id(data) for data in shared}),
        "conflicts": lines.count("conflict"),
        "version": 0 if ref is None else ref.version,
    }


if __name__ == "__main__":
    mode, folder, first, second = sys.argv[1:]
    result = {"kill": kill, "race": race}[mode](folder, int(first), int(second))
    sys.stdout.buffer.write(canonical_bytes(result) + b"\n")
