"""An answer of an OpenAI-compatible server, out of its stream: pure, event by event.

Rules that this module owns:

* TTFT is the time of the first event that carries text, reasoning or token ids: never that of an event with
  an empty delta, a role, or a comment. The time to the first answer text is another number. Without any
  token TTFT is null, and so is everything after it.
* End to end is the event that says why the answer ended; the usage that follows costs no user any time.
* TPOT = (last token - first token) / (tokens - 1), tokens as counted by ids or by usage. The gap between two
  events is the gap between two tokens only where each event carries one token; otherwise there are no gaps.
* Unknown is null, never 0: an absent usage, cached tokens that the usage does not mention.
* A stream without an event, a stream without a token, an event that is no JSON of the known form, a stream
  that ends before the answer did: each is a failure with a code, and nothing of it counts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.engines.http_call import EMPTY, FAILED, MALFORMED
from bench.engines.sse import EventParser

_END = "[DONE]"
_REASONING = ("reasoning_content", "reasoning")


class StreamError(Exception):
    """A stream that is no answer; ``code`` says why, and nothing of the stream is quoted."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(f"{code}: {why}")
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole answer. Times are microseconds since the request; unknown is ``None``.

    Attributes:
        reasoning: Characters of reasoning, which is no part of the text.
        output_ids: Where the server says them, else empty.
        n_output, n_prompt, cached, cache_write: Tokens, by the server's own count.
        gaps: Between one token and the next.
    """

    text: str
    reasoning: int
    output_ids: tuple[int, ...]
    n_output: int | None
    n_prompt: int | None
    cached: int | None
    cache_write: int | None
    finish_reason: str
    ttft_us: int | None
    first_text_us: int | None
    tpot_us: int | None
    e2e_us: int
    gaps: tuple[int, ...] | None


@dataclass(slots=True)
class _Seen:
    texts: list[str] = field(default_factory=list)
    reasoning: int = 0
    ids: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)  # events that carry a token
    single: bool = True  # each of them carries one token, as far as ids tell
    first_text: int | None = None
    finish: tuple[str, int] | None = None
    usage: Mapping[str, Any] | None = None


class StreamReader:
    """Reads one stream; ``take`` is what ``HttpTransport.stream`` calls."""

    def __init__(self) -> None:
        self._parser = EventParser()
        self._seen = _Seen()
        self._events = 0

    def take(self, at_us: int, data: bytes) -> bool:
        """Reads what arrived; whether more is expected.

        Raises:
            StreamError: An event is not of the known form, or is an error.
        """
        try:
            events = self._parser.feed(data)
        except UnicodeDecodeError:
            raise StreamError(MALFORMED, "an event is no UTF-8") from None
        for event in events:
            if event.strip() == _END:
                return False
            self._events += 1
            self._event(at_us, _object(event))
        return True

    def answer(self) -> Answer:
        """What the stream came to.

        Raises:
            StreamError: It is no whole answer.
        """
        seen = self._seen
        if not self._events:
            raise StreamError(EMPTY, "a stream without an event")
        if seen.finish is None:
            raise StreamError(MALFORMED, "the stream ended before the answer did")
        prompt, output, cached, written = _usage(seen.usage)
        n_output = len(seen.ids) if seen.ids else output
        if not seen.times and not n_output:
            raise StreamError(EMPTY, "an answer without a token")
        first, last = (seen.times[0], seen.times[-1]) if seen.times else (None, None)
        one_each = seen.single and n_output == len(seen.times)
        return Answer(
            text="".join(seen.texts),
            reasoning=seen.reasoning,
            output_ids=tuple(seen.ids),
            n_output=n_output,
            n_prompt=prompt,
            cached=cached,
            cache_write=written,
            finish_reason=seen.finish[0],
            ttft_us=first,
            first_text_us=seen.first_text,
            tpot_us=_per_token(first, last, n_output),
            e2e_us=seen.finish[1],
            gaps=tuple(b - a for a, b in zip(seen.times, seen.times[1:], strict=False)) if one_each else None,
        )

    def _event(self, at_us: int, event: Mapping[str, Any]) -> None:
        seen = self._seen
        if "error" in event:
            raise StreamError(FAILED, "the server broke the answer off")
        if isinstance(event.get("usage"), Mapping):
            seen.usage = event["usage"]
        choices = event.get("choices")
        if not isinstance(choices, list):
            raise StreamError(MALFORMED, "an event without choices")
        for choice in choices:
            if not isinstance(choice, Mapping) or choice.get("index", 0) != 0:
                raise StreamError(MALFORMED, "expected one choice")
            self._choice(at_us, choice)

    def _choice(self, at_us: int, choice: Mapping[str, Any]) -> None:
        seen = self._seen
        delta = choice.get("delta", choice)
        if not isinstance(delta, Mapping):
            raise StreamError(MALFORMED, "a delta that is no object")
        text = _text(delta, "text" if delta is choice else "content")
        thought = next((found for name in _REASONING if (found := _text(delta, name))), "")
        ids = choice.get("token_ids") or []
        if not isinstance(ids, list) or not all(type(i) is int for i in ids):
            raise StreamError(MALFORMED, "token ids that are no array of integers")
        if text or thought or ids:
            seen.times.append(at_us)
            seen.single &= len(ids) <= 1
        if text and seen.first_text is None:
            seen.first_text = at_us
        seen.texts.append(text)
        seen.reasoning += len(thought)
        seen.ids += ids
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and seen.finish is None:
            seen.finish = (reason, at_us)


def _object(event: str) -> Mapping[str, Any]:
    try:
        value = json.loads(event)
    except (ValueError, RecursionError):
        raise StreamError(MALFORMED, "an event that is no JSON") from None
    if not isinstance(value, dict):
        raise StreamError(MALFORMED, "an event that is no object")
    return value


def _text(delta: Mapping[str, Any], name: str) -> str:
    value = delta.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise StreamError(MALFORMED, f"{name} that is no text")
    return value


def _usage(usage: Mapping[str, Any] | None) -> tuple[int | None, int | None, int | None, int | None]:
    """Prompt, output, cached and written tokens; each ``None`` where it is not said."""
    if usage is None:
        return None, None, None, None
    prompt, output = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    details = usage.get("prompt_tokens_details")
    if not isinstance(details, Mapping):
        return prompt, output, None, None
    cached, written = _count(details, "cached_tokens"), _count(details, "cache_write_tokens")
    if prompt is not None and (cached or 0) + (written or 0) > prompt:
        raise StreamError(MALFORMED, "more cached tokens than prompt tokens")
    return prompt, output, cached, written


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    if value is not None and (type(value) is not int or value < 0):
        raise StreamError(MALFORMED, f"{name} that is no count")
    return value


def _per_token(first: int | None, last: int | None, n_output: int | None) -> int | None:
    if first is None or last is None or n_output is None or n_output < 2:
        return None
    return round((last - first) / (n_output - 1))
