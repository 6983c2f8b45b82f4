from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bench.engines.base import EngineError, EngineRequest
from bench.engines.fake import Faults, PrefixMemory, quote_from_prompt, start_fake
from bench.engines.start import EngineStart

Start = Callable[..., EngineStart]
Make = Callable[..., EngineRequest]


def test_cached_tokens_are_whole_blocks_and_never_the_last_token() -> None:
    memory = PrefixMemory(4)
    memory.remember(range(10), "a")
    assert memory.cached(range(10), "a") == 8  # 9 tokens may count, two blocks fit
    assert memory.cached(range(8), "a") == 4  # 8 common, but the last token is computed again
    assert memory.cached(range(9), "a") == 8
    assert memory.cached([0, 1, 2, 9, 9, 9], "a") == 0  # three common tokens: no block
    assert memory.cached([0, 1, 2, 3, 9, 9], "a") == 4
    assert memory.cached(range(10), "b") == 0
    assert memory.cached(range(10), None) == 0


def test_empty_salt_and_no_salt_are_one_name_space() -> None:
    memory = PrefixMemory(4)
    memory.remember(range(10), None)
    assert memory.cached(range(10), "") == 8
    memory.clear()
    assert memory.cached(range(10), "") == 0


def test_a_wave_hits_within_itself_in_submission_order(engine_start: Start, request_of: Make) -> None:
    engine = start_fake(engine_start())
    prefix = tuple(range(100, 113))  # 13 tokens: three blocks of 4
    wave = [request_of((*prefix, 200 + i), salt="s", request_id=str(i)) for i in range(4)]
    results = engine.generate(wave)
    assert [r.cached_tokens for r in results] == [0, 12, 12, 12]
    assert [r.request_id for r in results] == ["0", "1", "2", "3"]
    assert engine.counters() == {"prefix_queries": 56, "prefix_hits": 36, "prompt_tokens": 56}


def test_an_answer_is_cached_without_its_last_token_and_only_after_its_wave(
    engine_start: Start, request_of: Make
) -> None:
    engine = start_fake(engine_start())
    prompt = tuple(i + 10 for i in b"[1] One fish.\nQuestion: x?\nAnswer:")
    (first,) = engine.generate([request_of(prompt)])
    follow_up = prompt + first.output_ids + (77,)
    (second,) = engine.generate([request_of(follow_up)])
    assert second.cached_tokens == (len(prompt) + len(first.output_ids) - 1) // 4 * 4


def test_reset_forgets(engine_start: Start, request_of: Make) -> None:
    engine = start_fake(engine_start())
    prompt = tuple(range(100, 120))
    engine.generate([request_of(prompt)])
    assert engine.generate([request_of(prompt)])[0].cached_tokens == 16
    assert engine.reset_prefix_cache() is True
    assert engine.generate([request_of(prompt)])[0].cached_tokens == 0


def test_without_caching_nothing_is_found_or_counted(engine_start: Start, request_of: Make) -> None:
    engine = start_fake(engine_start(prefix_caching=False))
    prompt = tuple(range(100, 120))
    engine.generate([request_of(prompt)])
    assert engine.generate([request_of(prompt)])[0].cached_tokens == 0
    assert engine.counters()["prefix_hits"] == 0


def test_the_answer_quotes_the_last_sources_not_the_examples() -> None:
    prompt = (
        "[1] Old example.\nQuestion: a?\nAnswer: <q>Old example.</q> [1]\n\n"
        "<sources 0123456789>\n[1] 0123456789\nRed apples grow.\n[2] 0123456789\nBlue fish swim.\n"
        "</sources 0123456789>\nQuestion: who?\nAnswer:"
    )
    answers = {quote_from_prompt(prompt, seed) for seed in (0x10000, 0x10001)}
    assert answers == {" <q>Red apples grow.</q> [1]", " <q>Blue fish swim.</q> [2]"}


def test_one_seed_in_four_alters_the_quote() -> None:
    prompt = "[1] Red apples grow.\nQuestion: who?\nAnswer:"
    answers = [quote_from_prompt(prompt, seed << 16) for seed in range(4)]
    assert answers == [" <q>Red apples growx</q> [1]"] + [" <q>Red apples grow.</q> [1]"] * 3


def test_a_prompt_without_sources_gets_an_empty_answer(engine_start: Start, request_of: Make) -> None:
    assert quote_from_prompt("Question: who?\nAnswer:", 0) == ""
    (result,) = start_fake(engine_start()).generate([request_of((2, 60, 61))])
    assert (result.text, len(result.output_ids), result.finish_reason) == ("", 1, "stop")
    assert result.tpot_us is None


def test_max_tokens_cuts_the_answer(engine_start: Start, request_of: Make) -> None:
    prompt = tuple(i + 10 for i in b"[1] One fish.\nQuestion: x?\nAnswer:")
    (result,) = start_fake(engine_start()).generate([request_of(prompt, max_tokens=3)])
    assert (result.text, result.finish_reason, len(result.output_ids)) == (" <q", "length", 3)


def test_the_same_prompt_gives_the_same_answer_in_a_new_engine(engine_start: Start, request_of: Make) -> None:
    prompt = tuple(i + 10 for i in b"[1] One. Two. Three.\n[2] Four. Five.\nQuestion: x?\nAnswer:")
    first, second = (start_fake(engine_start()).generate([request_of(prompt)])[0] for _ in range(2))
    assert first == second
    assert "<q>" in first.text


@pytest.mark.parametrize("variable", ["FAKE_DIE_AT", "FAKE_HANG_AT"])
def test_a_scripted_end_is_final(engine_start: Start, request_of: Make, variable: str) -> None:
    engine = start_fake(engine_start(env=((variable, "2"),)))
    engine.generate([request_of((2, 60))])
    with pytest.raises(EngineError, match=r"scripted (death|hang) at request 2"):
        engine.generate([request_of((2, 61)), request_of((2, 62))])
    with pytest.raises(EngineError, match="no longer usable"):
        engine.counters()


def test_scripted_errors_leave_the_rest(engine_start: Start, request_of: Make) -> None:
    engine = start_fake(engine_start(env=(("FAKE_ERROR_AT", "1,3"),)))
    results = engine.generate([request_of((2, 60 + i)) for i in range(4)])
    assert [r.status for r in results] == ["error", "ok", "error", "ok"]
    assert results[0].cached_tokens is None
    assert results[0].error == "scripted error at request 1"


def test_scripted_leak_and_refused_reset(engine_start: Start, request_of: Make) -> None:
    env = (("FAKE_LEAK", "32"), ("FAKE_REFUSE_RESET", "1"))
    engine = start_fake(engine_start(prefix_caching=False, env=env))
    assert engine.generate([request_of((2, 60))])[0].cached_tokens == 32
    assert engine.reset_prefix_cache() is False


def test_a_prompt_that_does_not_fit_is_an_error_of_its_own(engine_start: Start, request_of: Make) -> None:
    engine = start_fake(engine_start(window=8))
    results = engine.generate([request_of(range(8)), request_of(()), request_of((2,))])
    assert [r.status for r in results] == ["error", "error", "ok"]


def test_it_says_that_it_is_fake(engine_start: Start) -> None:
    info = start_fake(engine_start()).info
    assert (info.name, info.fake, info.block_size, info.block_rule) == ("fake", True, 4, True)
    assert info.profile["weight_digest"] is None


@pytest.mark.parametrize("env", [(("FAKE_TYPO", "1"),), (("FAKE_DIE_AT", "soon"),)])
def test_bad_fault_scripts_are_refused(env: Any) -> None:
    with pytest.raises(EngineError, match=r"engine\.env of the fake engine"):
        Faults.from_env(env)


def test_closed_is_closed(engine_start: Start, request_of: Make) -> None:
    engine = start_fake(engine_start())
    engine.close()
    engine.close()
    with pytest.raises(EngineError, match="closed"):
        engine.generate([request_of((2, 60))])
