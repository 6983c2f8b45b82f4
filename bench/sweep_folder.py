r"""The folder of a sweep: what was asked for, which run each job became, and how it ended.

    results/sweeps/<sweep id>/
      sweep.json            the overrides, as given
      jobs/<n>.json         job n: its overrides and its run folder, written before anything is sent
      jobs/<n>.exit         its exit code, when it has one
      jobs/<n>.refused      it was reached again and left as it is, e.g. for another configuration
      jobs/<n>.why          what was said when it was refused, or could not be brought to its end
      comparison.*, tables/, figures/    all complete runs side by side

Rules that this module owns:

* A job is known by its number and its overrides: the same command gives the same jobs. Other overrides under
  a known number are refused.
* Files are whole or absent; jobs in other processes (a launcher's workers) write files of their own.
* An exit code says how a job ended and stands until the job is started again: a refused one keeps it.
* One process drives a sweep: the driver holds the folder by ``flock``, which ends with the process. A
  launcher may run jobs in other processes, and these may outlive a driver that is killed. So whoever runs a
  job, driver or worker, holds ``jobs/<n>.started`` in the same way, from before it looks whether there is a
  run until the exit code is written: a second driver is refused the jobs that still run and writes nothing
  of them, and no job becomes two runs. (The run folder has a lock of its own besides, ``bench.lock``.)
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.run_store import RUN_ID, RunError, RunFolder, read_json, write_atomic, write_json
from capsules.timestamp import format_time

SWEEP_ID = "sweep/1"
JOB_ID = "sweep-job/1"
SWEEPS = "sweeps"


class InUseError(RunError):
    """Another process works on it: what it leaves is that one's to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One combination of a sweep that has a run folder."""

    number: int
    overrides: tuple[str, ...]
    run: RunFolder


class SweepFolder:
    """A sweep's folder; its runs lie below ``results``."""

    def __init__(self, path: Path, results: Path) -> None:
        self.path = path
        self.results = results
        self._jobs = path / "jobs"

    @property
    def overrides(self) -> tuple[str, ...]:
        """What the sweep was asked for.

        Raises:
            RunError: ``sweep.json`` is damaged.
        """
        return _words(self.path / "sweep.json", read_json(self.path / "sweep.json"))

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Drive the sweep, alone.

        Raises:
            InUseError: Another process does.
        """
        with _locked(self.path, os.O_RDONLY | os.O_DIRECTORY):
            yield

    @contextlib.contextmanager
    def running(self, number: int) -> Iterator[None]:
        """Write down that a job was reached, so that one that leaves nothing else is missed; run it, alone.

        Raises:
            InUseError: Another process runs it.
        """
        with _locked(self._jobs / f"{number}.started", os.O_RDWR | os.O_CREAT):
            yield

    def start(self, number: int) -> None:
        """Forget how a job ended: it is going to end anew."""
        for name in ("exit", "refused", "why"):
            (self._jobs / f"{number}.{name}").unlink(missing_ok=True)

    def refuse(self, number: int, why: str) -> None:
        """Write down that a job was left as it is."""
        write_atomic(self._jobs / f"{number}.why", why.encode())
        write_atomic(self._jobs / f"{number}.refused", b"")

    def refused(self, number: int) -> bool:
        """Whether a job was left as it is when it was last reached, or runs in another process."""
        return (self._jobs / f"{number}.refused").exists() or self._in_use(number)

    def begin(self, number: int, overrides: Sequence[str], run: RunFolder) -> None:
        """Write down which run a job became."""
        where = run.path.resolve().relative_to(self.results.resolve()).as_posix()
        value = {"schema_id": JOB_ID, "job": number, "overrides": list(overrides), "run": where}
        write_json(self.job_file(number), value)

    def end(self, number: int, code: int, why: str = "") -> None:
        """Write down how a job ended."""
        if why:
            write_atomic(self._jobs / f"{number}.why", why.encode())
        write_atomic(self._jobs / f"{number}.exit", str(code).encode())

    def reason(self, number: int) -> str:
        """Why a job has no complete run, in one line."""
        if self._in_use(number):
            return "it still runs in another process"
        path = self._jobs / f"{number}.why"
        text = path.read_text("utf-8", "replace").strip() if path.is_file() else ""
        return text.splitlines()[0] if text else "it left no reason, as if it was killed; resume the sweep"

    def _in_use(self, number: int) -> bool:
        started = self._jobs / f"{number}.started"
        try:
            with _locked(started, os.O_RDONLY) if started.is_file() else contextlib.nullcontext():
                return False
        except InUseError:
            return True

    def job_file(self, number: int) -> Path:
        """Where it is written which run a job became."""
        return self._jobs / f"{number}.json"

    def numbers(self) -> list[int]:
        """Numbers of all jobs that were reached."""
        return sorted({int(p.stem) for p in self._jobs.iterdir() if re.fullmatch(r"\d+\.\w+", p.name)})

    def job(self, number: int) -> Job | None:
        """A job that has a run folder.

        Raises:
            RunError: Its file is damaged.
        """
        path = self.job_file(number)
        if not path.is_file():
            return None
        value = read_json(path)
        run = value.get("run")
        if not isinstance(run, str):
            raise RunError(f"{path} is damaged: expected a run folder under 'run', found {run!r}")
        return Job(number=number, overrides=_words(path, value), run=RunFolder(self.results / run))

    def discard_if_unused(self) -> None:
        """Remove the folder of a sweep of which no job was reached, and what was made for it alone."""
        if not self.numbers():
            shutil.rmtree(self.path)
            for folder in (self.path.parent, self.results):
                with contextlib.suppress(OSError):  # holds something else
                    folder.rmdir()

    def code(self, number: int) -> int:
        """A job's exit code; one that left none could not be done (2)."""
        path = self._jobs / f"{number}.exit"
        text = path.read_text("utf-8", "replace") if path.is_file() else ""
        return int(text) if re.fullmatch(r"[0-9]{1,3}", text) else 2


@contextlib.contextmanager
def _locked(path: Path, flags: int) -> Iterator[None]:
    fd = os.open(path, flags, 0o666)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            text = f"{path} is in use by another process: wait for it, or end it"
            raise InUseError(text) from error
        yield
    finally:
        os.close(fd)


def _words(path: Path, value: dict[str, Any]) -> tuple[str, ...]:
    words = value.get("overrides")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise RunError(f"{path} is damaged: expected a list of strings under 'overrides', found {words!r}")
    return tuple(words)


def create_sweep(results: Path, overrides: Sequence[str], now: int) -> SweepFolder:
    """Make the folder of a new sweep.

    Raises:
        RunError: It cannot be made.
    """
    stamp = format_time(now).replace("-", "").replace(":", "")
    path = results / SWEEPS / f"{stamp}-{secrets.token_hex(4)}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(exist_ok=False)
        (path / "jobs").mkdir()
    except OSError as error:
        raise RunError(f"cannot make the sweep folder {path}: {error.strerror or error}") from error
    write_json(path / "sweep.json", {"schema_id": SWEEP_ID, "overrides": list(overrides)})
    return SweepFolder(path, results)


def find_sweep(name: str, results: Path) -> SweepFolder | None:
    """The sweep that a name stands for, by its folder or its id below ``results``; ``None``: it is none."""
    path = Path(name)
    if not path.is_dir() and RUN_ID.fullmatch(name):
        path = results / SWEEPS / name
    if not (path / "sweep.json").is_file():
        return None
    path = path.resolve()
    return SweepFolder(path, path.parents[1])
