"""The lock of a run folder: who drives it, and which engines it started.

Rules that this module owns:

* ``run.lock`` is created with O_EXCL and holds the driver's process (id and start time) and a record
  of every engine process that it started, written before anything is asked of that engine.
* A lock whose driver lives refuses. A lock whose driver is gone is *stale*: whatever is left of its
  engines is found and ended before the lock is taken over, so that no engine outlives its run.
* Looking at a lock and taking it over happen under ``flock`` on the folder, so that two drivers
  never take over the same stale lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.engines.process import ProcessRecord, end_stray, find_strays, process_record
from bench.run_store import RunError, RunFolder, read_json, write_json
from capsules.canonical import canonical_bytes


class RunLock:
    """Held while a driver works on a run folder.

    Args:
        folder: The run.
        say: Receives one line for people (a stale lock was taken over, an engine was ended).

    Raises:
        RunError: On entering: another driver lives, or the lock cannot be read.
    """

    def __init__(self, folder: RunFolder, say: Callable[[str], None]) -> None:
        self._folder = folder
        self._say = say
        self._driver = process_record(os.getpid(), token="driver", tmp_dir="none")
        self._engines: list[ProcessRecord] = []

    def __enter__(self) -> RunLock:
        with _exclusive(self._folder.path):
            if self._folder.lock.exists():
                self._take_over(self._folder.lock)
            with self._folder.lock.open("xb") as file:
                file.write(canonical_bytes(self._value()))
                file.flush()
                os.fsync(file.fileno())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if find_strays(self._engines):
            return  # the lock stays and names them: whoever takes it over ends them
        self._folder.lock.unlink(missing_ok=True)

    def add_engine(self, record: ProcessRecord) -> None:
        """Write an engine's process down; called before anything is asked of it."""
        self._engines.append(record)
        write_json(self._folder.lock, self._value())

    def check_ended(self) -> None:
        """Check that no engine started so far is left, in part or as a whole.

        Raises:
            RunError: One is; the next engine would share the machine with it.
        """
        left = find_strays(self._engines)
        if left:
            pids = ", ".join(str(record.pid) for record in left)
            raise RunError(f"an engine that was closed still lives (process {pids}): not starting another")
        self._engines.clear()
        write_json(self._folder.lock, self._value())

    def _value(self) -> dict[str, Any]:
        return {
            "driver": self._driver.to_value(),
            "engines": [record.to_value() for record in self._engines],
        }

    def _take_over(self, path: Path) -> None:
        if path.stat().st_size == 0:  # its driver died between creating and writing it: it had no engine yet
            path.unlink()
            return
        value = read_json(path)
        driver = ProcessRecord.from_value(value["driver"])
        if find_strays([driver]):
            raise RunError(f"{self._folder.path} is in use by process {driver.pid}: wait for it, or end it")
        for entry in value["engines"]:
            record = ProcessRecord.from_value(entry)
            if find_strays([record]):
                self._say(f"ending an engine that the interrupted driver left behind (process {record.pid})")
            end_stray(record)
        self._say(f"taking over from a driver that was interrupted (process {driver.pid})")
        path.unlink()


@contextlib.contextmanager
def _exclusive(folder: Path) -> Iterator[None]:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
