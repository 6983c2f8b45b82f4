"""Builds the vectors and checks them against what their recipes say.

    python tests/vectors/generate.py                     builds anew and compares; exit 1 if anything differs
    python tests/vectors/generate.py --accept-vectors    writes what differs, and the manifest FROZEN

Released vectors are frozen: a change of any of them is a new major of the format, so nothing is
written without the flag. Expected results come from running the commands, but only if they say what
the recipe says, which was worked out by hand.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cases_accounts
import cases_bytes
import cases_call_keys
import cases_calls
import cases_json
import cases_lines
import cases_policy
import cases_quotes
import cases_resolve
import cases_schema
import cases_spans
import cases_usage
from call_recipe import CallVector
from calls import outcome
from recipes import MAIN, Vector, failure_codes, object_path

from capsules.__main__ import main as command
from capsules.canonical import canonical_bytes, parse_strict
from capsules.codes import CODES
from capsules.content_id import content_id

HERE = Path(__file__).parent
FORMAT = b'{"format":"capsule-store/1","hash":"b3"}'
JSON_LINES = ("match", "citations", "cached")
PARTS = ("calls", "cases", "stores")
MODULES = (
    cases_accounts,
    cases_bytes,
    cases_json,
    cases_lines,
    cases_policy,
    cases_quotes,
    cases_resolve,
    cases_schema,
    cases_spans,
    cases_usage,
)


def vectors() -> list[Vector]:
    """All vectors, by name."""
    found = [vector for module in MODULES for vector in module.cases()]
    names = [vector.name for vector in found]
    if len(set(names)) < len(names):
        raise SystemExit(f"two vectors of one name: {sorted({n for n in names if names.count(n) > 1})}")
    return sorted(found, key=lambda vector: vector.name)


def build(root: Path, found: list[Vector]) -> list[str]:
    """Write stores and cases below ``root``; returns what is wrong with them."""
    stores: dict[str, dict[str, bytes]] = {MAIN: {"FORMAT": FORMAT}}
    for vector in found:
        stores[MAIN].update({object_path(name): data for name, data in vector.objects.items()})
        if vector.damage is not None:
            stores[vector.damage[0]] = vector.damage[1]
    for name, files in stores.items():
        for path, data in files.items():
            write(root / "stores" / name / path, data)
    problems = [problem for vector in found for problem in _build_case(root, vector)]
    calls = (*cases_calls.cases(), *cases_call_keys.cases())
    return problems + [problem for vector in calls for problem in _build_call(root, vector)]


def _build_call(root: Path, vector: CallVector) -> Iterator[str]:
    folder = root / "calls" / vector.name
    if folder.exists():
        yield f"{vector.name}: a second one of this name"
    write(folder / "README", f"{vector.why}\n".encode())
    write(folder / "args.json", canonical_bytes(vector.args) + b"\n")
    for name, data in vector.files.items():
        write(folder / name, data)
    result = outcome(folder)
    write(folder / "expected.json", canonical_bytes(result) + b"\n")
    if result != {"code": vector.code, "at": vector.at}:
        yield f"{vector.name}: {result}, not {vector.code} at {vector.at!r}"


def write(path: Path, data: bytes) -> None:
    """Write a file and its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _build_case(root: Path, vector: Vector) -> Iterator[str]:
    folder = root / "cases" / vector.name
    write(folder / "README", f"{vector.why}\n".encode())
    write(folder / "args.json", vector.args())
    for name, data in vector.files.items():
        write(folder / name, data)
    result = run(folder, vector)
    write(folder / "expected.json", canonical_bytes(result) + b"\n")
    yield from (f"{vector.name}: {problem}" for problem in _wrong(vector, result))


def run(folder: Path, vector: Vector) -> dict[str, Any]:
    """The result of the command, as ``expected.json`` holds it."""
    stdin = (
        (vector.repeat[0] * vector.repeat[1]).encode() if vector.repeat else vector.files.get("input", b"")
    )
    streams = io.BytesIO(stdin), io.BytesIO(), io.BytesIO()
    with contextlib.chdir(folder), contextlib.redirect_stderr(io.StringIO()):
        status = command(list(vector.argv), streams)
    out, err = streams[1].getvalue(), streams[2].getvalue()
    return {"exit": status, "stdout": _stdout(vector.argv[0], out), "stderr": _json_or_none(err)}


def _stdout(name: str, out: bytes) -> Any:
    if name in JSON_LINES:
        return [parse_strict(line) for line in out.splitlines()]
    report = _json_or_none(out) if name == "verify" else None
    if report is not None:
        del report["registry_id"]  # codes are appended; the runner compares it with the registry
    return out.decode() if report is None else report


def _json_or_none(data: bytes) -> Any:
    return parse_strict(data) if data.startswith(b"{") else None


def _wrong(vector: Vector, result: dict[str, Any]) -> Iterator[str]:
    if result["exit"] != vector.exit:
        yield f"exit {result['exit']}, not {vector.exit}"
    codes = tuple(failure_codes([result["stdout"], result["stderr"]], dict(CODES)))
    if codes != vector.codes:
        yield f"codes {codes}, not {vector.codes}"
    if vector.output is not None and result["stdout"] != vector.output.decode():
        yield f"stdout {result['stdout']!r}, not {vector.output!r}"
    said = result["stdout"] if isinstance(result["stdout"], list) else [result["stderr"]]
    if vector.answers and len(said) != len(vector.answers):
        yield f"{len(said)} answers, not {len(vector.answers)}"
    for wanted, found in zip(vector.answers, said, strict=False):
        lacking = {key: value for key, value in wanted.items() if _get(found, key) != value}
        if lacking:
            yield f"{ {key: _get(found, key) for key in lacking} }, not {lacking}"


def _get(found: Any, key: str) -> Any:
    """A key of an answer; ``+cited`` are the cited ids of all its sentences."""
    if key == "+cited":
        return [number for sentence in found["sentences"] for number in sentence["cited"]]
    return found.get(key) if isinstance(found, dict) else None


def tree(root: Path) -> dict[str, bytes]:
    """All files of the parts below ``root``, by relative path."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for part in PARTS
        for path in sorted((root / part).rglob("*"))
        if path.is_file()
    }


def manifest(files: dict[str, bytes]) -> bytes:
    """``FROZEN``: the ContentId of every file, as ``b3sum`` prints it but for the prefix."""
    return b"".join(f"{content_id(data)}  {path}\n".encode() for path, data in sorted(files.items()))


def main(argv: list[str]) -> int:
    """Compare, or accept."""
    with tempfile.TemporaryDirectory() as temp:
        root = Path(temp)
        found = vectors()
        problems = build(root, found)
        print("\n".join(problems) or f"{len(found)} vectors say what their recipes say", file=sys.stderr)
        if problems:
            return 1
        new, old = tree(root), tree(HERE)
        differing = sorted(path for path in new.keys() | old.keys() if new.get(path) != old.get(path))
        frozen = HERE / "FROZEN"
        if not differing and frozen.exists() and frozen.read_bytes() == manifest(new):
            return 0
        if argv != ["--accept-vectors"]:
            print(
                "\n".join([f"{len(differing)} files differ; --accept-vectors writes them", *differing[:40]]),
                file=sys.stderr,
            )
            return 1
        for part in PARTS:
            shutil.rmtree(HERE / part, ignore_errors=True)
            shutil.copytree(root / part, HERE / part)
        frozen.write_bytes(manifest(new))
    return 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main(sys.argv[1:]))
