"""What brings no answer: asked again where that may help, a code for every fault, no words of others."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from bench.engines.base import EngineAbsentError, EngineError, EngineResult
from bench.errors import may_pass

Make = Callable[..., Any]


def error_of(results: Sequence[EngineResult]) -> str:
    (result,) = results
    assert result.status == "error"
    assert (result.text, result.output_ids, result.ttft_us, result.cached_tokens) == ("", (), None, None)
    return str(result.error)


def busy(streams: Any, loopback: Any, status: int, *headers: str) -> Any:
    return loopback.says(loopback.reply(status, b'{"error":{"message":"canary-x"}}', *headers))


@pytest.mark.parametrize(
    ("status", "code"), [(429, "provider.rate_limited"), (500, "provider.failed"), (503, "provider.failed")]
)
def test_a_busy_server_is_asked_again_each_time_with_a_permit_of_its_own(
    bench: Make, ask: Any, streams: Any, loopback: Any, status: int, code: str
) -> None:
    fails = busy(streams, loopback, status)
    b = bench(streams.in_turn(fails, fails, streams.answers(5)))
    (found,) = b.send(ask())
    assert (found.status, found.retries, b.server.connections) == ("ok", 2, 3)
    assert [attempt for _, attempt in b.permits] == [1, 2, 3]
    assert len({body for body, _ in b.permits}) == 1
    assert b.waits == [0.01, 0.02]

    b = bench(fails)
    assert error_of(b.send(ask())) == f"{code}: status {status} (attempt 4)"
    assert (b.waits, b.server.connections) == ([0.01, 0.02, 0.04], 4)


def test_a_permit_that_is_refused_ends_the_retries(
    bench: Make, ask: Any, streams: Any, loopback: Any
) -> None:
    b = bench(busy(streams, loopback, 503))
    b.refuse_from = 2
    assert error_of(b.send(ask())) == "authority.expired"
    assert b.server.connections == 1
    b.refuse_from = 1
    assert error_of(b.send(ask())) == "authority.expired"
    assert b.server.connections == 1


def test_retry_after_is_kept_and_one_that_is_too_long_is_not_waited_for(
    bench: Make, ask: Any, streams: Any, loopback: Any
) -> None:
    b = bench(streams.in_turn(busy(streams, loopback, 429, "Retry-After: 7"), streams.answers(5)))
    assert b.send(ask())[0].status == "ok"
    assert b.waits == [7.0]
    b = bench(busy(streams, loopback, 429, "Retry-After: 3600"))
    assert error_of(b.send(ask())).startswith("provider.rate_limited")
    assert (b.waits, b.server.connections) == ([], 1)
    b = bench(streams.in_turn(busy(streams, loopback, 429, "Retry-After: soon"), streams.answers(5)))
    assert b.send(ask())[0].status == "ok"
    assert b.waits == [0.01]


def refusals(streams: Any, loopback: Any) -> dict[str, tuple[Any, str]]:
    def says(status: int, body: bytes, *headers: str) -> Any:
        return loopback.says(loopback.reply(status, body, *headers))

    plain = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    return {
        "context overflow, vLLM": (
            says(400, b'{"error":{"message":"This model\'s maximum context length is 4096 tokens. canary"}}'),
            "provider.context.exceeded",
        ),
        "context overflow, OpenAI": (
            says(400, b'{"error":{"code":"context_length_exceeded"}}'), "provider.context.exceeded",
        ),
        "a grammar that cannot compile": (
            says(400, b'{"error":{"message":"Invalid grammar: canary"}}'), "contract.grammar_uncompilable",
        ),
        "another refusal": (says(400, b'{"error":"canary"}'), "provider.refused"),
        "forbidden": (says(403, b"canary"), "provider.refused"),
        "malformed events": (streams.streams(b"data: {canary\n\n"), "provider.reply.malformed"),
        "half a stream": (streams.streams(streams.token("canary"), end=b""), "provider.reply.malformed"),
        "no end of the answer": (streams.streams(streams.token("canary")), "provider.reply.malformed"),
        "broken off": (
            streams.streams(streams.token("a"), streams.event({"error": {"message": "canary"}})),
            "provider.failed",
        ),
        "an empty stream": (streams.streams(streams.DONE), "provider.reply.empty"),
        "no stream": (loopback.says(plain), "provider.reply.empty"),
        "no token": (
            streams.streams(streams.token("", finish="stop"), streams.usage(5, 0), streams.DONE),
            "provider.reply.empty",
        ),
        "other ids than were sent": (streams.answers(6), "provider.prompt.recounted"),
    }  # fmt: skip


NAMES = [
    "context overflow, vLLM", "context overflow, OpenAI",
    "a grammar that cannot compile",
    "another refusal", "forbidden",
    "malformed events", "half a stream", "no end of the answer", "broken off",
    "an empty stream", "no stream", "no token", "other ids than were sent",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_what_brings_no_answer_is_a_scored_failure_and_is_asked_once(
    bench: Make, ask: Any, streams: Any, loopback: Any, name: str
) -> None:
    cases = refusals(streams, loopback)
    assert sorted(cases) == sorted(NAMES)
    act, code = cases[name]
    b = bench(act)
    message = error_of(b.send(ask()))
    assert message.partition(":")[0] == code
    assert "canary" not in message
    assert b.server.connections == 1
    assert b.waits == []


def test_no_reply_at_all_is_asked_again(bench: Make, ask: Any, streams: Any) -> None:
    b = bench(streams.in_turn(lambda server, peer: None, streams.answers(5)))
    assert b.send(ask())[0].retries == 1


def test_one_failure_leaves_the_rest_of_the_wave_alone(
    bench: Make, ask: Any, streams: Any, loopback: Any
) -> None:
    fails = loopback.says(loopback.reply(400, b"{}"))
    b = bench(streams.in_turn(fails, streams.answers(5)))
    found = b.send(*(ask(request_id=f"r{n}") for n in range(4)))
    assert [result.request_id for result in found] == ["r0", "r1", "r2", "r3"]
    assert sorted(result.status for result in found) == ["error", "ok", "ok", "ok"]


def test_a_wave_that_reaches_nobody_is_a_lost_engine(bench: Make, ask: Any, streams: Any) -> None:
    b = bench(streams.answers(5))
    b.server.close()
    lost = r"provider\.unreachable: the server of provider cloud at \S+ is lost"
    with pytest.raises(EngineError, match=lost) as caught:
        b.send(ask(), ask())
    assert may_pass(caught.value)
    assert not isinstance(caught.value, EngineAbsentError)  # it was there: it is started again
    assert len(b.waits) == 2 * 3


def test_a_time_out_is_final_and_two_silent_waves_are_a_hung_engine(
    bench: Make, ask: Any, loopback: Any
) -> None:
    b = bench(loopback.waits, timeout_s=1)
    began = time.monotonic()
    assert error_of(b.send(ask())) == "provider.timeout: no answer (attempt 1)"
    assert 0.9 < time.monotonic() - began < 4
    with pytest.raises(EngineError, match=r"provider\.timeout: .* 1 s are given to each answer"):
        b.send(ask())
    assert b.server.connections == 2
