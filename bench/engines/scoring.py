"""What an engine needs to say how likely it finds a prompt: for compressors that use it as a judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bench.engines.base import Engine, EngineInfo, EngineSettingError


class ScoringEngine(Protocol):
    """A started engine that gives log-probabilities of prompts."""

    info: EngineInfo

    def prompt_logprobs(self, prompts: Sequence[tuple[int, ...]]) -> list[list[float | None]]:
        """The log-probability of each id of each prompt given those before it; ``None`` for the first.

        Raises:
            EngineError: The engine died, hung, or refused the prompts.
        """
        ...

    def close(self) -> None:
        """End the engine and all its processes; may be called twice."""
        ...


def scoring(engine: Engine) -> ScoringEngine:
    """The engine, if it can score prompts.

    Raises:
        EngineSettingError: It cannot.
    """
    found: object = engine
    if not callable(getattr(found, "prompt_logprobs", None)):
        raise EngineSettingError(
            f"engine {engine.info.name!r} gives no log-probabilities of prompts: "
            "compression self_information needs an engine with prompt_logprobs (vllm)"
        )
    return found  # type: ignore[return-value]
