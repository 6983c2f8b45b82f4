"""Real vLLM, once: laws of the engine, never a timing."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from bench.build.base import ShownSource
from bench.contracts.grammar import grammar_of
from bench.engines.base import EngineError, EngineRequest, EngineResult
from bench.engines.fake import PrefixMemory
from bench.engines.process import ProcessRecord, find_strays, session_members
from bench.engines.start import EngineStart
from bench.engines.vllm_engine import VllmEngine, start_vllm
from bench.model_store import ModelFolder
from bench.specs import ContractSpec, EngineSpec, ModelSpec, SamplingSpec
from bench.tokenizers import HfTokenizer

pytestmark = pytest.mark.engine

BOS = 2
PREFIX = 150


@pytest.fixture(scope="module")
def records() -> list[ProcessRecord]:
    return []


@pytest.fixture(scope="module")
def engine(
    spec: EngineSpec,
    model: ModelSpec,
    folder: ModelFolder,
    records: list[ProcessRecord],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[VllmEngine]:
    log = tmp_path_factory.mktemp("engine") / "engine-0.log"
    started = start_vllm(
        EngineStart(
            spec=spec,
            model=model,
            folder=folder,
            prefix_caching=True,
            log=log,
            on_process=records.append,
            grammars=True,
        )
    )
    yield started
    started.close()


Send = Callable[..., list[EngineResult]]


@pytest.fixture
def send(engine: VllmEngine) -> Send:
    def generate(
        prompts: Sequence[Sequence[int]],
        *,
        salt: str | None = None,
        max_tokens: int = 4,
        stop: tuple[str, ...] = (),
        grammars: Sequence[str | None] | None = None,
    ) -> list[EngineResult]:
        sampling = SamplingSpec(max_tokens=max_tokens, stop=stop)
        return engine.generate(
            [
                EngineRequest(
                    request_id=str(i), ids=tuple(ids), salt=salt, sampling=sampling, grammar=grammar
                )
                for i, (ids, grammar) in enumerate(
                    zip(prompts, grammars or [None] * len(prompts), strict=True)
                )
            ]
        )

    return generate


def words(seed: object, n: int) -> list[int]:
    rng = random.Random(repr(seed))
    return [rng.randrange(1000, 50_000) for _ in range(n)]


def test_what_it_says_about_itself(engine: VllmEngine, folder: ModelFolder, spec: EngineSpec) -> None:
    info = engine.info
    assert (info.name, info.fake, info.prefix_caching, info.block_rule) == ("vllm", False, True, True)
    assert info.block_size == spec.block_size
    assert info.profile["weight_digest"] == folder.weight_digest
    assert info.profile["window"] == 2560
    assert str(info.profile["warm_up"]).endswith("; a grammar too")  # or the first wave would pay for it
    assert {key for key, value in info.profile.items() if value is None} <= {
        "chat_template_digest",
        "omp_wait_policy",  # of CPU engines
        "quantization",
        "retention",
    }
    assert engine.counters() == {"prefix_queries": 0, "prefix_hits": 0, "prompt_tokens": 0}


def test_cached_tokens_follow_the_block_rule(engine: VllmEngine, send: Send) -> None:
    """Waves, single requests, borders of blocks, follow-ups and three salts against a brute-force model."""
    block = engine.info.block_size or 0
    assert engine.reset_prefix_cache()
    before = engine.counters()
    memory = PrefixMemory(block)
    shared = [BOS, *words("shared", PREFIX)]
    answers: list[list[int]] = []
    predicted: list[int] = []
    measured: list[int | None] = []
    sent = 0

    def wave(prompts: list[list[int]], salt: str | None) -> None:
        nonlocal sent
        for ids in prompts:
            predicted.append(memory.cached(ids, salt))
            memory.remember(ids, salt)
            sent += len(ids)
        for ids, result in zip(prompts, send(prompts, salt=salt), strict=True):
            assert result.status == "ok"
            measured.append(result.cached_tokens)
            memory.remember([*ids, *result.output_ids[:-1]], salt)
            answers.append([*ids, *result.output_ids])

    for salt in ("a", "b", None):
        wave([shared + words((salt, i), 40) for i in range(6)], salt)
    border = [shared[: block * k + d] for k in (1, 2, 3) for d in (-1, 0, 1)]
    for ids in border:
        wave([ids], "a")
    wave([shared[: block * 2 + 3] + words("fork", 70), shared[: block * 3] + words("other", 5)], "a")
    wave([answers[0] + words("next", 30), answers[0]], "a")  # continues an answer
    wave([shared[:20], [BOS], shared[:20]], "a")  # shorter than a block
    wave([shared + words(("b", 0), 40)] * 2, "b")  # the same prompt again, twice in one wave
    assert measured == predicted
    assert max(predicted) > 0
    after = engine.counters()
    assert after["prefix_queries"] - before["prefix_queries"] == sent
    assert after["prefix_hits"] - before["prefix_hits"] == sum(predicted)
    assert after["prompt_tokens"] - before["prompt_tokens"] == sent


def test_a_reset_forgets_everything(engine: VllmEngine, send: Send) -> None:
    prompt = [BOS, *words("reset", PREFIX)]
    send([prompt], salt="reset")
    (again,) = send([prompt], salt="reset")
    assert again.cached_tokens is not None
    assert again.cached_tokens > 0
    assert engine.reset_prefix_cache() is True
    assert send([prompt], salt="reset")[0].cached_tokens == 0


def test_results_are_whole_and_in_order(send: Send) -> None:
    results = send([[BOS, *words(i, 30 * (8 - i))] for i in range(8)], max_tokens=6)
    assert [result.request_id for result in results] == [str(i) for i in range(8)]
    for result in results:
        assert result.status == "ok"
        assert result.finish_reason in ("stop", "length")
        assert 1 <= len(result.output_ids) <= 6
        assert None not in (result.queue_us, result.ttft_us, result.e2e_us, result.cached_tokens)
        assert 0 <= result.queue_us <= result.ttft_us <= result.e2e_us  # type: ignore[operator]
        assert (result.tpot_us is None) == (len(result.output_ids) == 1)
    (one,) = send([[BOS, *words("one", 20)]], max_tokens=1)
    assert (len(one.output_ids), one.tpot_us, one.ttft_us) == (1, None, one.e2e_us)


def test_a_stop_string_ends_the_text_and_the_count_stays_honest(send: Send, folder: ModelFolder) -> None:
    tokenizer = HfTokenizer(folder.path, "model")
    bos = [] if tokenizer.bos_id is None else [tokenizer.bos_id]
    prompt = bos + tokenizer.encode("The days of the week are Monday, Tuesday, Wednesday,")
    # Two salts: both computed from nothing, by the same schedule, so that the same tokens come out.
    (free,) = send([prompt], salt="stop 1", max_tokens=12)
    mark = free.text[len(free.text) // 2]
    (stopped,) = send([prompt], salt="stop 2", max_tokens=12, stop=(mark,))
    assert stopped.finish_reason == "stop"
    assert mark not in stopped.text
    assert free.text.startswith(stopped.text)
    assert stopped.output_ids == free.output_ids[: len(stopped.output_ids)]
    assert 1 <= len(stopped.output_ids) <= 12


def test_one_bad_request_leaves_the_others(send: Send) -> None:
    good = [BOS, *words("good", 20)]
    results = send([good, [BOS, *words("long", 2600)], [], [BOS, 1 << 30], good])
    assert [result.status for result in results] == ["ok", "error", "error", "error", "ok"]
    assert "2560" in (results[1].error or "")
    assert (results[1].cached_tokens, results[1].ttft_us) == (None, None)


# The only quote that the grammar leaves is the whole text: tags that are special tokens, four scripts.
HARD = (
    '<b>Zinc</b> & "5\u00a0mg"\n\n\tof <i>x<y</i>',
    "中文。日本語",
    "ภาษาไทย",
    "العربية",
    "हिन्दी क्षत्रिय",
    "e\u0301\U0001f600",
)


def scribble(seed: int, n: int) -> str:
    """Prose without repetitions: what a grammar costs depends on them."""
    rng = random.Random(seed)
    return " ".join("".join(rng.choice("etaoinshrdlu") for _ in range(rng.randrange(2, 9))) for _ in range(n))


def quote_grammar(*texts: str, min_chars: int = 1) -> str:
    shown = tuple(
        ShownSource(number=n, doc_id=text, source=text, ranges=((0, len(text)),))
        for n, text in enumerate(texts, 1)
    )
    contract = ContractSpec(name="quote_constrained", min_chars=min_chars)
    found = grammar_of(contract, shown, lambda source: source, lead=" ")
    assert found is not None
    return found


def test_text_under_a_grammar_is_verbatim_whatever_its_tokens_are(send: Send) -> None:
    results = send(
        [[BOS, *words(text, 12)] for text in HARD],
        max_tokens=96,
        grammars=[quote_grammar(text, min_chars=len(text)) for text in HARD],
    )
    assert [result.text for result in results] == [f" <q>{text}</q> [1]" for text in HARD]
    assert {result.finish_reason for result in results} == {"stop"}
    for result in results:
        assert result.grammar_us is not None
        assert 0 < result.grammar_us < (result.ttft_us or 0) <= (result.e2e_us or 0)


def test_a_wave_under_grammars_keeps_its_order_its_counts_and_its_other_requests(
    engine: VllmEngine, send: Send
) -> None:
    """The first grammar takes longest to compile; the second and the last two cannot be compiled."""
    block = engine.info.block_size or 0
    shared = [BOS, *words("grammars", 3 * block)]
    send([[BOS, 7]], grammars=['start: " [1]"\n'])  # the engine's grammar machinery is warm from here on
    before = engine.counters()
    big = " ".join(f"Passage {n} tells of the harbour and of its {n * n} boats." for n in range(100))
    prose = [scribble(n, 1000) for n in range(16)]
    prompts = [[*shared, 1000 + n] for n in range(6)]
    grammars = [
        quote_grammar(big),
        "start: {",
        quote_grammar("Alma"),
        None,
        quote_grammar(*(text[:4200] for text in prose[:12])),
        quote_grammar(*prose),
    ]
    results = send(prompts, salt="grammars", max_tokens=24, grammars=grammars)
    assert [result.status for result in results] == ["ok", "error", "ok", "ok", "error", "error"]
    for index in (1, 4, 5):
        error = results[index].error or ""
        assert error.startswith("contract.grammar_uncompilable: ")
        assert "substring_chars" not in error
    assert [results[index].cached_tokens for index in (0, 2, 3)] == [0, 3 * block, 3 * block]
    sent = [prompts[index] for index in (0, 2, 3, 4)]  # the fifth failed after it was queued
    assert engine.counters()["prompt_tokens"] - before["prompt_tokens"] == sum(map(len, sent))
    assert results[2].text.startswith(" <q>")
    assert results[2].text[4:].partition("<")[0] in "Alma"
    assert results[3].grammar_us is None
    assert (results[0].grammar_us or 0) > (results[2].grammar_us or 0) > 0


def test_a_killed_engine_is_an_error_and_leaves_nothing(
    engine: VllmEngine, send: Send, records: list[ProcessRecord]
) -> None:
    (record,) = records
    assert find_strays(records) == records
    killer = threading.Timer(0.5, os.kill, (record.pid, signal.SIGKILL))
    killer.start()
    with pytest.raises(EngineError, match=r"generating 1 request: the engine process ended \(signal 9\)"):
        send([[BOS, *words("killed", 20)]], max_tokens=2000)
    killer.join()
    assert session_members(record.pid) == []
    assert find_strays(records) == []
    assert not Path(record.tmp_dir).exists()
    with pytest.raises(EngineError, match="no longer usable"):
        engine.counters()
