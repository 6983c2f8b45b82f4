"""A driver killed at random: no finished request is lost, none is answered twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bench.pipeline import Outcome, drive, resume_run
from bench.progress import Reporter
from bench.run_store import RunFolder

QUIET = Reporter(quiet=True)


def kill_at_random(command: list[str], env: dict[str, str], delay: float, ready: Callable[[], bool]) -> int:
    """Start a driver, kill it with SIGKILL a while after it is ``ready``; its exit code."""
    with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not ready():
            time.sleep(0.02)
        try:
            return process.wait(timeout=delay)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        return process.wait()


def locked_by(folder: RunFolder) -> bytes | None:
    """What the lock says, if there is one."""
    try:
        return folder.lock.read_bytes()
    except FileNotFoundError:
        return None


def newly_locked(folder: RunFolder, before: bytes | None) -> bool:
    """Whether another driver than before holds the lock."""
    return locked_by(folder) not in (None, before)


@pytest.mark.parametrize("kills", [3, pytest.param(25, marks=pytest.mark.soak)])
def test_a_driver_killed_at_random_loses_no_finished_request_and_ends_with_the_same_scores(
    finished: Outcome, small: Callable[..., list[str]], tmp_path: Path, kills: int
) -> None:
    root = str(Path(__file__).resolve().parents[2])
    env = {**os.environ, "PYTHONPATH": root}
    base = [sys.executable, "-m", "bench"]
    slow = small("+engine.env.FAKE_DELAY_MS='150'")
    draw = random.Random(kills)
    folder: RunFolder | None = None
    known: dict[str, str] = {}
    for _ in range(kills):
        if folder is None:
            command = [*base, "run", "--results", str(tmp_path), *slow]
            kill_at_random(
                command, env, draw.uniform(0.0, 3.0), lambda: any(tmp_path.glob("*/*/config.yaml"))
            )
            folder = next((RunFolder(p.parent) for p in tmp_path.glob("*/*/config.yaml")), None)
        else:
            taken = locked_by(folder)
            command = [*base, "resume", str(folder.path)]
            kill_at_random(command, env, draw.uniform(0.0, 3.0), partial(newly_locked, folder, taken))
        if folder is None or not folder.responses.exists():
            continue
        lines = folder.responses.read_bytes().split(b"\n")[:-1]
        for line in lines:
            request_id = line.split(b'"request_id":"', 1)[1][:67].decode()
            assert known.setdefault(request_id, line.decode()) == line.decode()
    assert folder is not None
    outcome = drive(folder, resume_run(folder, QUIET), QUIET)
    counts = outcome.counts.to_value()
    assert counts["done"] == counts["planned"] == finished.counts.planned
    rows = folder.responses.read_text().splitlines()
    assert len(rows) == counts["planned"]  # nothing was answered twice
    assert set(known.values()) <= set(rows)
    assert folder.scores.read_bytes() == finished.folder.scores.read_bytes()
