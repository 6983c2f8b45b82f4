"""What is asked of vLLM. Whether vLLM then does it: tests/integration/test_engine.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.engines.base import EngineError
from bench.engines.start import EngineStart
from bench.engines.vllm_engine import engine_arguments, engine_environment, start_vllm
from bench.model_store import ModelFolder
from bench.specs import EngineSpec

Start = Callable[..., EngineStart]
FOLDER = ModelFolder(
    path=Path("/models/x"), weight_digest="b3:1", tokenizer_digest="b3:2", chat_template_digest=None, bytes=1
)


def test_arguments(engine_start: Start) -> None:
    assert engine_arguments(engine_start(name="vllm", block_size=32), FOLDER) == {
        "model": "/models/x",
        "dtype": "bfloat16",
        "enable_prefix_caching": True,
        "enforce_eager": True,
        "max_model_len": 4096,
        "max_num_seqs": 8,
        "seed": 0,
        "disable_log_stats": False,
        "structured_outputs_config": {"backend": "guidance"},
        "block_size": 32,
        "prefix_cache_retention_interval": None,
    }


def test_defaults_of_the_engine_are_left_to_it(engine_start: Start) -> None:
    start = engine_start(name="vllm", block_size=None, retention="default", prefix_caching=False)
    arguments = engine_arguments(start, FOLDER)
    assert "block_size" not in arguments
    assert "prefix_cache_retention_interval" not in arguments
    assert arguments["enable_prefix_caching"] is False


def test_the_kv_space_of_a_gpu_is_an_argument_that_of_a_cpu_a_variable(
    engine_start: Start, engine_spec: Callable[..., EngineSpec]
) -> None:
    gpu = engine_start(device="cuda", kv_space_gib=8)
    assert engine_arguments(gpu, FOLDER)["kv_cache_memory_bytes"] == 8 * 1024**3
    assert "VLLM_CPU_KVCACHE_SPACE" not in engine_environment(gpu.spec, {})
    assert engine_environment(engine_spec(kv_space_gib=2), {})["VLLM_CPU_KVCACHE_SPACE"] == "2"


def test_no_telemetry_no_hub_one_process(engine_spec: Callable[..., EngineSpec]) -> None:
    base = {"VLLM_NO_USAGE_STATS": "0", "HF_HUB_OFFLINE": "0", "HOME": "/h", "PYTHONPATH": "/mine"}
    environment = engine_environment(engine_spec(env=(("OMP_NUM_THREADS", "1"),)), base)
    expected = {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HOME": "/h",
        "OMP_NUM_THREADS": "1",
    }
    assert expected.items() <= environment.items()
    assert environment["PYTHONPATH"].endswith(":/mine")


def test_threads_sleep_at_barriers_unless_the_user_says_otherwise(
    engine_spec: Callable[..., EngineSpec],
) -> None:
    assert engine_environment(engine_spec(), {})["OMP_WAIT_POLICY"] == "passive"
    assert engine_environment(engine_spec(), {"OMP_WAIT_POLICY": "active"})["OMP_WAIT_POLICY"] == "active"
    assert "OMP_WAIT_POLICY" not in engine_environment(engine_spec(device="cuda"), {})


@pytest.mark.parametrize(("key", "value"), [("retention", "some"), ("device", "tpu")])
def test_an_unknown_setting_names_the_known_ones(engine_start: Start, key: str, value: str) -> None:
    with pytest.raises(EngineError, match=f"engine.{key}: expected one of .*, found '{value}'"):
        engine_arguments(engine_start(**{key: value}), FOLDER)


def test_bad_settings_start_no_process(engine_start: Start, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="needs a model folder"):
        start_vllm(engine_start(name="vllm"))
    with pytest.raises(EngineError, match=r"engine\.retention"):
        start_vllm(engine_start(name="vllm", retention="some", folder=FOLDER))
    assert list(tmp_path.iterdir()) == []
