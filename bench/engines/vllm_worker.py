"""The engine process: real vLLM, offline, in one process of ours.

    python -m bench.engines.vllm_worker IN OUT PARENT     (started by ``vllm_engine`` alone)

Rules of this module:

- Engine and model run inside this process (``VLLM_ENABLE_V1_MULTIPROCESSING=0``, set by the driver):
  scheduling is deterministic, first come first served, and nothing can be orphaned.
- It dies with the driver: SIGKILL by the kernel when the driver dies, and it ends by itself when its pipe
  is closed.
- It says what it saw and nothing else: durations come from the engine's own monotonic stamps; unknown is
  None.
- The engine's grammar machinery takes seconds to get ready. It is warmed up with the rest where grammars are
  announced, so that no measured wave pays for it; else before the first request with one, under that salt.
- Warm-up: random ids under a salt of its own, before ``ready``; the prefix cache is reset afterwards and
  the counters start at what they then show.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, NoReturn

from bench.engines.base import EngineRequest, EngineResult
from bench.engines.process import die_with_parent
from bench.engines.protocol import Message, decode, encode, request_from_value, result_to_value
from bench.engines.results import failed
from bench.engines.vllm_grammar import UNCOMPILABLE, WARM_UP_GRAMMAR, Grammars, refusal
from bench.engines.vllm_results import result_of
from bench.engines.vllm_scores import prompt_logprobs

WARM_UP_SALT = "capsule-bench/warm-up"  # derived salts are never of this form, so it is never used again
_WARM_UP_TOKENS = 256
_COUNTERS = {
    "vllm:prefix_cache_queries": "prefix_queries",
    "vllm:prefix_cache_hits": "prefix_hits",
    "vllm:prompt_tokens": "prompt_tokens",
}


class Worker:
    """vLLM's offline engine behind the messages of ``protocol``.

    Args:
        arguments: Keyword arguments of ``vllm.LLM``; ``prefix_cache_retention_interval`` is dropped where
            this vLLM does not know it (there the engine keeps every block, as with None).
    """

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        from vllm import LLM, SamplingParams, exceptions
        from vllm.engine.arg_utils import EngineArgs
        from vllm.sampling_params import StructuredOutputsParams

        known = EngineArgs.__dataclass_fields__
        self.retention_known = "prefix_cache_retention_interval" in known
        self._sampling_params = SamplingParams
        self._structured = StructuredOutputsParams
        # What a request did wrong; older releases raised plain ValueErrors for it.
        self._refusals = (ValueError, getattr(exceptions, "VLLMClientError", ValueError))
        self.llm: Any = LLM(**{key: value for key, value in arguments.items() if self._wanted(key)})
        self._base: dict[str, int] = dict.fromkeys(_COUNTERS.values(), 0)
        self._grammars: Grammars | None = None

    def _wanted(self, key: str) -> bool:
        return key != "prefix_cache_retention_interval" or self.retention_known

    def warm_up(self, *, grammars: bool) -> None:
        """Runs every code path of a measured wave once, under a salt of its own.

        Args:
            grammars: Whether waves with grammars will come.
        """
        config = self.llm.llm_engine.vllm_config
        vocabulary = config.model_config.get_vocab_size()
        n = min(_WARM_UP_TOKENS, config.model_config.max_model_len - 8)
        rng = random.Random(WARM_UP_SALT)
        params = self._sampling_params(temperature=0.0, max_tokens=4, ignore_eos=True)
        for width in (config.scheduler_config.max_num_seqs, 1):
            prompts: Any = [
                {
                    "prompt_token_ids": [rng.randrange(vocabulary) for _ in range(n)],
                    "cache_salt": WARM_UP_SALT,
                }
                for _ in range(width)
            ]
            self.llm.generate(prompts, params, use_tqdm=False)
        if grammars:
            self._warm_up_grammars()
        if not self.llm.reset_prefix_cache():
            raise RuntimeError("the prefix cache could not be reset after the warm-up")
        self._base = self._read_counters()

    def facts(self) -> Message:
        """What the running engine says about itself."""
        import torch
        import vllm

        engine = self.llm.llm_engine
        config = engine.vllm_config
        core: Any = engine.engine_core.engine_core  # in-process client
        groups = core.scheduler.kv_cache_config.kv_cache_groups
        retention = getattr(config.cache_config, "prefix_cache_retention_interval", None)
        return {
            "block_size": config.cache_config.block_size,
            "prefix_caching": bool(config.cache_config.enable_prefix_caching),
            "kv_groups": len(groups),
            "kv_blocks": core.scheduler.kv_cache_config.num_blocks,
            "retention": retention if self.retention_known else None,
            "kv_dtype": str(config.cache_config.cache_dtype),
            "dtype": str(config.model_config.dtype).removeprefix("torch."),
            "quantization": config.model_config.quantization,
            "window": config.model_config.max_model_len,
            "max_num_seqs": config.scheduler_config.max_num_seqs,
            "max_num_batched_tokens": config.scheduler_config.max_num_batched_tokens,
            "async_scheduling": bool(config.scheduler_config.async_scheduling),
            "enforce_eager": bool(config.model_config.enforce_eager),
            "parallel": {
                "tensor": config.parallel_config.tensor_parallel_size,
                "pipeline": config.parallel_config.pipeline_parallel_size,
                "data": config.parallel_config.data_parallel_size,
            },
            "attention_backends": sorted(self._attention_backends(core)),
            "engine_version": vllm.__version__,
            "torch_version": str(torch.__version__),
            "threads": torch.get_num_threads(),
            "omp_wait_policy": os.environ.get("OMP_WAIT_POLICY"),
            "grammars_ready": self._grammars is not None,
        }

    @staticmethod
    def _attention_backends(core: Any) -> set[str]:
        runner = core.model_executor.driver_worker.worker.model_runner
        return {group.backend.get_name() for groups in runner.attn_groups for group in groups}

    def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
        """Sends one wave: all requests are queued, then the engine runs until all have finished.

        A request that the engine refuses gets a result with status ``error``; the others go on.
        """
        if any(request.grammar is not None for request in requests):
            self._warm_up_grammars()
        refused: dict[int, str] = {}
        queued: dict[int, int | None] = {}  # index -> time of its grammar
        for index, request in enumerate(requests):
            try:
                queued[index] = self._enqueue(request)
            except _Uncompilable as error:
                queued[index], refused[index] = None, str(error)
            except self._refusals as error:
                message = f"{type(error).__name__}: {error}"
                refused[index] = message if request.grammar is None else refusal(message)
        outputs = self.llm.wait_for_completion(use_tqdm=False) if queued else []
        if len(outputs) != len(queued):
            raise RuntimeError(f"{len(queued)} requests were queued, {len(outputs)} answers came back")
        answers = dict(zip(queued, outputs, strict=True))
        return [
            failed(request, refused[index])
            if index in refused
            else result_of(request, answers[index], queued[index])
            for index, request in enumerate(requests)
        ]

    def _enqueue(self, request: EngineRequest) -> int | None:
        """Queue one request; microseconds that its grammar took, ``None`` without one.

        Raises:
            _Uncompilable: It is queued, and what comes back will be no answer.
        """
        prompt: dict[str, Any] = {"prompt_token_ids": list(request.ids)}
        if request.salt is not None:
            prompt["cache_salt"] = request.salt
        sampling = request.sampling
        params = self._sampling_params(
            temperature=float(sampling.temperature),
            max_tokens=sampling.max_tokens,
            stop=list(sampling.stop),
            seed=sampling.seed,
            structured_outputs=None if request.grammar is None else self._structured(grammar=request.grammar),
        )
        if self._grammars is None or request.grammar is None:
            self.llm.enqueue([prompt], params, use_tqdm=False)
            return None
        self._grammars.begin()
        self.llm.enqueue([prompt], params, use_tqdm=False)
        error = self._grammars.error()
        if error is not None:
            raise _Uncompilable(f"{UNCOMPILABLE}: {error}")
        return self._grammars.took_us()

    def _warm_up_grammars(self) -> None:
        """Once, before the first request with a grammar: the engine prepares its vocabulary for seconds."""
        if self._grammars is not None:
            return
        self._grammars = Grammars(self.llm.llm_engine.engine_core.engine_core)
        before = self._read_counters()
        params = self._sampling_params(
            temperature=0.0, max_tokens=4, structured_outputs=self._structured(grammar=WARM_UP_GRAMMAR)
        )
        prompt: Any = {"prompt_token_ids": [0, 1, 2, 3], "cache_salt": WARM_UP_SALT}
        self.llm.generate([prompt], params, use_tqdm=False)
        after = self._read_counters()
        self._base = {name: value + after[name] - before[name] for name, value in self._base.items()}

    def prompt_logprobs(self, prompts: Sequence[Sequence[int]]) -> list[list[float | None]]:
        """The model's log-probability of each id of each prompt; see ``vllm_scores``."""
        return prompt_logprobs(self.llm, self._sampling_params, prompts)

    def reset(self) -> bool:
        """The engine's own answer to a reset of its prefix cache."""
        return bool(self.llm.reset_prefix_cache())

    def counters(self) -> dict[str, int]:
        """Tokens since the warm-up."""
        return {name: value - self._base[name] for name, value in self._read_counters().items()}

    def _read_counters(self) -> dict[str, int]:
        totals = dict.fromkeys(_COUNTERS.values(), 0)
        for metric in self.llm.get_metrics():
            if metric.name in _COUNTERS:
                totals[_COUNTERS[metric.name]] += int(metric.value)
        return totals


class _Uncompilable(Exception):
    """A grammar that the engine accepted and could not compile."""


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    def answer(message: Mapping[str, object]) -> None:
        answers.write(encode(message))
        answers.flush()

    worker: Worker | None = None
    try:
        for line in requests:
            message = decode(line)
            if worker is None:
                worker = Worker(message["arguments"])
                worker.warm_up(grammars=message["grammars"])
                answer({"ok": worker.facts()})
            elif message["op"] == "generate":
                wave = [request_from_value(value) for value in message["requests"]]
                answer({"ok": [result_to_value(result) for result in worker.generate(wave)]})
            elif message["op"] == "reset":
                answer({"ok": worker.reset()})
            elif message["op"] == "counters":
                answer({"ok": worker.counters()})
            elif message["op"] == "prompt_logprobs":
                answer({"ok": worker.prompt_logprobs(message["prompts"])})
            else:
                raise ValueError(f"unknown message {message['op']!r}")
    except Exception as error:
        traceback.print_exc()
        answer({"fatal": f"{type(error).__name__}: {str(error)[:2000]}"})
        raise SystemExit(1) from error


def _terminate(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)


def main(argv: list[str]) -> int:
    """Serves until the request pipe is closed."""
    receive, send, parent = (int(word) for word in argv[1:4])
    die_with_parent(parent)
    signal.signal(signal.SIGTERM, _terminate)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides what Ctrl-C means
    for descriptor in (receive, send):
        os.set_inheritable(descriptor, False)  # a child that held the pipe open would hide our death
    with os.fdopen(receive, "rb") as requests, os.fdopen(send, "wb") as answers:
        _serve(requests, answers)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv))
