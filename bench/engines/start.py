"""What an engine factory is given. Factories are listed in ``bench.engines.registry``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.engines.base import Engine
from bench.engines.process import ProcessRecord
from bench.model_store import ModelFolder
from bench.specs import EngineSpec, ModelSpec, ProviderSpec
from capsules.tokenizer import Tokenizer


def ignore_process(record: ProcessRecord) -> None:
    """For callers that keep no record of the engine's process (they end it themselves)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStart:
    """Everything that fixes one engine.

    Attributes:
        spec: Settings.
        model: Which model; ``dtype`` is used.
        folder: Its prepared folder; None for engines that load no weights.
        prefix_caching: Whether the engine is built with prefix caching.
        log: File for the engine's output (appended).
        tokenizer: The run's tokenizer; engines that tokenize by themselves ignore it.
        on_process: Called with the engine's process record as soon as the process exists, before it is
            ready: write it down, so that a resume finds an engine whose driver was killed.
        grammars: Whether requests with grammars will come; the engine prepares for them before it is ready.
        provider: Who is asked, for engines that are reached over a connection; None: this machine.
    """

    spec: EngineSpec
    model: ModelSpec
    folder: ModelFolder | None
    prefix_caching: bool
    log: Path
    tokenizer: Tokenizer | None = None
    on_process: Callable[[ProcessRecord], None] = ignore_process
    grammars: bool = False
    provider: ProviderSpec | None = None


EngineFactory = Callable[[EngineStart], Engine]
