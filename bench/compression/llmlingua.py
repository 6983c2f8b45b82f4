"""The driver's end of the library's compressors: ``llmlingua`` and ``llmlingua2``.

Rules that this module owns:

* The library runs in a worker process with an environment of its own (``library_env``), never here.
* ``raw``: the library's own defaults, as a user would call it. ``protected``: texts are single sentences,
  shorter than the step of 200 tokens under which the library drops nothing, so the step is ``SENTENCE_STEP``.
* ``compression.model`` is a folder, or ``<hub id>@<40-hex commit>``; never a branch. Empty, for
  ``llmlingua``: the run's own model.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.compression.backends import CompressionError
from bench.compression.base import PROTECTED, Ask
from bench.compression.library_env import LibraryEnvironment
from bench.compression.registry import LLMLINGUA2
from bench.engines.base import EngineSettingError
from bench.engines.child import Child
from bench.engines.process import ProcessRecord
from bench.plural import number_of

SENTENCE_STEP = 20
WORKER = "bench.compression.llmlingua_worker"
_START_LIMIT_S = 600.0
_PINNED = re.compile(r"([^@\s]+)@([0-9a-f]{40})")


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryModel:
    """Which model the library loads: a folder, or a hub id at a commit."""

    model: str
    revision: str | None


def library_model(named: str, own: Path | None) -> LibraryModel:
    """What ``compression.model`` names.

    Args:
        named: Its value; empty for the run's own model.
        own: Folder of the run's own model.

    Raises:
        EngineSettingError: It is neither a folder nor a pinned hub id, or there is no own model.
    """
    if not named:
        if own is None:
            raise EngineSettingError("llmlingua takes the run's own model, and this run has none")
        return LibraryModel(model=str(own), revision=None)
    pinned = _PINNED.fullmatch(named)
    if pinned:
        return LibraryModel(model=pinned[1], revision=pinned[2])
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise EngineSettingError(
            f"compression.model: expected a folder or <hub id>@<40-hex commit>, found {named!r}"
        )
    return LibraryModel(model=str(folder), revision=None)


class LibraryBackend:
    """A started worker.

    Args:
        child: Its process.
        limit_s: Seconds for one ask.
        ended: Called once the process has ended.
    """

    def __init__(self, child: Child, *, limit_s: float, ended: Callable[[], None]) -> None:
        self._child = child
        self._limit_s = limit_s
        self._ended = ended

    def shorten(self, ask: Ask) -> list[str]:
        """One text a text of the ask.

        Raises:
            CompressionError: The library failed on a text.
            EngineError: The process died, or gave no answer in time.
        """
        message = {
            "op": "shorten",
            "texts": list(ask.texts),
            "rate_bp": ask.rate_bp,
            "step": SENTENCE_STEP if ask.mode == PROTECTED else None,
        }
        found = self._child.ask(
            message, limit_s=self._limit_s, what=f"shortening {number_of(len(ask.texts), 'text')}"
        )
        for text in found:
            if not isinstance(text, str):
                raise CompressionError(f"{ask.compressor} raised {text['error']}")
        return [str(text) for text in found]

    def close(self) -> None:
        """End the process."""
        self._child.close()
        self._ended()


def start_library(
    name: str,
    model: LibraryModel,
    environment: LibraryEnvironment,
    *,
    log: Path,
    limit_s: float,
    on_process: Callable[[ProcessRecord], None],
    ended: Callable[[], None],
    command: Sequence[str] | None = None,
) -> tuple[LibraryBackend, Mapping[str, Any]]:
    """Start a worker and wait until its model is loaded and has answered once.

    Args:
        name: ``llmlingua`` or ``llmlingua2``.
        model: What it loads.
        environment: Where the library is.
        log: Receives the worker's output.
        limit_s: Seconds for one ask.
        on_process: Told of the process before anything is asked of it.
        ended: Called once the process has ended.
        command: What to run in place of the worker.

    Returns:
        The backend, and versions.

    Raises:
        EngineError: It does not start (with the last lines of its log).
    """
    words = command or [str(environment.python), "-m", WORKER]
    child = Child(words, env=worker_environment(environment, model), log=log, on_process=on_process)
    backend = LibraryBackend(child, limit_s=limit_s, ended=ended)
    try:
        start = {"op": "start", "model": model.model, "revision": model.revision, "two": name == LLMLINGUA2}
        facts: Mapping[str, Any] = child.ask(start, limit_s=_START_LIMIT_S, what=f"starting {name}")
        warm = {"op": "shorten", "texts": ["The first answer takes longer."], "rate_bp": 5_000, "step": None}
        child.ask(warm, limit_s=limit_s, what=f"warming {name} up")
    except BaseException:
        backend.close()
        raise
    return backend, facts


def worker_environment(environment: LibraryEnvironment, model: LibraryModel) -> dict[str, str]:
    """The environment of the worker: ours, its own encodings, no hub unless a hub model is asked for."""
    offline = {} if model.revision is not None else {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    return {
        **{name: value for name, value in os.environ.items() if name != "PYTHONHOME"},
        **offline,
        "TIKTOKEN_CACHE_DIR": str(environment.tiktoken),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "DO_NOT_TRACK": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "PYTHONUNBUFFERED": "1",
        # Threads that spin at barriers make a step ten times slower when anything else runs here.
        "OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY", "passive"),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
