r"""FakeEngine: the Engine interface without a model, for tests of everything around an engine.

Rules of this module:

- It says what it is: ``info.fake`` is True, its name is ``fake``, its profile has no weights. It runs only
  when a config names it; nothing falls back to it.
- Its cache is a model of its own, not the predictor's: it keeps whole token sequences by salt and measures
  the longest common prefix token by token. An engine of a test that agreed with the predictor by sharing
  its code would prove nothing.
- Its answers are a function of the prompt's ids: a sentence copied from one numbered source, in the form of
  the contract ``quote``; every fourth one altered, so that scorers see both. Under a grammar: an answer
  that it allows.
- Times are a function of token counts, never of the clock.
- Faults come from ``EngineSpec.env``, so that an experiment file can script them. The k-th request is
  counted from 1 since the start.
      FAKE_DIE_AT, FAKE_HANG_AT   k: this request kills or hangs the engine
      FAKE_ERROR_AT               comma-separated k: these requests end in an error
      FAKE_REFUSE_RESET           1: a reset is answered False
      FAKE_LEAK                   tokens that every request claims to have found in the cache besides
      FAKE_DELAY_MS               real sleep before each wave, for tests that kill the driver
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench.contracts.obeying import obeying
from bench.engines.base import EngineError, EngineInfo, EngineRequest, EngineResult, EngineSettingError
from bench.engines.results import failed
from bench.engines.start import EngineStart
from capsules.content_id import derived_key
from capsules.tokenizer import Tokenizer

_DEFAULT_BLOCK = 16
_PREFILL_US, _STEP_US, _QUEUE_US, _GRAMMAR_US = 100, 1_000, 10, 5
_HEADER = re.compile(r"^\[([0-9]+)\] ?(?:[0-9a-f]{10}\n)?", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """What goes wrong, and when. Numbers count requests since the engine's start, from 1; 0 means never."""

    die_at: int = 0
    hang_at: int = 0
    error_at: tuple[int, ...] = ()
    refuse_reset: bool = False
    leak: int = 0
    delay_ms: int = 0

    @classmethod
    def from_env(cls, env: Sequence[tuple[str, str]]) -> Faults:
        """Reads ``EngineSpec.env``.

        Raises:
            EngineSettingError: An unknown variable or a value that is no number.
        """
        values = dict(env)
        known = {
            "FAKE_DIE_AT",
            "FAKE_HANG_AT",
            "FAKE_ERROR_AT",
            "FAKE_REFUSE_RESET",
            "FAKE_LEAK",
            "FAKE_DELAY_MS",
        }
        if unknown := sorted(set(values) - known):
            raise EngineSettingError(
                f"engine.env of the fake engine: unknown {unknown}, expected some of {sorted(known)}"
            )
        try:
            return cls(
                die_at=int(values.get("FAKE_DIE_AT", "0")),
                hang_at=int(values.get("FAKE_HANG_AT", "0")),
                error_at=tuple(int(k) for k in values.get("FAKE_ERROR_AT", "").split(",") if k),
                refuse_reset=values.get("FAKE_REFUSE_RESET", "0") == "1",
                leak=int(values.get("FAKE_LEAK", "0")),
                delay_ms=int(values.get("FAKE_DELAY_MS", "0")),
            )
        except ValueError as error:
            raise EngineSettingError(f"engine.env of the fake engine: {error}") from error


class PrefixMemory:
    """A prefix cache by brute force: what each salt has seen, as whole sequences."""

    def __init__(self, block: int) -> None:
        self._block = block
        self._seen: dict[str, list[tuple[int, ...]]] = {}

    def cached(self, ids: Sequence[int], salt: str | None) -> int:
        """Tokens that a request would find: whole blocks, and never its last token."""
        longest = max((_common(ids, known) for known in self._seen.get(salt or "", [])), default=0)
        return min(longest, len(ids) - 1) // self._block * self._block

    def remember(self, ids: Sequence[int], salt: str | None) -> None:
        """Adds a computed sequence."""
        self._seen.setdefault(salt or "", []).append(tuple(ids))

    def clear(self) -> None:
        """Forgets everything."""
        self._seen.clear()


class FakeEngine:
    """See the module. ``start_fake`` makes one."""

    def __init__(self, *, tokenizer: Tokenizer, info: EngineInfo, faults: Faults, window: int) -> None:
        self.info = info
        self._tokenizer = tokenizer
        self._faults = faults
        self._window = window
        self._memory = PrefixMemory(info.block_size or _DEFAULT_BLOCK)
        self._requests = 0
        self._counters = {"prefix_queries": 0, "prefix_hits": 0, "prompt_tokens": 0}
        self._dead: str | None = None

    def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
        """Answers one wave; prompts enter the cache in submission order, outputs when the wave is done.

        Raises:
            EngineError: A scripted death or hang, or the engine is dead already.
        """
        self._require_alive()
        if self._faults.delay_ms and requests:
            time.sleep(self._faults.delay_ms / 1000)
        results = [self._answer(request) for request in requests]
        for request, result in zip(requests, results, strict=True):
            if result.status == "ok" and self.info.prefix_caching:
                self._memory.remember(request.ids + result.output_ids[:-1], request.salt)
        return results

    def reset_prefix_cache(self) -> bool:
        """Forgets the cache, unless the script refuses."""
        self._require_alive()
        if self._faults.refuse_reset:
            return False
        self._memory.clear()
        return True

    def counters(self) -> dict[str, int]:
        """Tokens since the start."""
        self._require_alive()
        return dict(self._counters)

    def close(self) -> None:
        """Makes it unusable."""
        self._dead = self._dead or "closed"

    def prompt_logprobs(self, prompts: Sequence[tuple[int, ...]]) -> list[list[float | None]]:
        """Made-up log-probabilities: an id has one by itself, so the same text always has the same."""
        self._require_alive()
        return [[None, *(-_surprise(i) for i in ids[1:])] for ids in prompts]

    def _require_alive(self) -> None:
        if self._dead is not None:
            raise EngineError(f"the fake engine is no longer usable: {self._dead}")

    def _answer(self, request: EngineRequest) -> EngineResult:
        self._requests += 1
        if self._requests == self._faults.die_at:
            self._dead = f"scripted death at request {self._requests}"
            raise EngineError(self._dead)
        if self._requests == self._faults.hang_at:
            self._dead = f"scripted hang at request {self._requests}: no answer within the idle limit"
            raise EngineError(self._dead)
        if self._requests in self._faults.error_at:
            return failed(request, f"scripted error at request {self._requests}")
        if not 0 < len(request.ids) < self._window:
            return failed(
                request, f"a prompt of {len(request.ids)} tokens does not fit the window of {self._window}"
            )
        cached = self._look_up(request)
        text, ids, reason = self._completion(request)
        grammar_us = None if request.grammar is None else _GRAMMAR_US * len(request.grammar)
        ttft = _QUEUE_US + _PREFILL_US * (len(request.ids) - cached) + _STEP_US + (grammar_us or 0)
        return EngineResult(
            request_id=request.request_id,
            status="ok",
            text=text,
            output_ids=ids,
            cached_tokens=cached,
            ttft_us=ttft,
            tpot_us=_STEP_US if len(ids) > 1 else None,
            e2e_us=ttft + _STEP_US * (len(ids) - 1),
            queue_us=_QUEUE_US,
            finish_reason=reason,
            error=None,
            grammar_us=grammar_us,
        )

    def _look_up(self, request: EngineRequest) -> int:
        if not self.info.prefix_caching:
            return self._faults.leak
        cached = self._memory.cached(request.ids, request.salt)
        self._memory.remember(request.ids, request.salt)
        self._counters["prefix_queries"] += len(request.ids)
        self._counters["prefix_hits"] += cached
        self._counters["prompt_tokens"] += len(request.ids)
        return cached + self._faults.leak

    def _completion(self, request: EngineRequest) -> tuple[str, tuple[int, ...], str]:
        seed = int(derived_key("fake-answer/v1", repr(request.ids).encode())[3:19], 16)
        if request.grammar is not None:
            text = obeying(request.grammar, seed)
        else:
            text = quote_from_prompt(self._tokenizer.decode(request.ids), seed)
        ids = tuple(self._tokenizer.encode(text + "\n"))
        limit = request.sampling.max_tokens
        if len(ids) <= limit:
            return text, ids, "stop"
        return self._tokenizer.decode(ids[:limit]), ids[:limit], "length"


def quote_from_prompt(prompt: str, seed: int) -> str:
    """An answer in the form of the contract ``quote``: a sentence of one of the prompt's sources.

    Sources are counted back from the end to the last one numbered 1, so that few-shot examples are not
    quoted. Without any source the answer is empty. One seed in four alters the sentence's last letter.
    """
    body = prompt.rpartition("\nQuestion:")[0] or prompt
    marks = list(_HEADER.finditer(body))
    first = max((index for index, mark in enumerate(marks) if mark.group(1) == "1"), default=None)
    if first is None:
        return ""
    marks = marks[first:]
    chosen = seed % len(marks)
    end = marks[chosen + 1].start() if chosen + 1 < len(marks) else len(body)
    text = body[marks[chosen].end() : end].partition("</sources")[0]
    sentences = [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]
    if not sentences:
        return ""
    sentence = sentences[(seed >> 8) % len(sentences)]
    if (seed >> 16) % 4 == 0:
        sentence = sentence[:-1] + ("x" if sentence[-1] != "x" else "y")
    return f" <q>{sentence}</q> [{marks[chosen].group(1)}]"


def start_fake(start: EngineStart) -> FakeEngine:
    """Makes a FakeEngine; see ``EngineStart``.

    Raises:
        EngineSettingError: No tokenizer, or an unknown fault.
    """
    if start.tokenizer is None:
        raise EngineSettingError("the fake engine needs the run's tokenizer")
    block = start.spec.block_size or _DEFAULT_BLOCK
    info = EngineInfo(
        name="fake",
        fake=True,
        block_size=block,
        prefix_caching=start.prefix_caching,
        block_rule=True,
        scheduling_known=True,
        streaming=False,
        start_us=0,
        profile={
            "model": "fake",
            "weight_digest": None,
            "tokenizer_digest": start.tokenizer.tokenizer_digest,
            "engine": "fake",
            "engine_version": "1",
            "block_size": block,
            "window": start.spec.window,
            "prefix_caching": start.prefix_caching,
            "device": "none",
        },
    )
    faults = Faults.from_env(start.spec.env)
    return FakeEngine(tokenizer=start.tokenizer, info=info, faults=faults, window=start.spec.window)


def _surprise(token: int) -> float:
    return 1 + int(derived_key("fake-logprob/v1", str(token).encode())[3:7], 16) / 1000


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    n = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        n += 1
    return n
