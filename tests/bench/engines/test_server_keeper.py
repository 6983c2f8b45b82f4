"""The keeper of a server: whatever way the driver goes, nothing of the server is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.engines.base import EngineError
from bench.engines.child import Child
from bench.engines.process import ProcessRecord, find_strays, session_members

ROOT = Path(__file__).resolve().parents[3]
# A server with a process of its own, in another process group of the same session, as engines make them.
SERVER = """
import subprocess, sys, time, signal
if {deaf}: signal.signal(signal.SIGTERM, signal.SIG_IGN)
deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
subprocess.Popen([sys.executable, "-c", deaf])
time.sleep(600)
"""
DRIVER = """
import os, sys, time
from pathlib import Path
from bench.engines.child import Child
child = Child([sys.executable, "-m", "bench.engines.server_keeper"], env=dict(os.environ),
              log=Path(sys.argv[1]), on_process=lambda record: print(record.pid, flush=True))
child.ask({"op": "start", "command": [sys.executable, "-c", sys.argv[2]]}, limit_s=30, what="starting")
print("started", flush=True)
time.sleep(600)
"""


def keeper(log: Path, records: list[ProcessRecord]) -> Child:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "bench.engines.server_keeper"]
    return Child(command, env=env, log=log, on_process=records.append)


def start(child: Child, program: str) -> None:
    command = [sys.executable, "-c", program]
    assert child.ask({"op": "start", "command": command}, limit_s=30, what="starting") is None


def wait_for(pid: int, members: int) -> None:
    end = time.monotonic() + 20
    while len(session_members(pid)) != members:
        assert time.monotonic() < end, session_members(pid)
        time.sleep(0.05)


@pytest.mark.parametrize("deaf", [False, True])
def test_closing_ends_the_server_and_what_it_started(tmp_path: Path, deaf: bool) -> None:
    records: list[ProcessRecord] = []
    child = keeper(tmp_path / "log", records)
    start(child, SERVER.format(deaf=deaf))
    wait_for(records[0].pid, 3)  # keeper, server, and the server's own
    child.close()
    assert session_members(records[0].pid) == []
    assert find_strays(records) == []


def test_a_driver_that_is_killed_takes_the_server_along(tmp_path: Path) -> None:
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(tmp_path / "log"), SERVER.format(deaf=True)],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert driver.stdout is not None
    pid = int(driver.stdout.readline())
    assert driver.stdout.readline() == "started\n"
    wait_for(pid, 3)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    driver.stdout.close()
    wait_for(pid, 0)


def test_it_says_how_the_server_ended(tmp_path: Path) -> None:
    child = keeper(tmp_path / "log", [])
    start(child, "raise SystemExit(7)")
    end = time.monotonic() + 20
    while (status := child.ask({"op": "alive"}, limit_s=30, what="looking")) is None:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert status == 7
    child.close()


def test_a_command_that_is_none_is_an_error_with_its_log(tmp_path: Path) -> None:
    child = keeper(tmp_path / "log", [])
    with pytest.raises(EngineError, match=r"(?s)starting: .*FileNotFoundError"):
        child.ask({"op": "start", "command": ["/no/such/server"]}, limit_s=30, what="starting")
