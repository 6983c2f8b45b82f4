"""The whole pipe on the fake engine: every file, counts, refused changes, foreign engines."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bench.completion import derive_report, derive_scores
from bench.config import load_config
from bench.engines.base import EngineError
from bench.hydra_app import compose_config
from bench.lock import RunLock
from bench.metrics.names import METRICS
from bench.pipeline import Outcome, drive, resume_run, send_all, start_run
from bench.progress import Reporter
from bench.run_store import RunError, RunFolder, read_json
from bench.stored_run import StoredRun

QUIET = Reporter(quiet=True)
CELLS = 7
SAMPLES, LATENCY_SAMPLES = 3, 1
REQUESTS = CELLS * (SAMPLES + LATENCY_SAMPLES) + 2 * 2  # two cells without caching ask two samples again


def copy(outcome: Outcome, tmp_path: Path) -> RunFolder:
    return RunFolder(Path(shutil.copytree(outcome.folder.path, tmp_path / outcome.folder.run_id)))


def test_a_run_leaves_every_file_and_its_counts_add_up(finished: Outcome) -> None:
    folder = finished.folder
    names = {p.name for p in folder.path.iterdir()}
    assert names >= {
        "config.yaml", "run.json", "samples.jsonl", "builds.jsonl", "requests.jsonl", "responses.jsonl",
        "cells.jsonl", "engines.jsonl", "scores.parquet", "report.html", "report.md", "tables", "figures",
        "manifest.json", "store",
    }  # fmt: skip
    assert "run.lock" not in names
    assert not [n for n in names if n.endswith(".tmp")]
    planned = REQUESTS
    assert finished.counts.to_value() == {"planned": planned, "done": planned, "failed": 0, "skipped": {}}
    assert finished.exit_code == 0


def test_the_manifest_says_what_ran(finished: Outcome) -> None:
    manifest = read_json(finished.folder.manifest)
    assert manifest["fake"] is True
    assert manifest["now"] == "2026-06-01T00:00:00Z"  # the task's today, not the clock's
    assert manifest["counts"]["planned"] == manifest["counts"]["done"]
    assert manifest["config_digest"].startswith("b3:")
    assert manifest["seeds"] == {"run": 0, "sampling": 0, "task": 0}
    assert [engine["prefix_caching"] for engine in manifest["engines"]] == [False, True]
    assert set(manifest["times_ms"]) == {
        "build_ms",
        "engine_start_ms",
        "requests_ms",
        "score_ms",
        "report_ms",
    }
    for key in (
        "code",
        "packages",
        "python",
        "unidata_version",
        "hardware",
        "dataset",
        "tokenizer",
        "run_id",
    ):
        assert manifest[key], key
    assert set(manifest["files"]) >= {"requests.jsonl", "responses.jsonl", "scores.parquet", "report.html"}


def test_every_expected_sample_cell_and_metric_has_one_score(finished: Outcome) -> None:
    rows = pq.read_table(finished.folder.scores).to_pylist()
    quality = [name for name, metric in METRICS.items() if metric.phase == "quality"]
    latency = [name for name, metric in METRICS.items() if metric.phase == "latency"]
    assert len(rows) == CELLS * (SAMPLES * len(quality) + LATENCY_SAMPLES * len(latency))
    assert len({(r["sample_id"], r["cell_id"], r["metric"]) for r in rows}) == len(rows)
    assert {r["status"] for r in rows} <= {"ok", "undefined"}


def test_scores_and_report_are_the_same_bytes_again(finished: Outcome) -> None:
    assert derive_scores(finished.folder) == finished.folder.scores.read_bytes()
    for name, data in derive_report(finished.folder).items():
        assert (finished.folder.path / name).read_bytes() == data, name


def test_two_runs_of_one_config_store_the_same_capsules_requests_and_scores(
    finished: Outcome, run_small: Callable[..., Outcome], tmp_path: Path
) -> None:
    again = run_small(tmp_path)
    assert again.folder.run_id != finished.folder.run_id
    for name in ("requests.jsonl", "responses.jsonl", "scores.parquet", "samples.jsonl"):
        assert (again.folder.path / name).read_bytes() == (finished.folder.path / name).read_bytes(), name
    assert list(again.folder.store().ids()) == list(finished.folder.store().ids())
    timed, timed_again = (StoredRun(run.folder).cells for run in (finished, again))
    assert [replace(c, wall_us=0) for c in timed] == [replace(c, wall_us=0) for c in timed_again]


def send(results: Path, overrides: list[str]) -> StoredRun:
    """Everything but score and report files."""
    folder, prepared = start_run(compose_config(overrides), results, QUIET)
    with RunLock(folder, QUIET.say) as lock:
        send_all(folder, prepared, QUIET, lock)
    return StoredRun(folder)


def test_a23_errors_stay_in_the_counts_and_in_the_scores_and_end_with_3(
    small: Callable[..., list[str]], tmp_path: Path
) -> None:
    run = send(tmp_path, small("+engine.env.FAKE_ERROR_AT='4,5'"))  # two requests of each engine
    counts = run.require_finished()
    assert (counts.failed, counts.planned - counts.done) == (4, 4)
    assert Outcome(folder=run.folder, counts=counts, void=run.void()).exit_code == 3
    exact = [row for row in run.score() if row.metric == "exact_citation"]
    assert len(exact) == CELLS * SAMPLES
    assert sum(row.status == "error" for row in exact) == 4


def test_void_cells_end_with_3_and_have_no_numbers(small: Callable[..., list[str]], tmp_path: Path) -> None:
    run = send(tmp_path, small("+engine.env.FAKE_REFUSE_RESET='1'"))
    counts = run.require_finished()
    assert counts.skipped == {"cell.reset.unverified": REQUESTS}
    assert Outcome(folder=run.folder, counts=counts, void=run.void()).exit_code == 3
    exact = [row for row in run.score() if row.metric == "exact_citation"]
    assert {(row.status, row.value, row.code) for row in exact} == {("void", None, "cell.reset.unverified")}


def test_an_engine_that_keeps_dying_stops_the_run_which_can_be_resumed(
    small: Callable[..., list[str]], tmp_path: Path
) -> None:
    cfg = compose_config(small("+engine.env.FAKE_DIE_AT='6'", "floor_samples=0"))
    folder, prepared = start_run(cfg, tmp_path, QUIET)
    with pytest.raises(EngineError, match="scripted death"):
        drive(folder, prepared, QUIET)
    assert not folder.complete
    assert not folder.lock.exists()
    run = StoredRun(folder)
    assert run.counts().failed == 3 * 2  # three starts, a wave of two each
    assert run.counts().missing > 0


def test_config_or_data_that_changed_are_refused_by_resume(
    finished: Outcome, tmp_path: Path, small: Callable[..., list[str]]
) -> None:
    folder = copy(finished, tmp_path)
    text = folder.config.read_text()
    folder.config.write_text(text.replace("max_tokens: 40", "max_tokens: 41"))
    with pytest.raises(RunError, match=r"was changed: the run began with config digest b3:"):
        resume_run(folder, QUIET)
    folder.config.write_text(text)
    prepared = resume_run(folder, QUIET)
    facts = folder.facts.read_text()
    digest = prepared.data.content_digest
    folder.facts.write_text(facts.replace(digest, "b3:" + "0" * 64))
    with pytest.raises(RunError, match=f"began with dataset b3:0+; now it is {digest}"):
        drive(folder, prepared, QUIET)
    folder.facts.write_text(facts)
    folder.builds.write_text(folder.builds.read_text().replace('"n_prompt":2', '"n_prompt":3', 1))
    with pytest.raises(RunError, match="builds another prompt for sample"):
        drive(folder, prepared, QUIET)


def test_the_stored_config_is_the_resolved_one(finished: Outcome) -> None:
    cfg = load_config(finished.folder.config.read_text())
    assert cfg.task.limit == SAMPLES
    assert "${" not in finished.folder.config.read_text()


LEAKY_ENGINE = """
import subprocess, sys
from bench.engines.fake import start_fake
from bench.engines.process import process_record

def start(spec):
    engine = start_fake(spec)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    spec.on_process(process_record(child.pid, token="leaky", tmp_dir="/nowhere"))
    PROCESSES.append(child)
    return engine

PROCESSES = []
"""


def test_a27_an_engine_that_leaves_a_process_behind_stops_the_run_before_the_next_engine(
    small: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "leaky_engine.py").write_text(LEAKY_ENGINE)
    monkeypatch.syspath_prepend(tmp_path)
    cfg = compose_config(small("engine.name='leaky_engine:start'"))
    folder, prepared = start_run(cfg, tmp_path / "results", QUIET)
    try:
        with pytest.raises(
            RunError, match=r"an engine that was closed still lives \(process \d+\): not starting"
        ):
            drive(folder, prepared, QUIET)
        assert len(StoredRun(folder).engines) == 1
        assert not folder.complete
    finally:
        for process in sys.modules["leaky_engine"].PROCESSES:
            process.kill()
            process.wait()


OTHER_ENGINE = """
from dataclasses import replace
from bench.engines.fake import start_fake

VERSION = "1"

def start(spec):
    engine = start_fake(spec)
    engine.info = replace(engine.info, profile={**engine.info.profile, "engine_version": VERSION})
    return engine
"""


def test_a_resumed_run_refuses_another_engine(
    small: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other_engine.py").write_text(OTHER_ENGINE)
    monkeypatch.syspath_prepend(tmp_path)
    cfg = compose_config(small("engine.name='other_engine:start'", "+engine.env.FAKE_DIE_AT='6'"))
    folder, prepared = start_run(cfg, tmp_path / "results", QUIET)
    with pytest.raises(EngineError):
        drive(folder, prepared, QUIET)
    sys.modules["other_engine"].VERSION = "2"
    with pytest.raises(RunError, match="began with an engine whose engine_version was '1'; now it is '2'"):
        drive(folder, prepared, QUIET)
