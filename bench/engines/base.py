"""What the runner needs of an engine.

Rule that this module owns: what an engine's failure calls for is its type.

    EngineError              died or hung: it is started again, a few times; the run can be resumed
      · EngineAbsentError    did not start, or nobody is there: said once; the run can be resumed
      · EngineSettingError   what was asked of it can never work: said once, at the earliest; not resumable
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bench.errors import PermanentError
from bench.specs import SamplingSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInfo:
    """What a started engine says about itself.

    Attributes:
        block_size: Tokens of a KV block, read from the engine (``None``: unknown).
        prefix_caching: Whether it was built with prefix caching.
        block_rule: Whether the plain block rule holds (else predictions are null, ``kv.hybrid``).
        scheduling_known: Whether prompt blocks are registered in submission order.
        streaming: Whether per-token times are observed (``itl``).
        profile: ModelProfile fields and versions for the manifest (plain JSON data).
        cache_known: Whether the driver can know what the cache holds (else predictions are null,
            ``engine.unknown``): false for a server that others use or that cannot be reset.
        replayed: Whether its answers are those of an earlier run: nothing is computed, reset or timed.
    """

    name: str
    fake: bool
    block_size: int | None
    prefix_caching: bool
    block_rule: bool
    scheduling_known: bool
    streaming: bool
    start_us: int
    profile: Mapping[str, object]
    cache_known: bool = True
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRequest:
    """Token ids to send.

    Attributes:
        ids: Exactly one BOS leads them where the tokenizer has one.
        salt: Isolates the cache.
        grammar: What the answer must be a sentence of (text for llguidance); ``None`` leaves it free.
    """

    request_id: str
    ids: tuple[int, ...]
    salt: str | None
    sampling: SamplingSpec
    grammar: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineResult:
    """One answer. Times are integer microseconds; unknown is ``None``, never 0.

    ``ttft_us`` and ``e2e_us`` hold ``grammar_us``: what checking and compiling the grammar took.

    Attributes:
        ids_known: Whether ``output_ids`` are the generated ids; false for a server that does not say them.
        n_output: Generated tokens by the engine's own count, where ids are not known.
        n_prompt: Prompt tokens by the engine's own count, where it gives one.
        cache_write_tokens: Prompt tokens billed as written to a cache, where a provider says so.
        first_text_us: Time to the first text of the answer, reasoning left out; of engines that stream.
        itl_us: Gaps between one token and the next; of engines that stream one token at a time.
        retries: Attempts before the one that was answered.
    """

    request_id: str
    status: str  # ok | error
    text: str
    output_ids: tuple[int, ...]
    cached_tokens: int | None
    ttft_us: int | None
    tpot_us: int | None
    e2e_us: int | None
    queue_us: int | None
    finish_reason: str | None
    error: str | None
    preempted: bool = False
    grammar_us: int | None = None
    ids_known: bool = True
    n_output: int | None = None
    n_prompt: int | None = None
    cache_write_tokens: int | None = None
    first_text_us: int | None = None
    itl_us: tuple[int, ...] | None = None
    retries: int = 0


class Engine(Protocol):
    """A started engine. ``generate`` returns one result a request, in submission order."""

    info: EngineInfo

    def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
        """Send one wave; a failed request is a result, a lost engine is an :class:`EngineError`."""
        ...

    def reset_prefix_cache(self) -> bool:
        """Ask the engine to forget its prefix cache; what the engine answered."""
        ...

    def counters(self) -> dict[str, int]:
        """``prefix_queries``, ``prefix_hits``, ``prompt_tokens`` since the start (tokens)."""
        ...

    def close(self) -> None:
        """End the engine and all its processes; may be called twice."""
        ...


class EngineError(Exception):
    """The engine died or hung.

    Args:
        problem: What happened, without places of this machine: it may stand in a report.
        shown: More for whoever sits before it: folders, its own last lines. The message holds both.
    """

    def __init__(self, problem: str, shown: str = "") -> None:
        super().__init__(f"{problem}. {shown}" if shown else problem)
        self.problem = problem
        self.shown = shown


class EngineAbsentError(EngineError):
    """The engine did not start, or nobody answers for it: to try again at once would be the same."""


class EngineSettingError(EngineError, PermanentError):
    """The engine cannot do what it is asked; the message names setting, expected and found."""
