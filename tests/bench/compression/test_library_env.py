"""The environment of the library's compressors, with a scripted pip."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bench.compression import library_env
from bench.compression.library_env import (
    REQUIREMENTS,
    TORCH_CPU_INDEX,
    SetUpError,
    environment_folder,
    library_environment,
    main,
)

Answers = Callable[[Sequence[str]], str | None]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CAPSULE_CACHE", str(tmp_path))
    return tmp_path


class Pip:
    """Makes what venv and pip would make, and answers by script."""

    def __init__(self, *answers: str | None, encoding: bool = True) -> None:
        self.answers = list(answers)
        self.encoding = encoding
        self.commands: list[list[str]] = []

    def __call__(self, command: Sequence[str], log: Path, say: Callable[[str], None]) -> str | None:
        self.commands.append(list(command))
        log.write_text("log", "utf-8")
        folder = environment_folder()
        if "venv" in command:
            assert not folder.exists()
            (folder / "bin").mkdir(parents=True)
        elif self.encoding:
            data = folder / "lib" / "python3.11" / "site-packages" / "tiktoken_ext" / "data"
            data.mkdir(parents=True, exist_ok=True)
            (data / "cl100k_base.tiktoken").write_bytes(b"ranks")
        return self.answers.pop(0) if self.answers else None


def test_it_is_made_once_and_then_found(cache: Path) -> None:
    said: list[str] = []
    pip = Pip()
    found = library_environment(said.append, run=pip)
    assert found.python == environment_folder() / "bin" / "python"
    assert found.python.is_relative_to(cache / "compressors")
    assert [p.read_bytes() for p in found.tiktoken.iterdir()] == [b"ranks"]
    assert [p.name for p in found.tiktoken.iterdir()] == ["9b5ad71b2ce5302211f9c61530b329a4922fc6a4"]
    venv, install = pip.commands
    assert venv[1:3] == ["-m", "venv"]
    assert install[-len(REQUIREMENTS) :] == list(REQUIREMENTS)
    assert "once" in said[0]
    again = Pip()
    assert library_environment(said.append, run=again) == found
    assert again.commands == []


def test_an_interrupted_set_up_is_made_again(cache: Path) -> None:
    (environment_folder() / "bin").mkdir(parents=True)  # no stamp
    pip = Pip()
    library_environment(lambda line: None, run=pip)
    assert len(pip.commands) == 2


def test_the_index_of_torch_is_asked_only_where_pip_has_no_cpu_build() -> None:
    pip = Pip(None, "ERROR: No matching distribution found for torch==2.13.0+cpu")
    library_environment(lambda line: None, run=pip)
    assert pip.commands[-1][-2:] == ["--extra-index-url", TORCH_CPU_INDEX]


@pytest.mark.parametrize(
    ("pip", "says"),
    [
        (Pip(None, "first\nno network"), "  | no network"),
        (Pip("venv is not installed"), "  | venv is not installed"),
        (Pip(encoding=False), "expected the encoding cl100k_base"),
    ],
)
def test_what_went_wrong_is_said_and_nothing_counts_as_complete(pip: Pip, says: str) -> None:
    with pytest.raises(SetUpError, match=f"(?s){says.replace('|', '[|]')}"):
        library_environment(lambda line: None, run=pip)
    assert not (environment_folder() / "capsule-environment.json").exists()


def test_a_full_disk_is_said_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_env, "NEEDED_GB", 1e9)
    with pytest.raises(SetUpError, match="not enough disk"):
        library_environment(lambda line: None, run=Pip())


def test_a_cache_that_is_no_folder_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    monkeypatch.setenv("CAPSULE_CACHE", str(tmp_path / "file"))
    with pytest.raises(SetUpError, match="cannot make the compressors' environment"):
        library_environment(lambda line: None, run=Pip())


def test_commands_run_with_their_output_in_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_env, "_TICK_S", 0.05)
    said: list[str] = []
    code = "import time; print('one'); time.sleep(0.4); raise SystemExit({})"
    log = tmp_path / "log"
    assert library_env._run([sys.executable, "-c", code.format(0)], log, said.append) is None
    assert said
    output = library_env._run([sys.executable, "-c", code.format(3)], log, said.append)
    assert output is not None
    assert output.endswith("one\n")
    assert log.read_text("utf-8").count("one\n") == 2


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(library_env, "_run", Pip())
    assert main() == 0
    assert capsys.readouterr().out.strip().endswith("bin/python")
    monkeypatch.setattr(library_env, "_run", Pip("broken"))
    monkeypatch.setattr(library_env, "REQUIREMENTS", ("other",))
    assert main() == 2
    assert "| broken" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("pip", "failed"),
    [
        (Pip(None, "ERROR: [Errno 13] Permission denied: '/home/me/x'\nbye"), "pip could not install"),
        (Pip("Error: /home/me/x"), "no virtual environment"),
    ],
)
def test_a_report_may_hold_what_failed_and_no_folder(pip: Pip, failed: str) -> None:
    with pytest.raises(SetUpError) as caught:
        library_environment(lambda line: None, run=pip)
    assert caught.value.problem == f"setting up the library's compressors failed: {failed}"
    assert str(caught.value).startswith(f"{caught.value.problem}. E")
    assert "/home/me/x" in caught.value.shown.splitlines()[0]
