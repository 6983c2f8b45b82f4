"""An environment of the library's compressors whose interpreter is a script.

Its workers are real processes that end at their start, load no model, or are killed in mid-work; the library
alone is scripted. And what runs with them left.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bench.compression.library_env import environment_folder
from bench.compression_stage import read_output
from bench.records import BuildRow, CompressionRow, RequestRow, ResponseRow
from bench.records_io import read_rows
from bench.run_store import RunFolder
from bench.verification import verify_run

LOST, FAILED = "compression.lost", "compression.failed"
CAUSE = "starting llmlingua2: the engine process ended (exit status 3)"
BESIDE = ("~arm@arms.naive", "~arm@arms.naive_volatile", "arms.capsule.caches=[primed]")
TWO = ("+arm@arms.two=capsule_llmlingua2_raw", "arms.two.caches=[primed]")
ALONE = (*BESIDE[:2], "~arm@arms.capsule", *TWO, "floor_samples=0")
SCRIPTED = '''
import os
import signal
from pathlib import Path

HERE = Path(__file__).parent

class PromptCompressor:
    """Keeps every other word; killed as the kernel would from the text on that the file `last` counts."""

    def __init__(self, model_name, **more):
        if (HERE / "large").exists():
            raise MemoryError("the model does not fit")
        self.model_name = model_name
        self.tokenizer = type("Tokenizer", (), {"cls_token": "[CLS]"})

    def compress_prompt(self, context, rate):
        (text,) = context
        if text != "The first answer takes longer.":
            calls = HERE / "calls"
            calls.write_text(calls.read_text() + "x")
            last = HERE / "last"
            if last.exists() and len(calls.read_text()) > int(last.read_text()):
                os.kill(os.getpid(), signal.SIGKILL)
        return {"compressed_prompt": " ".join(text.split(" ")[::2])}
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedLibrary:
    """The library's environment in a cache of its own; its interpreter is a script."""

    python: Path
    library: Path
    model: str

    def broken(self) -> None:
        """Let the worker end at its start."""
        self._script("echo no such luck\nexit 3\n")

    def whole(self, *, last: int | None = None) -> None:
        """Let the worker start; killed at every text after the first ``last``."""
        self._script(f'PYTHONPATH="{self.library}:$PYTHONPATH" exec {sys.executable} "$@"\n')
        (self.library / "calls").write_text("")
        for name in ("last", "large"):
            (self.library / name).unlink(missing_ok=True)
        if last is not None:
            (self.library / "last").write_text(str(last))

    def without_memory(self) -> None:
        """Let the worker start and fail to load its model."""
        self.whole()
        (self.library / "large").write_text("")

    def texts(self) -> int:
        """How many texts of samples the library was given since it was made whole."""
        return len((self.library / "calls").read_text())

    def _script(self, lines: str) -> None:
        self.python.write_text(f"#!/bin/sh\n{lines}", "utf-8")
        self.python.chmod(0o755)


def scripted_library(folder: Path) -> ScriptedLibrary:
    """Make it in a folder that is empty; ``CAPSULE_CACHE`` names where the environment goes."""
    library, model, place = folder / "library", folder / "model", environment_folder()
    for path in (library, model, place / "bin"):
        path.mkdir(parents=True)
    (library / "llmlingua.py").write_text(SCRIPTED, "utf-8")
    for name in ("llmlingua", "transformers", "torch"):
        info = library / f"{name}-9.9.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9\n", "utf-8")
    (place / "capsule-environment.json").write_text("{}", "utf-8")
    return ScriptedLibrary(python=place / "bin" / "python", library=library, model=str(model))


def failures(folder: RunFolder) -> dict[str, str]:
    """What `verify` finds, by check."""
    found = verify_run(folder, None, ("report",))
    return {check.check: check.detail for check in found if check.result == "fail"}


def errors(folder: RunFolder, arm_id: str = "two") -> list[str | None]:
    """What became of each sample of an arm: ``None`` is a prompt."""
    return [row.error for row in read_rows(folder.builds, BuildRow) if row.arm_id == arm_id]


def answers(folder: RunFolder) -> list[str | None]:
    """The errors of what is stored of the compressor."""
    store = folder.store(read_only=True)
    return [read_output(store, row.output)[2] for row in read_rows(folder.compressions, CompressionRow)]


def sent(folder: RunFolder) -> Counter[str]:
    """How many requests an arm has; none stands twice, and each has one answer."""
    rows = read_rows(folder.requests, RequestRow)
    assert len({row.request_id for row in rows}) == len(rows)
    replied = Counter(row.request_id for row in read_rows(folder.responses, ResponseRow))
    assert replied == Counter(row.request_id for row in rows)
    return Counter(row.arm_id for row in rows)
