"""Who answers a lossy compressor's asks: a function of the user's, or the engine of the run.

The library's compressors have a process of their own: ``bench.compression.llmlingua``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from bench.compression.base import Ask
from bench.compression.registry import text_compressor
from bench.compression.self_information import PART, ScoreError, shorten
from capsules.errors import CapsuleError
from capsules.tokenizer import Tokenizer


class CompressionError(Exception):
    """A compressor could not answer one ask; the others go on. The message holds no text of the ask."""


class Backend(Protocol):
    """A started compressor."""

    def shorten(self, ask: Ask) -> list[str]:
        """One text a text of the ask.

        Raises:
            CompressionError: It could not.
            EngineError: Its process died or hung.
        """
        ...

    def close(self) -> None:
        """End it; may be called twice."""
        ...


class FunctionBackend:
    """``module:attribute``: a function of the user's own, in this process."""

    def __init__(self, name: str) -> None:
        self._function = text_compressor(name)

    def shorten(self, ask: Ask) -> list[str]:
        """One text a text of the ask.

        Raises:
            CompressionError: The function raised, or answered with something else.
        """
        try:
            found = list(self._function(ask.question, ask.rate_bp, list(ask.texts)))
        except Exception as error:  # somebody else's code: of whatever kind
            raise CompressionError(f"{ask.compressor} raised {type(error).__name__}") from error
        if not all(isinstance(text, str) for text in found):
            raise CompressionError(f"{ask.compressor}: expected texts, found another type")
        return found

    def close(self) -> None:
        """Nothing to end."""


Score = Callable[[str, Sequence[tuple[int, ...]]], Sequence[Sequence[float | None]]]


class ScoringBackend:
    """``self_information``: the log-probabilities of the run's own model.

    Args:
        score: (project, prompts) -> log-probabilities, behind the policy.
        tokenizer: The run's.
        close: Ends the engine.
        part: Ids that the engine takes at once.
    """

    def __init__(
        self, score: Score, tokenizer: Tokenizer, close: Callable[[], None], *, part: int = PART
    ) -> None:
        self._part = part
        self._score = score
        self._tokenizer = tokenizer
        self._close = close

    def shorten(self, ask: Ask) -> list[str]:
        """One text a text of the ask.

        Raises:
            CompressionError: The policy refused, or the scores are none.
            EngineError: The engine died or hung.
        """
        try:
            return shorten(
                ask.texts,
                ask.rate_bp,
                self._tokenizer,
                lambda prompts: self._score(ask.project, prompts),
                part=self._part,
            )
        except CapsuleError as error:
            raise CompressionError(f"not sent: {error.code}") from error
        except ScoreError as error:
            raise CompressionError(str(error)) from error

    def close(self) -> None:
        """End the engine."""
        self._close()
