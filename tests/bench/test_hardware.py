from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from bench.hardware import gpu_facts, hardware_facts


def test_facts_of_this_machine_are_plain_and_name_nobody() -> None:
    facts = hardware_facts()
    assert list(facts) == [
        "cpu", "cores", "cores_total", "memory_gib", "gpu", "os", "kernel", "machine", "python",
    ]  # fmt: skip
    assert facts["cores"] == len(os.sched_getaffinity(0))
    assert facts["python"] == f"CPython {platform.python_version()}"
    assert isinstance(facts["memory_gib"], int)
    assert platform.node() not in [str(value) for value in facts.values()]


@pytest.fixture
def nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    script = tmp_path / "nvidia-smi"
    script.touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return script


def test_gpus_are_listed_by_nvidia_smi(nvidia_smi: Path) -> None:
    nvidia_smi.write_text("#!/bin/sh\necho 'NVIDIA X, 80 MiB, 570.1'\necho 'NVIDIA Y, 40 MiB, 570.1'\n")
    assert gpu_facts() == "NVIDIA X, 80 MiB, 570.1; NVIDIA Y, 40 MiB, 570.1"


@pytest.mark.parametrize(
    "script", ["#!/bin/sh\necho no driver\nexit 9\n", "#!/bin/sh\n", "#!/no/such/shell\n"]
)
def test_a_driver_that_does_not_work_is_no_gpu(nvidia_smi: Path, script: str) -> None:
    nvidia_smi.write_text(script)
    assert gpu_facts() is None
