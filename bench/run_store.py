"""The folder of a run: its name, its files, and how files become complete.

Rules that this module owns:

* ``<results>/<experiment>/<run id>/`` with run id = ``<UTC yyyymmddThhmmssZ>-<8 random hex>``; the
  folder must be new, so two runs in one second never share one.
* Files that grow (``*.jsonl`` of requests, responses, cells, engines) are appended row by row; every
  other file is written beside its place, flushed to disk and renamed: it is whole or absent.
* ``manifest.json`` is written last: its presence means that the run is complete.
"""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path
from typing import Any

from bench.errors import PermanentError
from capsules.canonical import canonical_bytes, parse_strict
from capsules.disk_store import DiskStore
from capsules.errors import CapsuleError
from capsules.timestamp import format_time

RUN_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{8}")
LATEST = "latest"


class RunError(Exception):
    """The run cannot be made, found or continued; the message says why and what to do."""


class DeadEndError(RunError, PermanentError):
    """What stopped the run stays as it is: to continue the same folder cannot help."""


class _File:
    """A file of the folder, by its fixed name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, folder: RunFolder, owner: type | None = None) -> Path:
        return folder.path / self._name


class RunFolder:
    """One run's folder. Files: see ``docs/run-folder.md``.

    Attributes:
        path: The folder; its name is the run id.
    """

    config = _File("config.yaml")
    facts = _File("run.json")
    manifest = _File("manifest.json")
    lock = _File("run.lock")
    samples = _File("samples.jsonl")
    refused = _File("refused.jsonl")
    rebuilt = _File("rebuilt.jsonl")
    builds = _File("builds.jsonl")
    compressions = _File("compressions.jsonl")
    routes = _File("routes.jsonl")
    isolation = _File("isolation.jsonl")
    engines = _File("engines.jsonl")
    requests = _File("requests.jsonl")
    responses = _File("responses.jsonl")
    cells = _File("cells.jsonl")
    scores = _File("scores.parquet")
    dry_counts = _File("build.json")

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def run_id(self) -> str:
        """``<UTC yyyymmddThhmmssZ>-<8 hex>``."""
        return self.path.name

    @property
    def complete(self) -> bool:
        """Whether the run has finished."""
        return self.manifest.is_file()

    @property
    def dry(self) -> bool:
        """Whether this is what ``build`` left: capsules and counts, but no run."""
        return self.dry_counts.is_file() and not self.requests.is_file()

    def store(self, *, read_only: bool = False) -> DiskStore:
        """The run's content-addressed store."""
        return DiskStore(self.path / "store", read_only=read_only)


def create_run(results: Path, experiment: str, now: int, *, dry: bool = False) -> RunFolder:
    """Make the folder of a new run.

    Args:
        results: Folder of all results.
        experiment: Name of the experiment.
        now: The clock's reading, seconds since 1970.
        dry: Whether it is no run but a build without an engine. The mark is the first file, so that a
            build that is killed at any moment is never taken for a run that can be continued.

    Raises:
        RunError: The folder cannot be made.
    """
    stamp = format_time(now).replace("-", "").replace(":", "")
    path = results / experiment / f"{stamp}-{secrets.token_hex(4)}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(exist_ok=False)
    except OSError as error:
        raise RunError(f"cannot make the run folder {path}: {error.strerror or error}") from error
    folder = RunFolder(path)
    if dry:
        write_json(folder.dry_counts, {"run_id": folder.run_id, "finished": False})
    return folder


def find_run(name: str, results: Path, *, to_continue: bool = False) -> RunFolder:
    """The folder that RUN names: a path, a run id under ``results``, or ``latest``.

    The latest is the newest run whose prompts were built: one that died before holds nothing to look
    at. Then the newest that died so, then what ``build`` left.

    Args:
        name: RUN.
        results: Folder of all results.
        to_continue: ``latest`` is the newest run, however far it came.

    Raises:
        RunError: There is none.
    """
    if name == LATEST:

        def rank(path: Path) -> tuple[bool, bool, str]:
            folder = RunFolder(path)
            return not folder.dry, to_continue or folder.builds.is_file(), path.name

        found = max(_run_folders(results), key=rank, default=None)
        if found is None:
            raise RunError(f"there is no run in {results}/ yet: start one with `capsule-bench run`")
        return RunFolder(found)
    path = Path(name)
    if not path.is_dir() and RUN_ID.fullmatch(name):
        path = next((p for p in _run_folders(results) if p.name == name), path)
    if not path.is_dir():
        raise RunError(f"no run folder {name}: expected a folder, a run id in {results}/, or {LATEST}")
    if not (path / "config.yaml").is_file():
        raise RunError(f"{path} is no run folder: it has no config.yaml")
    return RunFolder(path)


def _run_folders(results: Path) -> list[Path]:
    return [p for p in results.glob("*/*") if RUN_ID.fullmatch(p.name) and (p / "config.yaml").is_file()]


def write_atomic(path: Path, data: bytes) -> None:
    """Write a whole file: after a crash it is the old one or the new one.

    Raises:
        OSError: Nothing was changed.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make the names in a folder survive a loss of power."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a canonical JSON file (integers only), atomically."""
    write_atomic(path, canonical_bytes(value))


def read_json(path: Path) -> dict[str, Any]:
    """Read a canonical JSON file.

    Raises:
        RunError: It is missing, or not a JSON object.
    """
    try:
        value = parse_strict(path.read_bytes(), max_bytes=64 << 20, max_items=1_000_000)
    except FileNotFoundError as error:
        raise RunError(f"{path} is missing") from error
    except CapsuleError as error:
        raise RunError(f"{path}: {error}") from error
    if not isinstance(value, dict):
        raise RunError(f"{path}: expected an object, found {type(value).__name__}")
    return value
