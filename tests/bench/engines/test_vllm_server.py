"""What a server of ours is started with, and what it must say. Whether vLLM does it: tests/integration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.engines.base import EngineAbsentError, EngineError, EngineSettingError
from bench.engines.start import EngineStart
from bench.engines.vllm_server import (
    _wait,
    cache_facts,
    server_command,
    server_environment,
    start_vllm_server,
)
from bench.model_store import ModelFolder
from bench.specs import EngineSpec, ProviderSpec, ServerSpec

FOLDER = ModelFolder(
    path=Path("/models/x"), weight_digest="b3:1", tokenizer_digest="b3:2", chat_template_digest=None, bytes=1
)
ENDPOINT = "http://127.0.0.1:8719/v1"


def provider(endpoint: str = ENDPOINT) -> ProviderSpec:
    server = ServerSpec(engine="vllm_server", model="m", salt=True, return_ids=True, timeout_s=5)
    return ProviderSpec(
        provider_id="server", endpoint=endpoint, max_level="public", projects=("p",),
        operations=("generate",), fallbacks=(), server=server,
    )  # fmt: skip


def test_the_command(engine_start: Callable[..., EngineStart]) -> None:
    command = server_command(engine_start(block_size=32), FOLDER, ENDPOINT, "m")
    assert command[1:3] == ["-m", "vllm.entrypoints.openai.api_server"]
    pairs = dict(pairwise(command))
    assert pairs["--host"] == "127.0.0.1"
    assert pairs["--port"] == "8719"
    assert pairs["--model"] == "/models/x"
    assert pairs["--served-model-name"] == "m"
    assert (pairs["--block-size"], pairs["--prefix-cache-retention-interval"]) == ("32", "32")
    assert {"--enable-prefix-caching", "--enable-prompt-tokens-details", "--enforce-eager"} <= set(command)
    other = engine_start(block_size=None, retention="default", prefix_caching=False, enforce_eager=False)
    command = server_command(other, FOLDER, ENDPOINT, "m")
    assert "--no-enable-prefix-caching" in command
    assert not {"--block-size", "--prefix-cache-retention-interval", "--enforce-eager"} & set(command)


@pytest.mark.parametrize("endpoint", ["https://llm.example/v1", "nowhere"])
def test_another_machine_is_no_place_for_it(engine_start: Callable[..., EngineStart], endpoint: str) -> None:
    with pytest.raises(EngineError, match="needs an address of this machine"):
        server_command(engine_start(), FOLDER, endpoint, "m")


def test_the_environment(engine_spec: Callable[..., EngineSpec]) -> None:
    environment = server_environment(engine_spec(kv_space_gib=2), {"HOME": "/h"})
    assert environment["VLLM_SERVER_DEV_MODE"] == "1"  # lets it be reset
    assert environment["VLLM_NO_USAGE_STATS"] == environment["HF_HUB_OFFLINE"] == "1"
    assert "VLLM_ENABLE_V1_MULTIPROCESSING" not in environment


METRICS = (
    b'# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{block_size="32",enable_prefix_caching="%s",'
    b'num_gpu_blocks="21845",prefix_cache_retention_interval="32"} 1.0\n'
)


def test_what_it_says_of_its_cache() -> None:
    assert cache_facts(METRICS % b"True") == {"block_size": 32, "kv_blocks": 21845, "prefix_caching": True}
    assert cache_facts(METRICS % b"False")["prefix_caching"] is False
    for nothing in (b"", METRICS.replace(b"block_size", b"size"), METRICS.replace(b"32", b"None", 1)):
        with pytest.raises(EngineError, match="say nothing of its cache"):
            cache_facts(nothing)


def test_an_address_that_is_taken_is_refused(
    engine_start: Callable[..., EngineStart], server: Callable[..., Any], loopback: Any
) -> None:
    for status in (200, 503, 404):
        taken = server(loopback.says(loopback.reply(status)))
        start = replace(engine_start(folder=FOLDER), provider=provider(taken.url + "/v1"))
        with pytest.raises(EngineAbsentError, match="is taken: somebody answers there already"):
            start_vllm_server(start)


def test_without_a_model_or_a_provider_it_does_not_start(engine_start: Callable[..., EngineStart]) -> None:
    with pytest.raises(EngineSettingError, match="the engine of a provider"):
        start_vllm_server(engine_start(folder=FOLDER))
    with pytest.raises(
        EngineSettingError, match=r"providers\.server: a vLLM server needs a model folder, found none"
    ):
        start_vllm_server(replace(engine_start(), provider=provider()))


@pytest.mark.parametrize(
    ("status", "problem"), [(3, "the server ended with status 3"), (None, "the server is not ready in time")]
)
def test_its_log_is_shown_and_no_part_of_the_problem(
    status: int | None, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "log").write_text("no model in /home/me/m\n", "utf-8")
    child: Any = SimpleNamespace(ask=lambda *_, **__: status, log=tmp_path / "log")
    with pytest.raises(EngineAbsentError) as caught:
        _wait(child, lambda: False, 0.0)
    assert caught.value.problem == problem
    assert "  | no model in /home/me/m" in str(caught.value)
