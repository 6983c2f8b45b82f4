"""A sweep: jobs, the folder that knows them, a kill in the middle, and the comparison at the end."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.run_store import RunError, RunFolder
from bench.sweep_folder import create_sweep, find_sweep

ROOT = Path(__file__).resolve().parents[2]
ENV = {**os.environ, "PYTHONPATH": str(ROOT)}
Swept = tuple[Path, dict[str, Any]]


def bench(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench", *arguments]
    return subprocess.run(
        command, cwd=folder, env=ENV, capture_output=True, text=True, timeout=300, check=False
    )


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory, small: Callable[..., list[str]]) -> Swept:
    """A finished sweep over two evidence limits: its working directory and what it printed last."""
    folder = tmp_path_factory.mktemp("sweep")
    chosen = ("limit=2", "latency_samples=1", "floor_samples=0", "~arm@arms.naive_volatile")
    done = bench(folder, "run", "-m", *small(*chosen, "arms.capsule.budget.evidence_limit=500,900"))
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout.splitlines()[-1])


def test_every_job_is_a_run_and_the_comparison_holds_all(swept: Swept) -> None:
    folder, value = swept
    assert [job["exit"] for job in value["jobs"]] == [0, 0]
    assert all(RunFolder(Path(job["run"])).complete for job in value["jobs"])
    sweep = Path(value["sweep"])
    assert sweep.parent == (folder / "results" / "sweeps").resolve()
    runs = rows(sweep / "tables" / "runs.csv")
    assert [row["arms.capsule.budget.evidence_limit"] for row in runs] == ["500", "900"]
    assert len(runs[0]) == 5  # label, id, manifest, requests, and the one setting that differs
    cells = rows(sweep / "tables" / "cells.csv")
    assert {(row["run"], row["cell_id"]) for row in cells} == {
        (f"job {n}", f"{arm}.{cache}")
        for n in (0, 1)
        for arm in ("naive", "capsule")
        for cache in ("off", "cold", "primed")
    }
    page = (sweep / "comparison.html").read_text()
    assert "FAKE ENGINE" in page
    assert "curve_gold_recall_budget" in page  # one number was swept


def test_pairs_are_made_by_sample_and_an_equal_arm_differs_by_nothing(swept: Swept) -> None:
    _, value = swept
    paired = rows(Path(value["sweep"]) / "tables" / "paired.csv")
    tokens = [row for row in paired if row["metric"] == "tokens_prompt"]
    naive = [row for row in tokens if row["cell_id"].startswith("naive.")]
    assert [(row["n"], row["mean"]) for row in naive] == [("2", "0")] * 3
    (capsule,) = [row for row in tokens if row["cell_id"] == "capsule.off"]
    assert capsule["n"] == "2"
    assert float(capsule["mean"]) > 0  # more evidence, more tokens


def test_a_finished_sweep_is_not_run_again_and_its_comparison_is_the_same_bytes(swept: Swept) -> None:
    folder, value = swept
    sweep = Path(value["sweep"])
    before = {p: p.read_bytes() for p in sweep.rglob("*") if p.is_file()}
    runs = sorted((folder / "results" / "quickstart").iterdir())
    done = bench(folder, "resume", str(sweep))
    assert done.returncode == 0, done.stderr
    assert sorted((folder / "results" / "quickstart").iterdir()) == runs
    assert {p: p.read_bytes() for p in sweep.rglob("*") if p.is_file()} == before
    done = bench(folder, "report", sweep.name, "--json")
    assert json.loads(done.stdout)["changed"] == []


def test_a_run_that_cannot_be_read_is_named_and_the_others_are_compared(swept: Swept, tmp_path: Path) -> None:
    folder, value = swept
    copy = tmp_path / "a folder"
    shutil.copytree(folder / "results", copy / "results", symlinks=True)
    sweep = copy / "results" / "sweeps" / Path(value["sweep"]).name
    (copy / "results" / "quickstart" / Path(value["jobs"][1]["run"]).name / "manifest.json").write_text("{")
    done = bench(copy, "report", str(sweep), "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["runs"], found["changed"]) == (2, 1, [])
    (line,) = found["missing"]
    assert line.startswith("job 1: ")
    assert "manifest.json" in line


def test_runs_are_compared_by_name(swept: Swept, tmp_path: Path) -> None:
    folder, value = swept
    first, second = (Path(job["run"]).name for job in value["jobs"])
    done = bench(folder, "compare", first, second, "--json", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["settings"] == {"arms.capsule.budget.evidence_limit": [500, 900]}
    assert "comparison.md" in found["written"]
    text = bench(folder, "compare", first, second).stdout
    assert found["runs"][0]["manifest"] in text
    same = bench(folder, "compare", first, first)
    assert (same.returncode, "are the same run" in same.stderr) == (2, True)
    alone = bench(folder, "compare", first)
    assert (alone.returncode, "at least two" in alone.stderr) == (2, True)


def test_a_sweep_killed_anywhere_is_resumed_and_no_finished_answer_is_sent_twice(
    tmp_path: Path, small: Callable[..., list[str]]
) -> None:
    overrides = small(
        "limit=2", "latency_samples=0", "floor_samples=0", "arms.naive.caches=[cold]", "~arm@arms.capsule",
        "seed=1,2", "+engine.env.FAKE_DELAY_MS='600'",
    )  # fmt: skip
    command = [sys.executable, "-m", "bench", "run", "-m", *overrides]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=ENV, start_new_session=True, stderr=subprocess.DEVNULL
    )
    known: dict[Path, bytes] = {}
    deadline = time.monotonic() + 60
    while not known and time.monotonic() < deadline:  # until the first answers of the first job are on disk
        time.sleep(0.05)
        found = list(tmp_path.glob("results/quickstart/*/responses.jsonl"))
        known = {path: data for path in found if (data := path.read_bytes())}
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert known, "no answer within a minute"
    (sweep,) = (tmp_path / "results" / "sweeps").iterdir()
    done = bench(tmp_path, "resume", str(sweep))
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout.splitlines()[-1])
    assert [job["exit"] for job in value["jobs"]] == [0, 0]
    for path, data in known.items():
        assert path.read_bytes().startswith(data[: data.rfind(b"\n") + 1])
    runs = list((tmp_path / "results" / "quickstart").iterdir())
    assert len(runs) == 2
    for run in runs:
        ids = [json.loads(line)["request_id"] for line in (run / "responses.jsonl").read_text().splitlines()]
        assert len(ids) == len(set(ids)) == 4


def test_a_job_is_known_by_its_number_and_one_without_an_exit_code_could_not_be_done(tmp_path: Path) -> None:
    sweep = create_sweep(tmp_path, ["seed=1,2"], 0)
    run = RunFolder(tmp_path / "quickstart" / "20250101T000000Z-00000000")
    run.path.mkdir(parents=True)
    with sweep.running(0):
        sweep.begin(0, ["seed=1"], run)
    job = sweep.job(0)
    assert job is not None
    assert (job.overrides, job.run.path) == (("seed=1",), run.path)
    assert sweep.code(0) == 2
    found = find_sweep(str(sweep.path), tmp_path)
    assert found is not None
    assert found.overrides == ("seed=1,2",)
    assert find_sweep("latest", tmp_path) is None


def test_a_sweep_folder_that_cannot_be_made_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "sweeps").write_text("in the way")
    with pytest.raises(RunError, match="cannot make the sweep folder"):
        create_sweep(tmp_path, [], 0)
