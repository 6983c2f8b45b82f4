"""Runs from the command line: one line of JSON, what a failure leaves, full disks, interruptions."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.pipeline import Outcome

Cli = Callable[..., "subprocess.CompletedProcess[str]"]
ROOT = Path(__file__).resolve().parents[2]


def test_run_prints_one_json_line_and_everything_else_goes_to_stderr(
    cli: Cli, small: Callable[..., list[str]], tmp_path: Path
) -> None:
    done = cli("run", *small("limit=1", "latency_samples=0"))
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    value = json.loads(line)
    assert value["complete"] is True
    assert value["exit"] == 0
    folder = tmp_path / value["run"]
    assert re.fullmatch(r"results/quickstart/\d{8}T\d{6}Z-[0-9a-f]{8}", value["run"])
    assert (folder / "manifest.json").is_file()
    assert "requests, " in done.stderr  # the estimate
    assert str(value["report"]) in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["results"]  # no outputs/, no multirun/, no .hydra
    for command in (["verify", "--skip", "report"], ["rescore"], ["show"]):
        again = cli(*command, "latest", "--json")
        assert again.returncode == 0, again.stderr
        assert json.loads(again.stdout)["run"] == value["run"]


def test_build_counts_without_an_engine(cli: Cli, byte_tokenizer: Path, tmp_path: Path) -> None:
    done = cli("build", "limit=1", f"tokenizer=hf:{byte_tokenizer}")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    cells = {cell["cell_id"]: cell for cell in value["cells"]}
    assert len(cells) == 10
    assert cells["capsule.off"]["predicted_cached"] == 0
    primed = cells["capsule.primed"]
    assert primed["predicted_cached"] == primed["stable_prefix"] // 32 * 32 > 0  # one sample, blocks of 32
    assert cells["naive_volatile.primed"]["stable_prefix"] == 0
    arms = {arm["arm_id"]: arm for arm in value["arms"]}
    assert set(arms["capsule"]["gold_recall_bp"]) == {"retrieval", "selection", "compression", "budget"}
    assert arms["capsule"]["with_gold"] == 1
    assert arms["capsule"]["prompt_tokens"] == primed["prompt_tokens"]
    assert arms["capsule"]["omissions"]["visibility.denied"]["items"] > 0
    assert arms["capsule"]["silent"] == {"items": 0, "tokens": 0}
    assert arms["naive"]["silent"]["items"] > 0
    assert value["refused"] == {}
    assert "capsule: 1 prompt, " in done.stderr
    assert "rows refused: none" in done.stderr
    assert not (tmp_path / value["run"] / "requests.jsonl").exists()
    for command, said in (("resume", "no run: start one with"), ("verify", "no run, so no scores or report")):
        again = cli(command, value["run"])
        assert (again.returncode, again.stdout) == (2, "")
        assert said in again.stderr
    assert cli("show", "latest").returncode == 0


def test_a_build_that_was_killed_is_no_run_to_continue(tmp_path: Path) -> None:
    """Killed by the builder itself, in the middle of the first prompt."""
    (tmp_path / "mine.py").write_text(
        "import os, signal\ndef build(sample, context): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    command = [sys.executable, "-m", "bench"]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}"}
    options = ["limit=1", "tokenizer=bytes", "arms.naive.builder=mine:build"]
    killed = subprocess.run([*command, "build", *options], cwd=tmp_path, env=env, timeout=120, check=False)
    assert killed.returncode == -signal.SIGKILL
    again = subprocess.run(
        [*command, "resume", "latest"],
        cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (again.returncode, again.stdout) == (2, "")
    assert "holds what `capsule-bench build` left, no run" in again.stderr


def test_a_prompt_that_cannot_fit_is_named_with_both_numbers_and_nothing_to_continue(
    cli: Cli, small: Callable[..., list[str]]
) -> None:
    sizes = [
        f"arms.{arm}.budget.{key}"
        for arm in ("naive", "naive_volatile", "capsule")
        for key in ("window=700", "evidence_limit=400")
    ]
    done = cli("run", *small(*sizes))
    assert done.returncode == 2
    assert json.loads(done.stdout)["complete"] is False
    assert re.search(r"expected at most 700 tokens \(budget\.window\), found \d+", done.stderr)
    assert "capsule-bench resume" not in done.stderr


def test_two_runs_started_in_the_same_second_share_nothing(
    small: Callable[..., list[str]], tmp_path: Path
) -> None:
    """A25, with two processes at once, and with two sweeps of two jobs."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    overrides = small("limit=1", "latency_samples=0", "arms.naive.caches=[cold]", "~arm@arms.capsule")
    commands = [["run", *overrides], ["run", "-m", "seed=1,2", *overrides]]
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "bench", *command],
            cwd=tmp_path,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for command in commands
    ]
    results = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0, 0], results
    lines = [json.loads(line) for out, _ in results for line in out.splitlines()]
    assert len(lines) == 4  # three runs and the sweep
    assert lines[-1]["exit"] == 0
    folders = {line["run"] for line in lines[:-1]}
    assert len(folders) == 3
    assert {p.name for p in (tmp_path / "results" / "quickstart").iterdir()} == {
        Path(f).name for f in folders
    }
    assert sorted(p.name for p in tmp_path.iterdir()) == ["results"]
    seeds = sorted((tmp_path / f / "config.yaml").read_text().split("\nseed: ")[1][0] for f in folders)
    assert seeds == ["0", "1", "2"]


def test_a_sweep_whose_jobs_fail_says_so_for_each_and_ends_with_2(
    cli: Cli, small: Callable[..., list[str]]
) -> None:
    done = cli("run", "-m", "arms.naive.builder=nope,nix", *small())
    assert done.returncode == 2
    assert "unknown builder 'nope'" in done.stderr
    assert "unknown builder 'nix'" in done.stderr
    value = json.loads(done.stdout)
    assert [(job["exit"], job["run"]) for job in value["jobs"]] == [(2, None), (2, None)]
    assert "a comparison needs two" in done.stderr


def test_a_sweep_over_something_unknown_starts_no_job(cli: Cli, tmp_path: Path) -> None:
    done = cli("run", "-m", "task=synthetic,nope", "engine=fake")
    assert done.returncode == 2
    assert "unknown task 'nope'" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_is_one_error_and_nothing_half_written_counts(
    small: Callable[..., list[str]], tmp_path: Path
) -> None:
    """The limit on the size of a file stands for the disk: the same calls fail, with EFBIG."""
    limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000)); "
    program = limit + "from bench.__main__ import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-B", "-c", program, "run", *small()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "File too large" in done.stderr
    assert "capsule-bench resume results/quickstart/" in done.stderr
    value = json.loads(done.stdout)
    assert value["complete"] is False
    folder = tmp_path / value["run"]
    assert not (folder / "manifest.json").exists()
    assert not list(folder.glob("**/*.tmp"))
    resumed = subprocess.run(
        [sys.executable, "-m", "bench", "resume", value["run"]],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert resumed.returncode == 0, resumed.stderr
    assert (folder / "manifest.json").is_file()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_go_on_and_leaves_no_lock(
    small: Callable[..., list[str]], tmp_path: Path, number: signal.Signals
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench", "run", *small("+engine.env.FAKE_DELAY_MS='2000'")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # a shell's background ignores it
    )
    end = time.monotonic() + 60
    while not list(tmp_path.glob("results/*/*/engines.jsonl")) and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    folder = json.loads(out)["run"]
    assert f"interrupted; continue with: capsule-bench resume {folder}" in err
    assert "Traceback" not in err
    assert not (tmp_path / folder / "run.lock").exists()


def test_resume_of_a_complete_run_does_nothing(finished: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    before = finished.folder.manifest.read_bytes()
    assert main(["resume", str(finished.folder.path)]) == 0
    assert "is complete: nothing to do" in capsys.readouterr().err
    assert finished.folder.manifest.read_bytes() == before
