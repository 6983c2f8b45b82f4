"""The same stored values give the same bytes: in another process, another second, another hash seed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from bench.report import render_report
from bench.report.inputs import ReportInput

ROOT = Path(__file__).resolve().parents[3]
CODE = """
import hashlib, sys
from report_fixture.run import make_report
from bench.report import render_report
assert "matplotlib" not in sys.modules and "jinja2" not in sys.modules
for name, data in render_report(make_report()).items():
    print(name, hashlib.sha256(data).hexdigest())
"""


def test_byte_identical_in_a_new_process(files: dict[str, bytes]) -> None:
    here = {n: hashlib.sha256(data).hexdigest() for n, data in files.items()}
    env = os.environ | {
        "PYTHONHASHSEED": "77",
        "TZ": "Pacific/Kiritimati",
        "LC_ALL": "C",
        "MPLBACKEND": "svg",
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CODE],
        cwd=ROOT,
        env=env | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(Path(__file__).with_name("fixture"))))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    there = dict(line.split(" ") for line in done.stdout.splitlines())
    assert there == here


def test_rows_in_another_order_give_the_same_report(report: ReportInput, files: dict[str, bytes]) -> None:
    turned = replace(
        report,
        samples=report.samples[::-1],
        builds=report.builds[::-1],
        requests=report.requests[::-1],
        responses=report.responses[::-1],
    )
    again = render_report(turned)
    differing = [name for name in files if files[name] != again[name]]
    assert differing == []
