"""The engine over a scripted server: one stream a request, a permit an attempt, a code for every fault."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from bench.engines.base import EngineError, EngineInfo, EngineRequest, EngineResult
from bench.engines.openai_engine import OpenAiEngine
from bench.engines.openai_start import server_info, transport_of
from bench.engines.remote import RemoteEngine
from bench.specs import ProviderSpec, ServerSpec
from capsules.decision import DeniedError
from capsules.egress import Outgoing

Make = Callable[..., "Bench"]
NEAR = ServerSpec(engine="openai", model="m", salt=True, return_ids=True, timeout_s=5, backoff_ms=10)


class Bench:
    """An engine over one server, behind the policy of a scene; notes permits and waits."""

    def __init__(self, server: Any, routing: Any, start: Any, tokenizer: Any, spec: ServerSpec) -> None:
        self.server = server
        self.scene = routing.scene([routing.provider("cloud", endpoint=server.url + "/v1")])
        self.permits: list[tuple[bytes, int]] = []
        self.refuse_from: int | None = None
        self.waits: list[float] = []
        provider = ProviderSpec(
            provider_id="cloud", endpoint=server.url + "/v1", max_level="internal", projects=("demo",),
            operations=("generate",), fallbacks=(), server=spec,
        )  # fmt: skip
        info: EngineInfo = server_info(provider, spec, start(), listed=True, start_us=0)
        self.engine = OpenAiEngine(
            endpoint=provider.endpoint or "", info=info, server=spec, tokenizer=tokenizer,
            transport=transport_of(provider, spec, {"KEY": "sk-secret"}), sleep=self.waits.append,
        )  # fmt: skip

    def permit(self, request: EngineRequest, body: bytes, attempt: int) -> Outgoing | str:
        self.permits.append((body, attempt))
        if self.refuse_from is not None and attempt >= self.refuse_from:
            return "authority.expired"
        self.scene.body = body
        try:
            released: Outgoing = self.scene.outgoing("cloud")
        except DeniedError as error:
            return error.code
        return released

    def send(self, *requests: EngineRequest) -> list[EngineResult]:
        return self.engine.deliver(requests, self.permit)


@pytest.fixture
def bench(server: Callable[..., Any], routing: Any, engine_start: Any, tokenizer: Any) -> Make:
    def make(act: Any, **changes: Any) -> Bench:
        return Bench(server(act), routing, engine_start, tokenizer, dataclasses.replace(NEAR, **changes))

    return make


@pytest.fixture
def ask(request_of: Callable[..., EngineRequest]) -> Callable[..., EngineRequest]:
    return lambda n=5, **more: request_of([2, *range(20, 20 + n - 1)], **more)


def error_of(results: Sequence[EngineResult]) -> str:
    (result,) = results
    assert result.status == "error"
    assert (result.text, result.output_ids, result.ttft_us, result.cached_tokens) == ("", (), None, None)
    return str(result.error)


def test_ids_salt_and_sampling_are_sent_and_the_answer_comes_back(
    bench: Make, ask: Any, streams: Any
) -> None:
    told = streams.streams(
        streams.token("Os", [7]), streams.token("lo", [8]), streams.token("", [9], "stop"),
        streams.usage(5, 3, cached=4), streams.DONE,
    )  # fmt: skip
    b = bench(told, key_env="KEY")
    (found,) = b.send(ask(salt="b3:s", max_tokens=12))
    assert streams.bodies(b.server.received) == [
        {
            "model": "m", "prompt": [2, 20, 21, 22, 23], "max_tokens": 12, "temperature": 0.0, "seed": 0,
            "stop": ["\n"], "stream": True, "stream_options": {"include_usage": True},
            "cache_salt": "b3:s", "return_token_ids": True,
        }
    ]  # fmt: skip
    assert b.server.received.startswith(b"POST /v1/completions HTTP/1.1\r\n")
    assert b"Authorization: Bearer sk-secret\r\n" in b.server.received
    assert (found.status, found.text, found.output_ids, found.finish_reason) == (
        "ok",
        "Oslo",
        (7, 8, 9),
        "stop",
    )
    assert (found.cached_tokens, found.n_prompt, found.n_output, found.retries) == (4, 5, 3, 0)
    assert found.ttft_us is not None
    assert found.itl_us is not None
    assert len(found.itl_us) == 2
    assert found.queue_us is None
    assert isinstance(b.engine, RemoteEngine)


def test_arrival_is_stamped_on_read_and_not_at_the_end(bench: Make, ask: Any, streams: Any) -> None:
    told = streams.streams(
        0.1, streams.event({"choices": [{"text": "", "finish_reason": None}]}), 0.2, streams.token("a"), 0.3,
        streams.token("b", finish="stop"), 0.1, streams.usage(5, 2), streams.DONE,
    )  # fmt: skip
    (found,) = bench(told).send(ask())
    assert found.ttft_us is not None
    assert found.e2e_us is not None
    assert found.itl_us is not None
    assert found.ttft_us >= 290_000
    assert found.e2e_us - found.ttft_us >= 290_000  # a body that is buffered would give 0
    assert found.itl_us[0] >= 290_000


def test_text_for_servers_that_take_no_ids(
    bench: Make, streams: Any, request_of: Any, tokenizer: Any
) -> None:
    b = bench(streams.answers(99), prompt="text", salt=False, return_ids=False)
    (found,) = b.send(request_of([2, *tokenizer.encode("Where?")], salt="b3:s"))
    (body,) = streams.bodies(b.server.received)
    assert body["prompt"] == "Where?"  # the server puts its own BOS in front
    assert not {"cache_salt", "return_token_ids"} & body.keys()
    assert (found.status, found.n_prompt) == ("ok", 99)  # its own count, template included


def test_chat_asks_with_one_user_message(bench: Make, streams: Any, request_of: Any, tokenizer: Any) -> None:
    delta = streams.event({"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]})
    b = bench(streams.streams(delta), prompt="chat")
    (found,) = b.send(request_of([2, *tokenizer.encode("Where?")]))
    (body,) = streams.bodies(b.server.received)
    assert body["messages"] == [{"role": "user", "content": "Where?"}]
    assert b.server.received.startswith(b"POST /v1/chat/completions ")
    assert (found.text, found.cached_tokens, found.n_output) == ("x", None, None)  # no usage: unknown
    assert (found.ids_known, found.itl_us) == (False, None)


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
    assert error_of(b.send(ask())) == f"{code}: no answer (attempt 4)"
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
        "wrong model name": (
            says(404, b'{"error":{"message":"The model `canary` does not exist.","code":404}}'),
            "provider.model.unknown",
        ),
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
        "no key": (says(401, b"canary"), "provider.refused"),
        "a redirect": (says(307, b"", "Location: http://127.0.0.1:1/"), "provider.route.unlisted"),
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
    "wrong model name", "context overflow, vLLM", "context overflow, OpenAI",
    "a grammar that cannot compile",
    "another refusal", "no key",
    "a redirect", "malformed events", "half a stream", "no end of the answer", "broken off",
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
    with pytest.raises(EngineError, match=r"provider\.unreachable: the server of provider cloud is lost"):
        b.send(ask(), ask())
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


def test_without_a_permit_nothing_leaves(bench: Make, ask: Any, streams: Any) -> None:
    b = bench(streams.answers(5))
    with pytest.raises(EngineError, match="permit"):
        b.engine.generate([ask()])
    assert b.server.connections == 0


def test_a_fault_of_ours_is_no_missing_answer(bench: Make, ask: Any, streams: Any) -> None:
    b = bench(streams.answers(5))
    with pytest.raises(ZeroDivisionError):
        b.engine.deliver([ask()], lambda *_: 1 // 0)  # type: ignore[arg-type,return-value]


METRICS = (
    b'# HELP x\nvllm:prefix_cache_queries_total{engine="0"} %d.0\n'
    b'vllm:prefix_cache_hits_total{engine="0"} 1.5e+02\nvllm:prompt_tokens_total 7\nother 3\n'
)


def test_counters_are_those_since_the_start_and_a_reset_is_asked_for(
    bench: Make, loopback: Any, streams: Any
) -> None:
    first, second = (loopback.says(loopback.reply(200, METRICS % n)) for n in (1000, 1600))
    b = bench(
        streams.in_turn(
            first, second, loopback.says(loopback.reply(200, b"")), loopback.says(loopback.reply(404))
        ),
        control=True,
    )
    assert b.engine.counters() == {"prefix_queries": 600, "prefix_hits": 0, "prompt_tokens": 0}
    assert b.engine.reset_prefix_cache() is True
    assert b.engine.reset_prefix_cache() is False  # VLLM_SERVER_DEV_MODE is not set
    assert b"GET /metrics HTTP/1.1" in b.server.received
    assert b"POST /reset_prefix_cache HTTP/1.1" in b.server.received
    assert streams.bodies(b.server.received) == []


def test_a_server_that_is_not_ours_is_neither_counted_nor_reset(bench: Make, streams: Any) -> None:
    b = bench(streams.answers(5))
    assert (b.engine.counters(), b.engine.reset_prefix_cache()) == ({}, False)
    assert b.engine.info.cache_known is False
    assert b.server.connections == 0
