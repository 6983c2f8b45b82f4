"""Real vLLM behind the Engine interface: what is set, and what the started engine is.

One engine is one ``vllm_worker`` process. Everything that decides what is computed is passed explicitly;
the environment of the process is ours plus ``EngineSpec.env``. No telemetry, no hub: a model is always a
folder here.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.engines.base import EngineError, EngineInfo, EngineRequest, EngineResult, EngineSettingError
from bench.engines.child import Child
from bench.engines.protocol import Message, request_to_value, result_from_value
from bench.engines.start import EngineStart
from bench.model_store import ModelFolder
from bench.plural import number_of
from bench.specs import EngineSpec, ModelSpec

_RETENTION = ("none", "default")
_DEVICES = ("cpu", "cuda")
_WARM_UP = "random ids under a salt of their own before the first request; counters start after it"
_CONTROL_LIMIT_S = 120.0  # reset and counters: at once unless the engine hangs


class VllmEngine:
    """A started vLLM engine; see ``bench.engines.base.Engine``."""

    def __init__(self, child: Child, info: EngineInfo, *, idle_timeout_s: int) -> None:
        self.info = info
        self._child = child
        self._idle_timeout_s = idle_timeout_s

    def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
        """Sends one wave and returns its results in submission order.

        Raises:
            EngineError: The engine died or gave no answer for ``idle_timeout_s``; it has been ended.
        """
        if not requests:
            return []
        message = {"op": "generate", "requests": [request_to_value(request) for request in requests]}
        values = self._child.ask(
            message, limit_s=self._idle_timeout_s, what=f"generating {number_of(len(requests), 'request')}"
        )
        results = [result_from_value(value) for value in values]
        expected = [request.request_id for request in requests]
        found = [result.request_id for result in results]
        if found != expected:
            raise EngineError(f"engine results out of order: expected {expected}, found {found}")
        return results

    def reset_prefix_cache(self) -> bool:
        """The engine's own answer: False while anything still uses a block."""
        return bool(
            self._child.ask({"op": "reset"}, limit_s=_CONTROL_LIMIT_S, what="resetting the prefix cache")
        )

    def counters(self) -> dict[str, int]:
        """``prefix_queries``, ``prefix_hits``, ``prompt_tokens`` in tokens since the warm-up."""
        values = self._child.ask({"op": "counters"}, limit_s=_CONTROL_LIMIT_S, what="reading the counters")
        return {str(name): int(value) for name, value in values.items()}

    def prompt_logprobs(self, prompts: Sequence[tuple[int, ...]]) -> list[list[float | None]]:
        """The engine's log-probability of each id of each prompt; ``None`` for the first.

        Raises:
            EngineError: The engine died or gave no answer for ``idle_timeout_s``; it has been ended.
        """
        message = {"op": "prompt_logprobs", "prompts": [list(ids) for ids in prompts]}
        values = self._child.ask(
            message, limit_s=self._idle_timeout_s, what=f"scoring {number_of(len(prompts), 'prompt')}"
        )
        return [[None if value is None else float(value) for value in row] for row in values]

    def close(self) -> None:
        """Ends the engine's whole process group."""
        self._child.close()


def start_vllm(start: EngineStart) -> VllmEngine:
    """Starts vLLM in a process group of its own and waits until it has answered its warm-up.

    Raises:
        EngineError: The engine did not start (with the last lines of its log); ``EngineSettingError``: a
            setting is invalid.
    """
    if sys.platform != "linux":
        raise EngineSettingError(
            f"the vLLM engine needs Linux (found {sys.platform}): its processes are watched through /proc"
        )
    folder = start.folder
    if folder is None:
        raise EngineSettingError(
            "the vLLM engine needs a model folder, found none: expected tokenizer=model, which prepares it"
        )
    message = {"op": "start", "arguments": engine_arguments(start, folder), "grammars": start.grammars}
    began = time.monotonic()
    child = Child(
        [sys.executable, "-m", "bench.engines.vllm_worker"],
        env=engine_environment(start.spec, os.environ),
        log=start.log,
        on_process=start.on_process,
    )
    try:
        facts = child.ask(
            message, limit_s=start.spec.start_timeout_s, what="starting the engine", starting=True
        )
        info = _info(start, folder, facts, start_us=round((time.monotonic() - began) * 1_000_000))
        if info.prefix_caching != start.prefix_caching:
            raise EngineSettingError(
                f"prefix caching: asked for {start.prefix_caching}, the engine has {info.prefix_caching}"
            )
    except BaseException:  # Ctrl-C too: the caller has no engine yet that it could close
        child.close()
        raise
    return VllmEngine(child, info, idle_timeout_s=start.spec.idle_timeout_s)


def engine_arguments(start: EngineStart, folder: ModelFolder) -> dict[str, object]:
    """Keyword arguments of ``vllm.LLM``.

    Raises:
        EngineSettingError: ``retention`` or ``device`` is unknown.
    """
    spec = start.spec
    for name, value, known in (("retention", spec.retention, _RETENTION), ("device", spec.device, _DEVICES)):
        if value not in known:
            raise EngineSettingError(f"engine.{name}: expected one of {', '.join(known)}, found {value!r}")
    arguments: dict[str, object] = {
        "model": str(folder.path),
        "dtype": start.model.dtype,
        "enable_prefix_caching": start.prefix_caching,
        "enforce_eager": spec.enforce_eager,
        "max_model_len": spec.window,
        "max_num_seqs": spec.max_num_seqs,
        "seed": 0,
        "disable_log_stats": False,  # per-request stamps and the counters exist only with them
        # With "auto" the first structured request fixes the backend and later ones can come back empty.
        "structured_outputs_config": {"backend": "guidance"},
    }
    if spec.block_size is not None:
        arguments["block_size"] = spec.block_size
    if spec.retention == "none":
        # Sliding-window groups then keep every block, and the plain block rule holds.
        arguments["prefix_cache_retention_interval"] = None
    if spec.device == "cuda" and spec.kv_space_gib > 0:
        arguments["kv_cache_memory_bytes"] = spec.kv_space_gib << 30
    return arguments


def engine_environment(spec: EngineSpec, base: Mapping[str, str]) -> dict[str, str]:
    """The environment of the engine process."""
    environment = {
        **base,
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "PYTHONUNBUFFERED": "1",
        "PYTHONFAULTHANDLER": "1",
        "PYTHONPATH": os.pathsep.join(
            filter(None, [str(Path(__file__).parents[2]), base.get("PYTHONPATH", "")])
        ),
    }
    if spec.device == "cpu":
        environment["VLLM_CPU_KVCACHE_SPACE"] = str(spec.kv_space_gib)
        # Threads that spin at barriers make a step 10 to 20 times slower as soon as anything else runs on the
        # same cores. Sleeping there costs about 6 % on a machine of one's own.
        environment.setdefault("OMP_WAIT_POLICY", "passive")
    return environment | dict(spec.env)


def _info(start: EngineStart, folder: ModelFolder, facts: Message, *, start_us: int) -> EngineInfo:
    # One KV group has no sliding window beside it: its blocks are all kept under every retention setting.
    block_rule = facts["retention"] is None or facts["kv_groups"] == 1
    return EngineInfo(
        name="vllm",
        fake=False,
        block_size=facts["block_size"],
        prefix_caching=facts["prefix_caching"],
        block_rule=block_rule,
        scheduling_known=True,  # in-process, first come first served
        streaming=False,
        start_us=start_us,
        profile=_profile(start.model, start.spec, folder, facts),
    )


def _profile(model: ModelSpec, spec: EngineSpec, folder: ModelFolder, facts: Message) -> dict[str, object]:
    return {
        "model": model.name,
        "model_ref": model.ref,
        "revision": model.revision if model.kind != "local" else None,
        "weight_digest": folder.weight_digest,
        "tokenizer_digest": folder.tokenizer_digest,
        "chat_template_digest": folder.chat_template_digest,
        "adapter_digests": [],
        "dtype": facts["dtype"],
        "quantization": facts["quantization"],
        "kv_dtype": facts["kv_dtype"],
        "attention_backend": "+".join(facts["attention_backends"]),
        "engine": "vllm",
        "engine_version": facts["engine_version"],
        "torch_version": facts["torch_version"],
        "block_size": facts["block_size"],
        "window": facts["window"],
        "parallel": facts["parallel"],
        "device": spec.device,
        "threads": facts["threads"],
        "omp_wait_policy": facts["omp_wait_policy"],
        "kv_groups": facts["kv_groups"],
        "kv_blocks": facts["kv_blocks"],
        "retention": facts["retention"],
        "prefix_caching": facts["prefix_caching"],
        "max_num_seqs": facts["max_num_seqs"],
        "max_num_batched_tokens": facts["max_num_batched_tokens"],
        "async_scheduling": facts["async_scheduling"],
        "enforce_eager": facts["enforce_eager"],
        "warm_up": _WARM_UP + ("; a grammar too" if facts["grammars_ready"] else ""),
    }
