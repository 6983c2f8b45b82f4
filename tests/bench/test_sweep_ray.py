"""A sweep over a Ray cluster of this machine, one of whose workers is killed."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = (
    "hydra/launcher=ray",
    "+hydra.launcher.ray.init.num_cpus=2",
    "+hydra.launcher.ray.init.include_dashboard=false",
    "+hydra.launcher.ray.remote.num_cpus=1",
    "+hydra.launcher.ray.remote.max_retries=2",
)

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(
        importlib.util.find_spec("hydra_plugins.hydra_ray_launcher") is None
        if importlib.util.find_spec("hydra_plugins")
        else True,
        reason="the extra `ray` is not installed: sweeps over Ray are not tested",
    ),
]


def worker_of_the_first_answers(results: Path, deadline: float) -> tuple[Path, int]:
    """A run that has answers and the process that drives it."""
    while time.monotonic() < deadline:
        for path in results.glob("quickstart/*/responses.jsonl"):
            lock = path.with_name("run.lock")
            if path.stat().st_size and lock.exists():
                return path, int(json.loads(lock.read_bytes())["driver"]["pid"])
        time.sleep(0.05)
    raise AssertionError("no answer in time")


def test_jobs_of_a_killed_worker_are_taken_up_and_nothing_finished_is_lost(
    small: Callable[..., list[str]], tmp_path: Path
) -> None:
    overrides = small(
        "limit=2", "latency_samples=0", "floor_samples=0", "arms.naive.caches=[cold]", "~arm@arms.capsule",
        "seed=1,2,3", "+engine.env.FAKE_DELAY_MS='1500'", *LAUNCHER,
    )  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "bench", "run", "-m", *overrides],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    path, worker = worker_of_the_first_answers(tmp_path / "results", time.monotonic() + 180)
    finished = path.read_bytes()
    os.kill(worker, signal.SIGKILL)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err[-3000:]
    value = json.loads(out.splitlines()[-1])
    assert [job["exit"] for job in value["jobs"]] == [0, 0, 0]
    assert path.read_bytes().startswith(finished[: finished.rfind(b"\n") + 1])
    runs = list((tmp_path / "results" / "quickstart").iterdir())
    assert len(runs) == 3
    for run in runs:
        ids = [json.loads(line)["request_id"] for line in (run / "responses.jsonl").read_text().splitlines()]
        assert len(ids) == len(set(ids)) == 4
    assert (Path(value["sweep"]) / "comparison.html").is_file()
