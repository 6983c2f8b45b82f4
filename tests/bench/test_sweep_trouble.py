"""Sweeps in trouble: interrupted, driven twice, damaged, and settings that are no numbers."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path

import pytest

from bench.commands import sweep as commands
from bench.comparison.curves import line_names, swept_number
from bench.comparison.members import differing, load_member
from bench.comparison.tables import paired_table
from bench.completion import require_manifest
from bench.hydra_app import multirun
from bench.pipeline import Outcome
from bench.progress import Reporter
from bench.run_store import RunError, RunFolder
from bench.sweep_folder import SweepFolder, create_sweep


def test_an_interrupted_sweep_says_how_it_goes_on(
    tmp_path: Path,
    small: Callable[..., list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "_job", interrupted)
    sweep = create_sweep(tmp_path / "with a space", small("seed=1,2"), 0)
    with pytest.raises(KeyboardInterrupt):
        commands.run_sweep(sweep)
    out, err = capsys.readouterr()
    assert json.loads(out) == {
        "sweep": str(sweep.path),
        "jobs": [{"job": 0, "exit": 130, "run": None, "refused": False}],
        "exit": 130,
    }
    assert gathered(sweep) == ["job 0: no run was made: it was interrupted"]
    command = err.splitlines()[-1].partition("continue with: ")[2]
    assert shlex.split(command) == ["capsule-bench", "resume", str(sweep.path)]


def test_a_sweep_is_driven_by_one_process_at_a_time(tmp_path: Path, small: Callable[..., list[str]]) -> None:
    sweep = create_sweep(tmp_path, small("seed=1,2"), 0)
    with sweep.held(), pytest.raises(RunError, match="in use by another process"):
        commands.run_sweep(SweepFolder(sweep.path, sweep.results))
    assert sweep.numbers() == []
    with sweep.held():  # let go of, it can be held again
        pass


@pytest.mark.parametrize(
    "text", ['{"overrides":["seed=1"]}', '{"run":"a/b"}', '{"overrides":[1],"run":"a"}', ""]
)
def test_a_damaged_job_is_one_error_and_no_run_of_the_comparison(tmp_path: Path, text: str) -> None:
    sweep = create_sweep(tmp_path, ["seed=1,2"], 0)
    sweep.end(0, 0)
    sweep.job_file(0).write_text(text)
    with pytest.raises(RunError, match=r"jobs/0\.json"):
        sweep.job(0)


def test_a_damaged_sweep_file_and_a_damaged_exit_code(tmp_path: Path) -> None:
    sweep = create_sweep(tmp_path, ["seed=1,2"], 0)
    (sweep.path / "sweep.json").write_text('{"overrides":"seed"}')
    with pytest.raises(RunError, match="expected a list of strings"):
        _ = sweep.overrides
    (sweep.path / "jobs" / "0.exit").write_text("zero")
    assert sweep.code(0) == 2


def test_a_number_is_swept_only_if_it_alone_differs() -> None:
    assert swept_number({"arms.a.budget": (1, 2), "arms.b.budget": (1, 2)}) == ("budget", (1, 2))
    assert swept_number({"k": (1, 2), "seed": (0, 5)}) == ("k", (1, 2))
    assert swept_number({"k": (1, 2), "j": (1, 3)}) is None
    assert swept_number({"arms.a.caches": (["off"], ["cold", "primed"])}) is None
    assert swept_number({"arms.a.caches": (["off"], ["cold"]), "k": (1, 2)}) is None
    assert swept_number({"seed": (0, 5)}) is None
    assert swept_number({"flag": (True, False)}) is None


def test_runs_of_other_seeds_are_lines_of_their_own() -> None:
    assert line_names({"k": (1, 1, 2, 2), "seed": (0, 1, 0, 1)}, 4) == [
        ", seed 0",
        ", seed 1",
        ", seed 0",
        ", seed 1",
    ]
    assert line_names({"k": (1, 2)}, 2) == ["", ""]


def test_an_arm_that_some_runs_lack_is_one_setting() -> None:
    one = {"seed": 0, "arms.a.k": 1, "arms.a.layout": "naive", "arms.b.k": 4, "task.data_dir": "x"}
    two = {"seed": 0, "arms.b.k": 4, "task.data_dir": "y"}
    three = {"seed": 0, "arms.a.k": 2, "arms.a.layout": "naive", "arms.b.k": 4}
    assert differing([one, two, three]) == {"arms.a": ("there", None, "there"), "arms.a.k": (1, None, 2)}
    assert differing([one, two]) == {"arms.a": ("there", None)}
    assert differing([two, {**two, "arms.b.k": 5}]) == {"arms.b.k": (4, 5)}


def test_runs_without_a_common_cell_say_so(finished: Outcome, tmp_path: Path) -> None:
    first = load_member(finished.folder, "A")
    other = replace(first, label="B", view=copy(first.view))
    other.view.__dict__["cells"] = tuple(
        replace(cell, arm=replace(cell.arm, arm_id=f"other_{cell.arm.arm_id}")) for cell in first.view.cells
    )
    table = paired_table([first, other])
    assert table.rows == ()
    assert table.notes[-1] == "B and A have no cell of the same name: nothing is paired."
    assert "no cell" not in " ".join(paired_table([first, replace(first, label="B")]).notes)


@pytest.mark.parametrize("text", ["{}", '{"schema_id":"other/1"}', "[]", "{"])
def test_a_damaged_manifest_is_one_error(tmp_path: Path, text: str) -> None:
    folder = RunFolder(tmp_path)
    folder.manifest.write_text(text)
    with pytest.raises(RunError, match=r"manifest\.json"):
        require_manifest(folder)


def begun(sweep: SweepFolder, number: int, overrides: Sequence[str], digest: str) -> None:
    """A job that ended with 0 under a configuration of this digest."""
    run = RunFolder(sweep.results / "quickstart" / f"20260101T000000Z-0000000{number}")
    run.path.mkdir(parents=True)
    run.config.write_text("seed: 1\n")
    run.facts.write_text(f'{{"config_digest":"{digest}"}}')
    sweep.begin(number, overrides, run)
    sweep.end(number, 0)


def test_a_finished_job_of_another_configuration_is_refused_and_keeps_its_exit_code(
    tmp_path: Path, small: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = create_sweep(tmp_path, small("seed=1,2"), 0)
    multirun(sweep.overrides, lambda number, given, _: begun(sweep, number, given, "b3:" + "0" * 64))
    sweep.end(1, 3)
    assert commands.run_sweep(sweep) == 2
    out, err = capsys.readouterr()
    jobs = json.loads(out)["jobs"]
    assert [(job["exit"], job["refused"]) for job in jobs] == [(0, True), (3, True)]
    assert [sweep.code(number) for number in (0, 1)] == [0, 3]
    said = [line for line in err.splitlines() if "the configuration files changed; start a new sweep" in line]
    assert [line.partition(": ")[0] for line in said] == ["capsule-bench"] * 2 + ["not in the comparison"] * 2


def test_a_job_that_runs_elsewhere_is_not_run_twice(
    tmp_path: Path, small: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """A worker that outlived its driver."""
    sweep = create_sweep(tmp_path, small("seed=1"), 0)
    with sweep.running(0):
        (sweep.path / "jobs" / "0.why").write_text("what it says itself")
        assert commands.run_sweep(SweepFolder(sweep.path, sweep.results)) == 2
        left = {path.name: path.read_text() for path in (sweep.path / "jobs").iterdir()}
        assert left == {"0.started": "", "0.why": "what it says itself"}
    (job,) = json.loads(capsys.readouterr().out)["jobs"]
    assert (job["refused"], job["run"]) == (True, None)
    assert not (tmp_path / "quickstart").exists()
    with sweep.running(0):  # let go of, it can be run
        assert gathered(sweep) == ["job 0: no run was made: it still runs in another process"]
        sweep.start(0)
    assert not sweep.refused(0)


def gathered(sweep: SweepFolder) -> list[str]:
    return list(commands.gather(sweep, Reporter(quiet=True)).missing)


def test_a_job_whose_config_is_refused_says_why_in_the_comparison(
    tmp_path: Path, small: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = create_sweep(tmp_path, small("limit=1,0,2"), 0)
    assert commands.run_sweep(sweep) == 2
    why = "job 1: no run was made: task.limit (or limit): expected at least 1, found 0"
    assert gathered(sweep) == [why]
    assert f"not in the comparison: {why}" in capsys.readouterr().err
    assert why in (sweep.path / "comparison.md").read_text("utf-8").replace("\\", "")
    assert not (sweep.path / "jobs" / "0.why").exists()


def test_a_job_says_whether_it_was_interrupted_or_killed_and_forgets_it_when_begun_anew(
    tmp_path: Path,
) -> None:
    sweep = create_sweep(tmp_path, ["seed=1,2"], 0)
    sweep.end(0, 130, "it was interrupted")
    with sweep.running(1):
        sweep.start(1)
    assert gathered(sweep) == [
        "job 0: no run was made: it was interrupted",
        "job 1: no run was made: it left no reason, as if it was killed; resume the sweep",
    ]
    begun(sweep, 0, ["seed=1"], "b3:" + "0" * 64)
    sweep.end(0, 2, "the disk is full\nmore words")
    assert gathered(sweep)[0] == "job 0 (seed=1): the disk is full"
    sweep.start(0)
    assert gathered(sweep)[0].endswith("as if it was killed; resume the sweep")
