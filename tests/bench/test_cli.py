"""The command line: what it offers, and bad input said in one clear line with exit code 2."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import main, parse, parser
from bench.commands import COMMANDS
from bench.commands.listing import shown
from bench.config_checks import ConfigError
from bench.errors import describe_os_error
from bench.hydra_app import multirun

ROOT = Path(__file__).resolve().parents[2]


def test_the_commands_are_the_documented_ones() -> None:
    assert list(COMMANDS) == [
        "run",
        "build",
        "resume",
        "verify",
        "rescore",
        "report",
        "compare",
        "show",
        "explain",
        "golden",
        "recall",
        "study",
        "list",
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    assert "example: capsule-bench " in capsys.readouterr().out


def test_help_needs_neither_hydra_nor_an_engine() -> None:
    program = "import sys; from bench.__main__ import parser; parser(); "
    program += "print([m for m in sys.modules if m in sys.argv])"
    done = subprocess.run(
        [sys.executable, "-c", program, "hydra", "pyarrow", "matplotlib", "vllm", "torch"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_usage_errors_are_2(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["nope"], ["list", "nope"], ["verify"]):
        with pytest.raises(SystemExit) as caught:
            parser().parse_args(arguments)
        assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_overrides_may_stand_on_both_sides_of_an_option() -> None:
    for words in (["-m", "a=1", "b=2"], ["a=1", "-m", "b=2"], ["a=1", "b=2", "-m"]):
        arguments = parse(["run", *words])
        assert (arguments.overrides, arguments.multirun) == (["a=1", "b=2"], True)
    for words in (["run", "a=1", "--nope"], ["report", "latest", "--json", "a=1"]):
        with pytest.raises(SystemExit) as caught:
            parse(words)
        assert caught.value.code == 2


BAD_INPUT = {
    "unknown task": (["run", "task=nope"], "unknown task 'nope': expected one of"),
    "unknown task function": (["run", "engine=fake", "task.name=nope"], "unknown task 'nope'"),
    "unknown arm": (["run", "+arm@arms.x=nope"], "unknown arm 'nope'"),
    "arm without a name": (["run", "arm=naive"], "(to add an arm: +arm@arms.NAME=...)"),
    "arm that is not there": (["run", "arm@arms.x=naive"], "(to add an arm: +arm@arms.x=...)"),
    "unknown builder": (["run", "engine=fake", "arms.naive.builder=nope"], "unknown builder 'nope': "),
    "unknown retriever": (["run", "engine=fake", "arms.naive.retrieval.name=x"], "unknown retrieval 'x'"),
    "unknown model": (["run", "model=nope"], "unknown model 'nope'"),
    "unknown engine": (["run", "engine.name=nope"], "engine.name: unknown engine 'nope': expected one "),
    "engine of a provider that no arm names": (
        ["run", "engine=fake", "+provider@providers.own=vllm_server", "providers.own.server.engine=nope"],
        "providers.own.server.engine: unknown engine 'nope': expected one of openai, vllm_server, or module:",
    ),
    "replay of nothing": (["run", "engine=replay"], "engine.recorded: expected the folder"),
    "server of ours without a model": (
        ["run", "experiment=routing", "engine=fake", "tokenizer=bytes"],
        "tokenizer: expected 'model' for provider server, whose engine is vllm_server, which gets token ids "
        "and loads the model's folder; found 'bytes', which prepares none",
    ),
    "unknown override": (["run", "nope=1"], "unknown setting 'nope'"),
    "missing data folder": (["run", "engine=fake", "task=xquad_en", "task.data_dir=/no/such/folder"],
                            "/no/such/folder"),
    "short revision": (["run", "task=xquad_en", "task.revision=51adfef"], "expected a full commit hash"),
    "missing model folder": (["run", "model=local", "model.ref=/no/such/model"], "/no/such/model"),
    "missing tokenizer": (["build", "tokenizer=hf:/no/such/folder"], "/no/such/folder"),
    "a name below a list": (["run", "arms.capsule.caches.x=1"], "arms.capsule.caches: expected a list ("),
    "a number for a choice": (["run", "-m", "seed=1,2", "task=3"], "task: expected one of"),
    "misspelt key beside a sweep": (["run", "-m", "seed=1,2", "concurency=3"], "did you mean concurrency?"),
    "no key": (["run", "=3"], "override '=3': expected key=value or ~key, found no key"),
    "no run": (["verify", "latest"], "there is no run in results/ yet"),
    "no such run": (["show", "nope"], "no run folder nope"),
    "no such capsule": (["explain", "nope", "nope"], "expected a capsule file, or a digest"),
    "bad time": (["verify", "latest", "--now", "today"], "--now: expected YYYY-MM-DDTHH:MM:SSZ, found"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_one_clear_line_exit_2_and_leaves_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, expected = BAD_INPUT[name]
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert expected in err
    assert [line for line in err.splitlines() if line.startswith("capsule-bench: ")] == err.splitlines()[-1:]
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


# What there is, is read from the first combination of the sweep.
BAD_SWEEPS = {
    "misspelt key": (["seed=1,2", "concurency=3"], "did you mean concurrency?"),
    "misspelt key beside a range": (["seed=range(1,3)", "concurency=3"], "did you mean concurrency?"),
    "misspelt key beside a pattern": (["task=glob(x*)", "concurency=3"], "did you mean concurrency?"),
    "misspelt key beside a choice of arms": (
        ["experiment=routing,quickstart", "arms.x.caches=[off]"],
        "unknown setting 'arms.x.caches': expected one of ",
    ),
    "removed choice that is not there": (
        ["seed=1,2", "~arm@arms.nope"],
        "override '~arm@arms.nope': there is nothing to remove: expected one of ~arm@arms.capsule, ",
    ),
    "added choice that is there": (
        ["seed=1,2", "+arm@arms.naive=capsule"],
        "override '+arm@arms.naive=capsule': arm@arms.naive is chosen already (naive): expected ",
    ),
    "removed setting of another value": (["seed=1,2", "~task.limit=3"], "task.limit can be set and not remo"),
    "a name below a list": (["seed=1,2", "arms.capsule.caches.x=1"], "found a setting below it (x)"),
    "a name below a list beside an unknown choice": (
        ["experiment=nope,quickstart", "arms.capsule.caches.x=1"],
        "found a setting below it (x)",
    ),
    "removed choice that only the first combination has": (
        ["experiment=quickstart,budget_sweep", "~arm@arms.naive_volatile"],
        "'~arm@arms.naive_volatile': there is nothing to remove in a combination of the sweep",
    ),
    "values below a list": (["arms.capsule.caches.x=1,2"], "found a setting below it (x)"),
    "no key": (["seed=1,2", "=3"], "override '=3': expected key=value or ~key, found no key"),
}


@pytest.mark.parametrize("name", BAD_SWEEPS)
def test_a_mistake_beside_a_sweep_is_the_same_one_line(name: str) -> None:
    overrides, expected = BAD_SWEEPS[name]
    with pytest.raises(ConfigError) as caught:
        multirun(overrides, lambda *_: pytest.fail("a job began"))
    message = str(caught.value)
    assert expected in message
    assert "\n" not in message


def test_an_error_of_a_job_stays_its_own() -> None:
    def job(*_: object) -> None:
        raise ValueError("of the job")

    with pytest.raises(ValueError, match=r"^of the job$"):
        multirun(["seed=1,2"], job)


def test_no_space_left_is_said_in_words() -> None:
    assert describe_os_error(OSError(28, "No space left on device", "/x/y")).startswith(
        "the disk is full at /x/y: "
    )
    assert describe_os_error(PermissionError(13, "Permission denied", "/x")) == "Permission denied: /x"


def test_what_tasks_share_is_no_task(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["list", "tasks", "--json"]) == 0
    names = {entry["name"] for entry in json.loads(capsysbinary.readouterr().out)["tasks"]}
    assert {"synthetic", "musique"} <= names - {"local_set"} == names


@pytest.mark.parametrize("what", ["tasks", "arms", "metrics", "experiments"])
def test_list_names_what_can_be_named(what: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["list", what, "--json"]) == 0
    entries = json.loads(capsysbinary.readouterr().out)[what]
    names = [entry["name"] for entry in entries]
    expected = {
        "tasks": "synthetic",
        "arms": "capsule_extractive",
        "metrics": "exact_citation",
        "experiments": "xquad",
    }
    assert expected[what] in names
    assert all(entry["about"] for entry in entries)


def test_a_description_is_whole_in_a_pipe_and_folded_on_a_terminal() -> None:
    about = "One sentence that is longer than a narrow terminal. And a second one."
    assert shown("name  ", about, None) == f"name  {about}"
    assert shown("name  ", about, 40).splitlines() == [
        "name  One sentence that is longer than a",
        "      narrow terminal. And a second one.",
    ]
    assert shown("name  ", about, 5).splitlines()[0] == "name  One sentence that is longer"  # 30 columns
    assert shown("name  ", "", 40) == shown("name  ", "", None) == "name"


def test_a_description_is_the_whole_first_comment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "experiments"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["all_arms"].endswith(
        "compression, contracts. The library's compressors are in `compression`: they take minutes a sample "
        "set. About 10 minutes on two cores."
    )
