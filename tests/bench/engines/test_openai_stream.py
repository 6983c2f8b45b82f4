"""Times, tokens and failures of a stream, by values worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from bench.engines.openai_stream import Answer, StreamError, StreamReader
from capsules.canonical import canonical_bytes


def event(value: Any) -> bytes:
    return b"data: " + canonical_bytes(value) + b"\n\n"


def chat(**delta: Any) -> bytes:
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})


def text(words: str, ids: list[int] | None = None, finish: str | None = None) -> bytes:
    choice: dict[str, Any] = {"index": 0, "text": words, "finish_reason": finish}
    return event({"choices": [choice | ({} if ids is None else {"token_ids": ids})]})


def usage(prompt: int = 9, output: int = 2, **details: Any) -> bytes:
    counts: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": output}
    return event({"choices": [], "usage": counts | ({"prompt_tokens_details": details} if details else {})})


DONE = b"data: [DONE]\n\n"


def read(*arrivals: tuple[int, bytes]) -> Answer:
    reader = StreamReader()
    for at_us, data in arrivals:
        if not reader.take(at_us, data):
            break
    return reader.answer()


def code(*arrivals: tuple[int, bytes]) -> str:
    with pytest.raises(StreamError) as caught:
        read(*arrivals)
    assert "canary" not in str(caught.value)
    assert str(caught.value).startswith(caught.value.code)
    return caught.value.code


def a22() -> list[tuple[int, bytes]]:
    finish = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return [
        (20_000, chat(role="assistant", content="")),
        (50_000, b": keep-alive\n\n"),
        (310_000, chat(reasoning_content="Hm")),
        (900_000, chat(content="Oslo")),
        (910_000, finish),
        (911_000, usage() + DONE),
    ]


def test_a22_ttft_is_the_first_event_that_carries_text_or_reasoning() -> None:
    found = read(*a22())
    assert (found.ttft_us, found.first_text_us, found.e2e_us) == (310_000, 900_000, 910_000)
    assert (found.text, found.reasoning, found.finish_reason) == ("Oslo", 2, "stop")


def test_a22_without_any_token_there_is_no_ttft_and_the_request_failed() -> None:
    arrivals = [a for a in a22() if a[0] not in (310_000, 900_000)]
    assert code(*arrivals[:-1]) == "provider.reply.empty"
    assert code(*arrivals[:-1], (911_000, usage(9, 0))) == "provider.reply.empty"


def test_an_answer_of_tokens_that_show_no_text_is_an_answer_without_a_ttft() -> None:
    found = read((5, text("", finish="stop")), (6, usage(9, 1)))
    assert (found.text, found.n_output, found.ttft_us, found.tpot_us) == ("", 1, None, None)
    assert read((5, text("", [7], finish="stop"))).ttft_us == 5  # ids say that a token arrived


def test_c02_tokens_per_event_are_no_single_tokens() -> None:
    events = [
        (300_000, text("a", [1])),
        (500_000, text("bcdef", [2, 3, 4, 5, 6])),
        (600_000, text("gh", [7, 8], finish="length")),
    ]
    found = read(*events, (600_100, usage(9, 8)))
    assert found.tpot_us == 42_857  # 0.3 s over 7 tokens; the mean gap between events would be 150 ms
    assert found.gaps is None
    assert found.output_ids == (1, 2, 3, 4, 5, 6, 7, 8)


def test_gaps_are_those_between_single_tokens() -> None:
    one_each = [(100, text("a")), (150, text("b")), (270, text("c", finish="stop"))]
    assert read(*one_each, (300, usage(9, 3))).gaps == (50, 120)
    assert read(*one_each, (300, usage(9, 4))).gaps is None  # four tokens came in three events
    assert read(*one_each).gaps is None  # nobody says how many tokens there were


def test_what_the_usage_does_not_say_is_unknown_and_never_zero() -> None:
    events = [(1, text("a", finish="stop"))]
    assert read(*events).cached is None
    assert read(*events).n_prompt is None
    assert read(*events).n_output is None
    assert read(*events, (2, usage())).cached is None
    null = event({"choices": [], "usage": {"prompt_tokens": 9, "prompt_tokens_details": None}})
    assert read(*events, (2, null)).cached is None
    assert read(*events, (2, usage(cached_tokens=0))).cached == 0
    known = read(*events, (2, usage(cached_tokens=4, cache_write_tokens=5)))
    assert (known.n_prompt, known.n_output, known.cached, known.cache_write) == (9, 2, 4, 5)


def test_usage_beside_the_last_choice_counts_too() -> None:
    last = {"choices": [{"text": "a", "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}
    assert read((1, event(last))).n_prompt == 3


def test_reading_stops_at_the_end_mark() -> None:
    reader = StreamReader()
    assert reader.take(1, text("a", finish="stop"))
    assert not reader.take(2, DONE + text("more"))
    assert reader.answer().text == "a"


FAULTS = {
    "nothing": ([], "provider.reply.empty"),
    "comments alone": ([(1, b": canary\n\n")], "provider.reply.empty"),
    "the end mark alone": ([(1, DONE)], "provider.reply.empty"),
    "no JSON": ([(1, b"data: {canary\n\n")], "provider.reply.malformed"),
    "no object": ([(1, b'data: ["canary"]\n\n')], "provider.reply.malformed"),
    "no choices": ([(1, event({"text": "canary"}))], "provider.reply.malformed"),
    "choices of another kind": ([(1, event({"choices": "canary"}))], "provider.reply.malformed"),
    "a choice of another kind": ([(1, event({"choices": ["canary"]}))], "provider.reply.malformed"),
    "a second choice": ([(1, event({"choices": [{"index": 1}]}))], "provider.reply.malformed"),
    "text of another kind": ([(1, event({"choices": [{"text": 7}]}))], "provider.reply.malformed"),
    "a delta of another kind": ([(1, event({"choices": [{"delta": 7}]}))], "provider.reply.malformed"),
    "ids of another kind": (
        [(1, event({"choices": [{"text": "", "token_ids": ["canary"]}]}))],
        "provider.reply.malformed",
    ),
    "no UTF-8": ([(1, b"data: \xff\n\n")], "provider.reply.malformed"),
    "deep": ([(1, b"data: " + b"[" * 100_000 + b"\n\n")], "provider.reply.malformed"),
    "cut off": ([(1, text("half an"))], "provider.reply.malformed"),
    "broken off": ([(1, text("half")), (2, event({"error": {"message": "canary"}}))], "provider.failed"),
    "more cached than sent": (
        [(1, text("a", finish="stop")), (2, usage(4, cached_tokens=5))],
        "provider.reply.malformed",
    ),
    "a negative count": (
        [(1, text("a", finish="stop")), (2, usage(cached_tokens=-1))],
        "provider.reply.malformed",
    ),
    "a count that is a truth": (
        [(1, text("a", finish="stop")), (2, usage(cached_tokens=True))],
        "provider.reply.malformed",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_no_answer_has_a_code_and_quotes_nothing(fault: str) -> None:
    arrivals, expected = FAULTS[fault]
    assert code(*arrivals) == expected
