"""run.lock: one driver at a time; a stale lock is taken over, and its engines are ended first."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.engines.process import ProcessRecord, process_record, session_members
from bench.lock import RunLock
from bench.run_store import RunError, RunFolder, create_run, read_json, write_json

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return create_run(tmp_path, "e", 0)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(SLEEP, start_new_session=True)
    yield process
    process.kill()
    process.wait()


def record(process: subprocess.Popen[bytes], token: str = "t") -> ProcessRecord:
    return process_record(process.pid, token=token, tmp_dir="/nowhere")


def stale(folder: RunFolder, engines: list[ProcessRecord]) -> None:
    """A lock as a driver leaves it that was killed."""
    with subprocess.Popen(SLEEP) as dead:
        driver = record(dead, "driver")
        dead.kill()
    write_json(folder.lock, {"driver": driver.to_value(), "engines": [e.to_value() for e in engines]})


def test_a_lock_holds_the_driver_and_is_gone_afterwards(folder: RunFolder) -> None:
    with RunLock(folder, print):
        value = read_json(folder.lock)
        assert value["driver"]["pid"] == os.getpid()
        assert value["engines"] == []
    assert not folder.lock.exists()


def test_a_lock_whose_driver_lives_refuses(folder: RunFolder, sleeper: subprocess.Popen[bytes]) -> None:
    write_json(folder.lock, {"driver": record(sleeper).to_value(), "engines": []})
    with pytest.raises(RunError, match=f"in use by process {sleeper.pid}"), RunLock(folder, print):
        pass
    assert folder.lock.exists()


def test_our_own_lock_refuses_a_second_driver_in_this_process(folder: RunFolder) -> None:
    with RunLock(folder, print), pytest.raises(RunError, match="in use"), RunLock(folder, print):
        pass


def test_a_process_that_got_the_number_of_a_dead_driver_does_not_hold_its_lock(
    folder: RunFolder, sleeper: subprocess.Popen[bytes]
) -> None:
    other = record(sleeper)
    before = ProcessRecord(pid=other.pid, started=other.started + "0", token="t", tmp_dir="/nowhere")
    write_json(folder.lock, {"driver": before.to_value(), "engines": []})
    with RunLock(folder, print):
        assert read_json(folder.lock)["driver"]["pid"] == os.getpid()


def test_a_stale_lock_is_taken_over_and_its_engine_is_ended(
    folder: RunFolder, sleeper: subprocess.Popen[bytes]
) -> None:
    stale(folder, [record(sleeper)])
    lines: list[str] = []
    with RunLock(folder, lines.append):
        assert sleeper.wait(timeout=10) != 0
        assert session_members(sleeper.pid) == []
    assert any(f"left behind (process {sleeper.pid})" in line for line in lines)
    assert any("taking over from a driver that was interrupted" in line for line in lines)


def test_a_lock_that_its_driver_never_wrote_is_taken_over(folder: RunFolder) -> None:
    folder.lock.touch()
    with RunLock(folder, print):
        assert read_json(folder.lock)["driver"]["pid"] == os.getpid()


def test_an_engine_that_outlives_its_closing_is_a_named_error(
    folder: RunFolder, sleeper: subprocess.Popen[bytes]
) -> None:
    with RunLock(folder, print) as lock:
        lock.add_engine(record(sleeper))
        assert read_json(folder.lock)["engines"][0]["pid"] == sleeper.pid
        with pytest.raises(RunError, match=rf"still lives \(process {sleeper.pid}\): not starting another"):
            lock.check_ended()
        sleeper.kill()
        sleeper.wait()
        lock.check_ended()
        assert read_json(folder.lock)["engines"] == []


def test_of_two_drivers_that_find_one_stale_lock_only_one_goes_on(folder: RunFolder) -> None:
    stale(folder, [])
    program = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from bench.lock import RunLock\n"
        "from bench.run_store import RunError, RunFolder\n"
        "try:\n"
        "    with RunLock(RunFolder(Path(sys.argv[1])), lambda line: None):\n"
        "        print('held', flush=True); time.sleep(1.5)\n"
        "except RunError as error:\n"
        "    print('refused', flush=True)\n"
    )
    root = str(Path(__file__).resolve().parents[2])
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(folder.path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": root},
        )
        for _ in range(3)
    ]
    words = sorted(process.communicate(timeout=60)[0].strip() for process in started)
    assert words == ["held", "refused", "refused"]
