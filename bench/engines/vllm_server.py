"""A vLLM server of our own: started for a run, asked like any other, gone before the next engine starts.

Rules that this module owns:

* It is started with the settings of the run's engine, at the address that its provider's policy pins, by a
  keeper (``server_keeper``) whose session holds all its processes.
* It is ready when it answers; one that ends before, or is not ready in time, is an error with the last lines
  of its log. Somebody else at its address is an error: we would measure another server.
* It can be reset and counted (``VLLM_SERVER_DEV_MODE``), and its blocks are kept densely, so the block rule
  holds; vLLM's own ``/metrics`` says the block size.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
import time
from collections.abc import Callable, Mapping

from bench.engines.base import EngineAbsentError, EngineError, EngineSettingError
from bench.engines.child import Child, last_lines
from bench.engines.endpoint import target_of
from bench.engines.http_call import UNREACHABLE, HttpError
from bench.engines.http_transport import HttpTransport
from bench.engines.openai_engine import OpenAiEngine
from bench.engines.openai_start import require_model, required, server_info, transport_of
from bench.engines.start import EngineStart
from bench.engines.vllm_engine import engine_environment
from bench.model_store import ModelFolder
from bench.specs import EngineSpec, ProviderSpec, ServerSpec

_POLL_S = 0.5
_ASK_LIMIT_S = 30.0
_CACHE_INFO = re.compile(r"^vllm:cache_config_info\{(?P<labels>[^}]*)\}", re.MULTILINE)
_LABEL = re.compile(r'(?P<name>[a-z_]+)="(?P<value>[^"]*)"')


def start_vllm_server(start: EngineStart) -> OpenAiEngine:
    """Start a server and wait until it answers.

    Raises:
        EngineAbsentError: It did not start, or its address is taken.
        EngineSettingError: What it would be started with is missing, or it is not what was asked for.
    """
    provider, _ = required(start)
    server, endpoint, folder = _settings(start, provider)
    transport = transport_of(provider, server, {})
    if _health(transport, provider.provider_id, endpoint) is not None:
        raise EngineAbsentError(
            f"provider {provider.provider_id}: {endpoint} is taken: somebody answers there already; end that "
            "server and continue, or start a new run with another port in "
            f"providers.{provider.provider_id}.endpoint"
        )
    began = time.monotonic()
    child = Child(
        [sys.executable, "-m", "bench.engines.server_keeper"],
        env=server_environment(start.spec, os.environ),
        log=start.log,
        on_process=start.on_process,
    )
    try:
        command = server_command(start, folder, endpoint, server.model)
        child.ask({"op": "start", "command": command}, limit_s=_ASK_LIMIT_S, what="starting the server")
        limit = began + start.spec.start_timeout_s
        _wait(child, lambda: _health(transport, provider.provider_id, endpoint) == 200, limit)
        return _engine(start, provider, transport, child, began)
    except HttpError as error:
        child.close()
        raise EngineAbsentError(f"the server at {endpoint}: {error}", last_lines(start.log)) from error
    except BaseException:  # Ctrl-C too: the caller has no engine yet that it could close
        child.close()
        raise


def _settings(start: EngineStart, provider: ProviderSpec) -> tuple[ServerSpec, str, ModelFolder]:
    """What a server is started with.

    Raises:
        EngineSettingError: Some of it is missing.
    """
    at = f"providers.{provider.provider_id}"
    if provider.server is None or provider.endpoint is None:
        raise EngineSettingError(f"{at}: expected an endpoint and a server of ours")
    if start.folder is None:
        raise EngineSettingError(
            f"{at}: a vLLM server needs a model folder, found none: expected "
            "tokenizer=model, which prepares it"
        )
    return provider.server, provider.endpoint, start.folder


def _engine(
    start: EngineStart, provider: ProviderSpec, transport: HttpTransport, child: Child, began: float
) -> OpenAiEngine:
    """The engine over a server that answers, after a look at what it says of itself.

    Raises:
        EngineSettingError: It is not what was asked for.
        HttpError: It does not answer any more.
    """
    _, tokenizer = required(start)
    asked, endpoint, folder = _settings(start, provider)
    listed = require_model(transport, provider.provider_id, endpoint, asked.model)
    facts = cache_facts(transport.control(provider.provider_id, endpoint, "/metrics").body)
    if facts["prefix_caching"] != start.prefix_caching:
        raise EngineSettingError(
            f"prefix caching: asked for {start.prefix_caching}, the server has {facts['prefix_caching']}"
        )
    server = dataclasses.replace(asked, block_size=facts["block_size"], control=True)
    version = _version(transport, provider.provider_id, endpoint)
    took_us = round((time.monotonic() - began) * 1_000_000)
    info = server_info(provider, server, start, listed=listed, start_us=took_us)
    profile = {
        **info.profile,
        "weight_digest": folder.weight_digest,
        "tokenizer_digest": folder.tokenizer_digest,
        "dtype": start.model.dtype,
        "engine_version": version,
        "window": start.spec.window,
        "max_num_seqs": start.spec.max_num_seqs,
        "kv_blocks": facts["kv_blocks"],
        "retention": start.spec.retention,
        "device": start.spec.device,
    }
    return OpenAiEngine(
        endpoint=endpoint,
        info=dataclasses.replace(info, block_rule=start.spec.retention == "none", profile=profile),
        server=server,
        transport=transport,
        tokenizer=tokenizer,
        on_close=child.close,
    )


def server_command(start: EngineStart, folder: ModelFolder, endpoint: str, model: str) -> list[str]:
    """The command line of the server.

    Raises:
        EngineSettingError: The endpoint has no port of this machine.
    """
    target, spec = target_of(endpoint), start.spec
    if target is None or not target.here:
        raise EngineSettingError(f"a server of our own needs an address of this machine, found {endpoint}")
    command = [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
        *("--host", target.host, "--port", str(target.port)),
        *("--model", str(folder.path), "--served-model-name", model),
        *("--dtype", start.model.dtype, "--seed", "0"),
        *("--max-model-len", str(spec.window), "--max-num-seqs", str(spec.max_num_seqs)),
        *("--structured-outputs-config", '{"backend": "guidance"}'),
        "--enable-prefix-caching" if start.prefix_caching else "--no-enable-prefix-caching",
        "--enable-prompt-tokens-details",
        "--disable-uvicorn-access-log",
    ]
    if spec.enforce_eager:
        command.append("--enforce-eager")
    if spec.block_size is not None:
        command += ["--block-size", str(spec.block_size)]
        if spec.retention == "none":
            # A checkpoint every block is what None means offline; the command line has no word for None.
            command += ["--prefix-cache-retention-interval", str(spec.block_size)]
    if spec.device == "cuda" and spec.kv_space_gib > 0:
        command += ["--kv-cache-memory-bytes", str(spec.kv_space_gib << 30)]
    return command


def server_environment(spec: EngineSpec, base: Mapping[str, str]) -> dict[str, str]:
    """That of an engine; a server runs its engine in a process of its own, and may be reset."""
    environment = engine_environment(spec, base)
    del environment["VLLM_ENABLE_V1_MULTIPROCESSING"]
    return environment | {"VLLM_SERVER_DEV_MODE": "1"}


def cache_facts(metrics: bytes) -> dict[str, int]:
    """What a vLLM server says of its cache: block size, blocks, and whether prefixes are kept.

    Raises:
        EngineError: It does not say it.
    """
    found = _CACHE_INFO.search(metrics.decode("utf-8", "replace"))
    labels = {m["name"]: m["value"] for m in _LABEL.finditer(found["labels"])} if found else {}
    try:
        return {
            "block_size": int(labels["block_size"]),
            "kv_blocks": int(labels["num_gpu_blocks"]),
            "prefix_caching": labels["enable_prefix_caching"] == "True",
        }
    except (KeyError, ValueError) as error:
        raise EngineError(f"the server's metrics say nothing of its cache ({error})") from error


def _health(transport: HttpTransport, provider: str, endpoint: str) -> int | None:
    """The status of an answer; ``None`` where nobody listens."""
    try:
        return transport.control(provider, endpoint, "/health").status
    except HttpError as error:
        return None if error.code == UNREACHABLE else error.status or 0


def _version(transport: HttpTransport, provider: str, endpoint: str) -> str | None:
    value = json.loads(transport.control(provider, endpoint, "/version").body)
    return str(value["version"]) if isinstance(value, dict) and "version" in value else None


def _wait(child: Child, ready: Callable[[], bool], limit: float) -> None:
    while not ready():
        status = child.ask({"op": "alive"}, limit_s=_ASK_LIMIT_S, what="looking after the server")
        problem = None if status is None else f"the server ended with status {status}"
        if problem is None and time.monotonic() > limit:
            problem = "the server is not ready in time"
        if problem is not None:
            raise EngineAbsentError(problem, last_lines(child.log))
        time.sleep(_POLL_S)
