"""Engines over a server that is there: the key in our environment, the model at the server.

Rules that this module owns:

* A key is read from the environment variable that the config names, at the start, and goes into one header.
  Messages name the variable, never its value.
* A server that answers at all but lists no models is believed; one that lists others than ours is not.
* What a server's first answer means is decided here, by its code: a refused key, another host and a model
  that it does not have stay so (``EngineSettingError``); everything else may pass (``EngineAbsentError``).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping

from bench.engines.base import EngineAbsentError, EngineError, EngineInfo, EngineSettingError
from bench.engines.http_call import FAILED, REFUSED, UNREACHABLE, HttpError
from bench.engines.http_transport import HttpTransport
from bench.engines.openai_body import MODEL_UNKNOWN, PATHS, refusal_code
from bench.engines.openai_engine import OpenAiEngine
from bench.engines.start import EngineStart
from bench.specs import ProviderSpec, ServerSpec
from capsules.delivery import UNLISTED
from capsules.tokenizer import Tokenizer

_SHOWN = 5
Credentials = dict[str, tuple[tuple[str, str], ...]]


def start_openai(start: EngineStart) -> OpenAiEngine:
    """An engine over a server that is there.

    Raises:
        EngineSettingError: No provider, no key, or no such model.
        EngineAbsentError: Nobody at the endpoint.
    """
    provider, tokenizer = required(start)
    server = provider.server
    if server is None or provider.endpoint is None:
        raise EngineSettingError(
            f"providers.{provider.provider_id}: expected an endpoint and a server, found "
            f"{provider.endpoint!r} and {'none' if server is None else server.engine}"
        )
    transport = transport_of(provider, server, os.environ)
    began = time.monotonic()
    listed = require_model(transport, provider.provider_id, provider.endpoint, server.model)
    info = server_info(
        provider, server, start, listed=listed, start_us=round((time.monotonic() - began) * 1_000_000)
    )
    return OpenAiEngine(
        endpoint=provider.endpoint, info=info, server=server, transport=transport, tokenizer=tokenizer
    )


def required(start: EngineStart) -> tuple[ProviderSpec, Tokenizer]:
    """Provider and tokenizer of a start, which a server cannot do without.

    Raises:
        EngineSettingError: One is missing.
    """
    if start.provider is None:
        raise EngineSettingError(
            f"engine {start.spec.name!r} is the engine of a provider, not of a run: see docs/engines.md"
        )
    if start.tokenizer is None:
        raise EngineSettingError("a server needs the run's tokenizer, found none")
    return start.provider, start.tokenizer


def transport_of(provider: ProviderSpec, server: ServerSpec, environ: Mapping[str, str]) -> HttpTransport:
    """The transport of a provider, with its key and with nobody else's.

    Raises:
        EngineSettingError: The variable that should hold the key does not.
    """
    return HttpTransport(
        timeout_s=server.timeout_s,
        path=PATHS[server.prompt],
        credentials=credentials_of(provider.provider_id, server, environ),
        explain=refusal_code,
    )


def server_info(
    provider: ProviderSpec, server: ServerSpec, start: EngineStart, *, listed: bool, start_us: int
) -> EngineInfo:
    """What is known of a server."""
    return EngineInfo(
        name=server.engine,
        fake=False,
        block_size=server.block_size,
        prefix_caching=start.prefix_caching,
        block_rule=True,
        scheduling_known=False,
        streaming=True,
        start_us=start_us,
        cache_known=server.control,
        profile={
            "provider": provider.provider_id,
            "endpoint": provider.endpoint,
            "model": server.model,
            "model_listed": listed,
            "weight_digest": None,
            "tokenizer_digest": None if start.tokenizer is None else start.tokenizer.tokenizer_digest,
            "engine": server.engine,
            "engine_version": None,
            "prompt": server.prompt,
            "salt": server.salt,
            "block_size": server.block_size,
            "prefix_caching": start.prefix_caching,
            "device": "server",
        },
    )


def credentials_of(provider: str, server: ServerSpec, environ: Mapping[str, str]) -> Credentials:
    """The header that holds the key.

    Raises:
        EngineSettingError: The variable is not set, or what it holds is no key.
    """
    if server.key_env is None:
        return {}
    key = environ.get(server.key_env, "")
    if not key.isascii() or not key.isprintable() or not key.strip() or key != key.strip():
        raise EngineSettingError(
            f"providers.{provider}.server.key_env: expected a key in the environment variable "
            f"{server.key_env}, found {'something that is no key' if key else 'none'}; for a server without "
            "keys: key_env=null"
        )
    return {provider: (("Authorization", f"Bearer {key}"),)}


def require_model(transport: HttpTransport, provider: str, endpoint: str, model: str) -> bool:
    """Ask for the models; whether the server lists ours.

    Raises:
        EngineAbsentError: Nobody answers, or not now.
        EngineSettingError: The server lists models and ours is none of them, or it refuses us for good.
    """
    try:
        reply = transport.control(provider, endpoint, path_under(endpoint, "/models"))
    except HttpError as error:
        if error.status is not None and error.code in (REFUSED, FAILED) and error.status not in (401, 403):
            return False  # it is there, and does not say what it has
        raise start_error(error, provider, endpoint) from error
    names = _names(reply.body)
    if names and model not in names:
        shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        raise EngineSettingError(
            f"{MODEL_UNKNOWN}: providers.{provider}.server.model: expected one that {endpoint} has "
            f"({shown}), found {model!r}"
        )
    return model in names


def start_error(error: HttpError, provider: str, endpoint: str) -> EngineError:
    """What a first call that brought no answer is for a run: an address, a reason, and what to do."""
    at = f"{error.code}: provider {provider} at {endpoint}"
    if error.code == UNREACHABLE:
        return EngineAbsentError(
            f"{at}: nobody answers there ({error.why}). Start the server and continue, or start a new run "
            f"with another providers.{provider}.endpoint"
        )
    if error.code == REFUSED:
        return EngineSettingError(
            f"{at}: it refused us ({error.why}): see providers.{provider}.server.key_env"
        )
    if error.code == UNLISTED:
        return EngineSettingError(
            f"{at}: another host answers ({error.why}): see providers.{provider}.endpoint"
        )
    return EngineAbsentError(f"{at}: no answer that can be used ({error.why})")


def path_under(endpoint: str, path: str) -> str:
    """The whole path of something under an endpoint's own path."""
    own = endpoint.partition("://")[2].partition("/")[2].strip("/")
    return f"/{own}{path}" if own else path


def _names(body: bytes) -> list[str]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return []
    listed = value.get("data") if isinstance(value, dict) else None
    if not isinstance(listed, list):
        return []
    return [str(model["id"]) for model in listed if isinstance(model, dict) and "id" in model]
