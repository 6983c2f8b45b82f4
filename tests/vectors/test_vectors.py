"""Runs the vectors, by command line or by call, and asks whether they cover what they must."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from beside import load

from capsules.__main__ import main
from capsules.canonical import parse_strict
from capsules.codes import CODES
from capsules.content_id import content_id
from capsules.report_json import registry_id

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CASES = sorted(path for path in (HERE / "cases").iterdir())
CALLS = sorted(path for path in (HERE / "calls").iterdir())
JSON_LINES = ("match", "citations", "cached")

# Failure codes that no vector can yield: why, and the test that yields them.
EXEMPT = {
    "policy.not_evaluated": ("needs a rule that raises", "test_egress_raising.py"),
    "store.io": ("needs a failing disk", "store/test_faults.py"),
    "store.poisoned": ("needs a failing fsync", "store/test_faults.py"),
}


def read(path: Path) -> Any:
    return parse_strict(path.read_bytes(), max_items=1_000_000)


def stdin_of(case: Path, args: Any) -> bytes:
    stdin = args.get("stdin")
    if isinstance(stdin, dict):
        return str(stdin["repeat"] * stdin["times"]).encode()
    return b"" if stdin is None else Path(case, stdin).read_bytes()


def as_expected(command: str, status: int, out: bytes, err: bytes) -> dict[str, Any]:
    stdout: Any = out.decode("utf-8", "surrogateescape")
    if command in JSON_LINES:
        stdout = [parse_strict(line, max_items=1_000_000) for line in out.splitlines()]
    elif command == "verify" and out.startswith(b"{"):
        stdout = parse_strict(out, max_items=1_000_000)
        assert stdout.pop("registry_id") == registry_id()
    return {"exit": status, "stdout": stdout, "stderr": parse_strict(err) if err.startswith(b"{") else None}


def codes_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "code" and item is not None:
                yield item
            elif key == "codes":
                yield from item
            else:
                yield from codes_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from codes_in(item)


def failures(case: Path) -> set[str]:
    return {code for code in codes_in(read(case / "expected.json")) if CODES[code] == "failure"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_command_says_what_the_vector_expects(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    args = read(case / "args.json")
    streams = io.BytesIO(stdin_of(case, args)), io.BytesIO(), io.BytesIO()
    monkeypatch.chdir(case)

    status = main(args["argv"], streams)

    found = as_expected(args["argv"][0], status, streams[1].getvalue(), streams[2].getvalue())
    assert found == read(case / "expected.json"), (case / "README").read_text()


@pytest.fixture(scope="module")
def calls() -> ModuleType:
    """``calls.py`` (test modules cannot import each other)."""
    return load(HERE / "calls.py", "vectors_calls")


@pytest.mark.parametrize("case", CALLS, ids=lambda case: case.name)
def test_the_call_comes_to_what_the_vector_expects(case: Path, calls: ModuleType) -> None:
    expected = read(case / "expected.json")

    assert calls.outcome(case) == expected, (case / "README").read_text()
    assert (expected["code"] is not None) == case.name.endswith("_fail")
    assert expected["code"] is None or CODES[expected["code"]] == "failure"


def test_every_call_of_the_table_is_made_and_comes_out_well_at_least_once(calls: ModuleType) -> None:
    made: dict[str, set[bool]] = {}
    for case in CALLS:
        passes = read(case / "expected.json")["code"] is None
        made.setdefault(read(case / "args.json")["call"], set()).add(passes)

    assert made.keys() == calls.CALLS.keys()
    assert {name for name, seen in made.items() if seen != {True, False}} == {"contract"}  # refusals only


@pytest.mark.parametrize("case", CASES[::24], ids=lambda case: case.name)
def test_the_same_in_a_process_of_its_own(case: Path) -> None:
    args = read(case / "args.json")
    done = subprocess.run(
        [sys.executable, "-m", "capsules", *args["argv"]],
        cwd=case,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input=stdin_of(case, args),
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert as_expected(args["argv"][0], done.returncode, done.stdout, done.stderr) == read(
        case / "expected.json"
    )


def test_there_are_enough_and_most_of_them_fail() -> None:
    for folders, wanted in ((CASES, 150), (CALLS, 40)):
        negative = [case for case in folders if case.name.endswith("_fail")]
        assert len(folders) >= wanted
        assert len(negative) >= 0.6 * len(folders)
    for command in ("canonical", "digest", "match", "citations", "cached", "verify"):
        assert any(read(case / "args.json")["argv"][0] == command for case in CASES)


def test_every_failure_code_has_a_vector() -> None:
    covered = set().union(*(failures(case) for case in (*CASES, *CALLS)))
    wanted = {code for code, kind in CODES.items() if kind == "failure"} - EXEMPT.keys()

    assert wanted - covered == set()
    assert covered & EXEMPT.keys() == set()
    assert EXEMPT.keys() <= CODES.keys()


@pytest.mark.parametrize("code", EXEMPT)
def test_the_test_of_an_exempt_code_mentions_it(code: str) -> None:
    test = ROOT / "tests" / "capsules" / EXEMPT[code][1]

    assert code in test.read_text(encoding="utf-8").replace("\\", "")


def test_no_vector_with_a_failure_code_comes_out_well() -> None:
    for case in CASES:
        expected = read(case / "expected.json")
        if not failures(case):
            continue
        assert case.name.endswith("_fail"), case.name
        if expected["exit"] == 0:  # a verdict on a quote: not an exact one
            answers = [
                line for line in expected["stdout"] if any(CODES[c] == "failure" for c in line["codes"])
            ]
            assert answers
            assert all(line["match"] in ("absent", "invalid") for line in answers), case.name
        elif isinstance(expected["stdout"], dict):
            assert not (expected["stdout"]["valid"] and expected["stdout"]["authorized"] is not False), (
                case.name
            )


def test_a_vector_without_the_suffix_passes() -> None:
    for case in CASES:
        if not case.name.endswith("_fail"):
            assert read(case / "expected.json")["exit"] == 0, case.name


def test_released_vectors_are_frozen() -> None:
    listed = dict(line.split("  ")[::-1] for line in (HERE / "FROZEN").read_text().splitlines())
    found = {
        path.relative_to(HERE).as_posix(): content_id(path.read_bytes())
        for part in ("calls", "cases", "stores")
        for path in (HERE / part).rglob("*")
        if path.is_file()
    }

    assert found == listed, "a released vector changed; generate.py --accept-vectors only for a new major"


def test_the_recipes_still_make_them() -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "generate.py")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stderr.decode()
