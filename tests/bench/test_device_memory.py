"""Device memory is asked through ``nvidia-smi``; here a script of that name stands for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.device_memory import require_back, used_mib
from bench.run_store import RunError


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def says(text: str) -> None:
        script = tmp_path / "nvidia-smi"
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)

    return says


def test_memory_of_all_devices_is_added(smi: Callable[[str], None]) -> None:
    smi("echo 100; echo 23")
    assert used_mib() == 123


@pytest.mark.parametrize("text", ["exit 1", "echo '[N/A]'", "true"])
def test_what_cannot_be_asked_is_unknown(smi: Callable[[str], None], text: str) -> None:
    smi(text)
    assert used_mib() is None
    require_back(None)
    require_back(5)


def test_memory_that_stays_held_is_a_named_error(smi: Callable[[str], None]) -> None:
    smi("echo 4000")
    require_back(3600, wait_s=0)
    with pytest.raises(RunError, match="100 MiB were in use before it, 4000 MiB are now"):
        require_back(100, wait_s=0)
