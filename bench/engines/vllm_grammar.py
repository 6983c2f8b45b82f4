"""Grammars inside the vLLM process: compiled when a request is queued, timed, and asked for their errors.

Rules of this module:

- vLLM compiles a grammar in a thread and schedules a request when its grammar is ready. In a wave that order
  is a matter of luck, and with it which request fills the prefix cache for which. So grammars are compiled as
  requests are queued: first come first served stays true.
- vLLM checks a grammar before it queues a request and compiles it before it stamps the request as queued.
  Both are timed here and belong to the request's latency.
- Of what the compiler says only the first line is kept: the others quote the grammar, and so the evidence.
- A matcher that reaches a limit answers "stop" to everything: an empty or torn text and no exception. What
  its error says is read from the matcher itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

UNCOMPILABLE = "contract.grammar_uncompilable"
WARM_UP_GRAMMAR = 'start: " [1]" | " [2]"\n'


class Grammars:
    """Times the grammar work of one request at a time.

    Args:
        core: The engine core of this process.
    """

    def __init__(self, core: Any) -> None:
        from vllm.v1.structured_output import backend_guidance

        core.structured_output_manager._use_async_grammar_compilation = False
        self._took_s = 0.0
        self._matcher: Any = None
        backend = backend_guidance.GuidanceBackend
        backend_guidance.validate_guidance_grammar = self._timed(backend_guidance.validate_guidance_grammar)
        backend.compile_grammar = self._timed(backend.compile_grammar)

    def begin(self) -> None:
        """A request is about to be queued."""
        self._took_s, self._matcher = 0.0, None

    def took_us(self) -> int:
        """Checking and compiling since :meth:`begin`, in microseconds."""
        return round(self._took_s * 1_000_000)

    def error(self) -> str | None:
        """What the compiler says against the grammar compiled since :meth:`begin`."""
        said = self._matcher.get_error() if self._matcher is not None else ""
        return said.splitlines()[0] if said else None

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.monotonic()
            try:
                made = function(*args, **kwargs)
            finally:
                self._took_s += time.monotonic() - began
            if made is not None:
                self._matcher = made.ll_matcher
            return made

        return timed


def refusal(message: str) -> str:
    """A refusal of the engine as an error: with its code where the grammar is the reason."""
    first = message.splitlines()[0]
    return f"{UNCOMPILABLE}: {first}" if "grammar" in first.lower() else message
