"""The engine over a scripted server: one stream a request, a permit before it leaves, counters and resets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bench.engines.base import EngineError
from bench.engines.remote import RemoteEngine

Make = Callable[..., Any]


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
