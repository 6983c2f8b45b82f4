"""The same reports everywhere: all vectors, byte for byte, under other environments and Python versions.

What they must say is asserted in tests/vectors; here only that it never depends on the process. Ids alone:
test_portability.py. Other interpreters come from CAPSULE_PYTHONS; a missing one is a loud skip.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import capsules

ROOT = Path(capsules.__file__).parents[1]
CASES = ROOT / "tests" / "vectors" / "cases"

# Runs every vector in one process and prints, by case, the id of all that it says and its exit status.
SCRIPT = r"""
import io, json, os, sys
from pathlib import Path
from capsules.__main__ import main
from capsules.content_id import content_id
said = {}
for case in sorted(Path(sys.argv[1]).iterdir()):
    args = json.loads((case / "args.json").read_bytes())
    given = args.get("stdin")
    if isinstance(given, dict):
        data = (given["repeat"] * given["times"]).encode()
    else:
        data = b"" if given is None else (case / given).read_bytes()
    os.chdir(case)
    streams = io.BytesIO(data), io.BytesIO(), io.BytesIO()
    status = main(args["argv"], streams)
    said[case.name] = [status, *(content_id(each.getvalue()) for each in streams[1:])]
print(json.dumps(said))
"""


def said(python: str = sys.executable, **environment: str) -> dict[str, list[object]]:
    """What another process says to all vectors, in an environment of exactly ``environment``."""
    done = subprocess.run(
        [python, "-X", "utf8=0", "-c", SCRIPT, str(CASES)],
        capture_output=True,
        env={
            "PYTHONPATH": str(ROOT),
            "PATH": os.environ["PATH"],
            "PYTHONDONTWRITEBYTECODE": "1",
            **environment,
        },
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    answers: dict[str, list[object]] = json.loads(done.stdout)
    return answers


@pytest.fixture(scope="module")
def expected() -> dict[str, list[object]]:
    answers = said(PYTHONHASHSEED="0", TZ="UTC", LC_ALL="C.UTF-8")
    assert len(answers) == len(list(CASES.iterdir()))
    assert len({tuple(answer) for answer in answers.values()}) > 100  # the ids tell answers apart
    return answers


def test_hash_seed_time_zone_and_locale_change_no_report(expected: dict[str, list[object]]) -> None:
    found = said(PYTHONHASHSEED="random", TZ="Etc/GMT-14", LC_ALL="C", PYTHONCOERCECLOCALE="0")
    assert found == expected


def test_other_pythons_give_the_same_reports(expected: dict[str, list[object]]) -> None:
    pythons = [path for path in os.environ.get("CAPSULE_PYTHONS", "").split(os.pathsep) if path]
    if not pythons:
        pytest.skip("CAPSULE_PYTHONS names no interpreter: vectors run under this Python version only")
    for python in pythons:
        assert said(python) == expected, python
