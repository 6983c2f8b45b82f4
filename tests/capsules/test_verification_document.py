"""docs/verification.md: its commands and its program run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from capsules.canonical import parse_strict
from capsules.report import STAGES

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "verification.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    ((?:[CSP]=|python -m|echo).*)$", DOCUMENT, re.MULTILINE)
ASSIGNED = [line for line in COMMANDS if re.match("[CSP]=", line)]
RUN = [line for line in COMMANDS if line not in ASSIGNED]


def shell(line: str) -> subprocess.CompletedProcess[bytes]:
    script = "\n".join([*ASSIGNED, line.replace("python", sys.executable, 1)])
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(["sh", "-c", script], cwd=ROOT, env=environment, capture_output=True, check=False)


@pytest.mark.parametrize("line", RUN)
def test_every_command_runs(line: str) -> None:
    done = shell(line)

    assert done.returncode == 0, done.stderr.decode()
    if " verify " in line:
        report = parse_strict(done.stdout)
        assert isinstance(report, dict)
        assert report["valid"] is True
        assert report["authorized"] is (True if "--provider" in line else None)


def test_the_commands_were_found() -> None:
    assert len(ASSIGNED) == 3
    assert len(RUN) == 5


@pytest.mark.parametrize(("case", "status"), [("verify-prompt", 0), ("verify-bit_fail", 1)])
def test_the_program_checks_a_capsule_without_our_code(tmp_path: Path, case: str, status: int) -> None:
    program = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)[0]
    (tmp_path / "check.py").write_text(program)
    vectors = ROOT / "tests" / "vectors"
    argv = [str(vectors / "cases" / case / "input"), str(vectors / "stores" / "main")]

    done = subprocess.run(
        [sys.executable, "-P", str(tmp_path / "check.py"), *argv], capture_output=True, check=False
    )

    assert done.returncode == status
    assert done.stdout.endswith(b": 3 spans stand in their sources\n") is (status == 0)
    assert "capsules" not in re.findall(r"^(?:import|from) (\w+)", program, re.MULTILINE)


def test_the_stages_are_those_of_the_report() -> None:
    assert tuple(re.findall(r"^\| `(\w+)` \| ", DOCUMENT, re.MULTILINE)) == STAGES
