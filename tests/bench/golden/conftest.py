"""Golden files of a small task of our own and of a synthetic one, recorded once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from json import JSONEncoder
from pathlib import Path
from typing import NamedTuple

import pytest

from bench.golden.check import record
from bench.golden.records import Golden
from bench.hydra_app import compose_config
from bench.progress import Reporter

ROOT = Path(__file__).resolve().parents[3]

ARMS = ("~arm@arms.capsule_extractive", "~arm@arms.naive_volatile", "tokenizer=bytes")
NOTE = "The ferry Alma crosses the sound in nine minutes. She was built in 1931."


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A data file of one question, in a folder of its own."""
    folder = tmp_path / "data"
    folder.mkdir()
    row = {
        "id": "ferry",
        "question": "When was the ferry Alma built?",
        "sources": [
            {"id": "boats", "text": NOTE},
            {"id": "crew", "text": "The mate is on leave until May.", "level": "confidential"},
            {"id": "birds", "text": "Gulls nest on the east pier. Terns prefer the sandbank."},
        ],
    }
    path = folder / "notes.jsonl"
    path.write_text(JSONEncoder().encode(row) + "\n", "utf-8")
    return path


@pytest.fixture
def two_arms() -> tuple[str, ...]:
    """Overrides that leave two arms, counted in bytes."""
    return ARMS


@pytest.fixture
def of_notes(notes: Path) -> list[str]:
    """Overrides of a run on them."""
    return [*ARMS, "task=custom", "task.examples=0", f"task.options.file={notes}"]


class Recorded(NamedTuple):
    """A golden file and what it holds; its repr is short, for the reports of property tests."""

    path: Path
    golden: Golden

    def __repr__(self) -> str:
        return f"<{self.path.name}>"


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A golden file of two synthetic samples in two arms, and what it holds."""
    path = tmp_path_factory.mktemp("golden") / "two.golden.json"
    config = compose_config([*ARMS, "limit=2", "experiment=quickstart"])
    return Recorded(path, record(path, config, {}, Reporter(quiet=True))[0])


@pytest.fixture
def suite() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs pytest with the plug-in in a folder, in a process of its own."""

    def call(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-p",
                "bench.golden.plugin",
                "-p",
                "no:cacheprovider",
                *arguments,
            ],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return call
