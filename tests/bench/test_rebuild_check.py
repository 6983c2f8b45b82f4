"""A run's prompts, built again in a new process and compared with what was sent."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench.engines.process import session_members
from bench.hydra_app import compose_config
from bench.pipeline import Outcome, drive, start_run
from bench.planner import Plan
from bench.progress import Reporter
from bench.rebuild_check import check_in_new_process, compare
from bench.records import RebuiltRow
from bench.records_io import read_rows
from bench.run_store import RunFolder
from bench.specs import RunSpec

QUIET = Reporter(quiet=True)

UNSTABLE = """
from dataclasses import replace
from bench.build.base import Piece
from bench.build.registry import builder

def build(sample, ctx):
    built = builder("naive")(sample, ctx)
    seed = abs(hash("a string's hash differs from process to process"))
    extra = tuple(3 + (seed >> 8 * i) % 250 for i in range(6))
    return replace(built, ids=(*built.ids, *extra), pieces=(*built.pieces, Piece(kind="tail", n=6)))
"""


DRIVER = """
import sys
from pathlib import Path
from bench.progress import Reporter
from bench.rebuild_check import check_in_new_process
from bench.run_store import RunFolder

check_in_new_process(RunFolder(Path(sys.argv[1])), Reporter(quiet=True))
"""


def test_digests_are_compared_one_by_one(
    spec_of: Callable[..., RunSpec], toy_plan: Callable[..., Plan]
) -> None:
    plan = toy_plan(spec_of("latency_samples=1", "floor_samples=0", "~arm@arms.capsule"))
    sent = [p.row(None, "engine.unknown") for p in plan.requests if p.sample_id in ("s1", "s2")]
    sent[0] = replace(sent[0], request_digest="b3:" + "0" * 64)
    first = sent[0]
    rows = {(row.sample_id, row.arm_id): row for row in compare(sent, plan)}
    changed = rows.pop((first.sample_id, first.arm_id))
    assert changed.equal == changed.requests - 1
    assert all(row.equal == row.requests for row in rows.values())
    assert sum(row.requests for row in rows.values()) + changed.requests == len(sent)


def test_a_request_that_is_not_planned_again_is_not_equal(
    spec_of: Callable[..., RunSpec], toy_plan: Callable[..., Plan]
) -> None:
    plan = toy_plan(spec_of("latency_samples=0", "floor_samples=0"))
    less = toy_plan(spec_of("latency_samples=0", "floor_samples=0"), broken=[("s2", "capsule")])
    sent = [p.row(0, None) for p in plan.requests if (p.sample_id, p.cell.arm.arm_id) == ("s2", "capsule")]
    assert compare(sent, less) == [RebuiltRow(sample_id="s2", arm_id="capsule", requests=3, equal=0)]


def test_a_new_process_builds_every_request_again(finished: Outcome, tmp_path: Path) -> None:
    folder = RunFolder(Path(shutil.copytree(finished.folder.path, tmp_path / finished.folder.run_id)))
    before = sorted(p.name for p in folder.path.iterdir())
    check_in_new_process(folder, QUIET)
    rows = read_rows(folder.rebuilt, RebuiltRow)
    assert sum(row.requests for row in rows) == finished.counts.planned
    assert all(row.equal == row.requests for row in rows)
    assert sorted(p.name for p in folder.path.iterdir()) == sorted([*before, "rebuilt.jsonl"])


def test_rows_that_speak_of_fewer_requests_are_made_anew(finished: Outcome, tmp_path: Path) -> None:
    folder = RunFolder(Path(shutil.copytree(finished.folder.path, tmp_path / finished.folder.run_id)))
    check_in_new_process(folder, QUIET)
    whole = folder.rebuilt.read_bytes()
    folder.rebuilt.write_bytes(whole[: whole.index(b"\n") + 1])  # a driver stopped before the rest was sent
    check_in_new_process(folder, QUIET)
    assert folder.rebuilt.read_bytes() == whole


def test_a_builder_that_differs_from_process_to_process_is_seen(
    small: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "unstable_builder.py").write_text(UNSTABLE)
    monkeypatch.syspath_prepend(str(tmp_path))
    overrides = (
        "rebuild=true",
        "arms.naive.builder=unstable_builder:build",
        "limit=1",
        "~arm@arms.naive_volatile",
    )
    folder, prepared = start_run(compose_config(small(*overrides)), tmp_path / "results", QUIET)
    outcome = drive(folder, prepared, QUIET)
    rows = {row.arm_id: row for row in read_rows(folder.rebuilt, RebuiltRow)}
    assert rows["naive"].requests > 0
    assert rows["naive"].equal == 0
    assert rows["capsule"].equal == rows["capsule"].requests
    assert outcome.exit_code == 0  # a measurement, no failure
    assert "request digests equal after a rebuild" in (folder.path / "report.md").read_text()


def test_a_rebuild_that_fails_is_said_and_leaves_no_rows(
    finished: Outcome, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = RunFolder(Path(shutil.copytree(finished.folder.path, tmp_path / finished.folder.run_id)))
    text = folder.config.read_text().replace("experiment: ", "experiment: no such name ")
    folder.config.write_text(text)
    check_in_new_process(folder, Reporter())
    assert "not measured" in capsys.readouterr().err
    assert not folder.rebuilt.exists()


def opened_for_a_reader(pipe: Path) -> int:
    """Waits until another process reads a named pipe."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            time.sleep(0.05)
    raise AssertionError(f"nobody reads {pipe}")


def test_the_new_process_ends_with_a_parent_that_is_killed(finished: Outcome, tmp_path: Path) -> None:
    """The config is a pipe that nobody writes: the new process waits in the middle of its work."""
    run = RunFolder(tmp_path)
    shutil.copy(finished.folder.requests, run.requests)
    os.mkfifo(run.config)
    parent = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(run.path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        start_new_session=True,
    )
    try:
        writer = opened_for_a_reader(run.config)
        assert len(session_members(parent.pid)) == 2
    finally:
        parent.kill()
        parent.wait()
    end = time.monotonic() + 20
    while (lives := session_members(parent.pid)) and time.monotonic() < end:
        time.sleep(0.02)
    os.close(writer)  # at the latest now it ends, so that a failure leaves no process
    assert lives == []
