"""What an OpenAI-compatible server is asked, as the exact bytes that a decision pins: pure.

Rules that this module owns:

* ``prompt: ids`` sends the token ids as they were counted (vLLM's server and others take an array of ids at
  ``/completions``); ``text`` sends their text without the leading BOS, which the server adds by itself;
  ``chat`` sends the same text as one user message to ``/chat/completions``.
* ``cache_salt``, ``return_token_ids`` and ``structured_outputs`` (a grammar) are vLLM's extensions, sent only
  where the provider takes them.
* Equal requests are equal bytes.
"""

from __future__ import annotations

import json

from bench.engines.base import EngineRequest
from bench.engines.vllm_grammar import UNCOMPILABLE
from bench.specs import ServerSpec
from capsules.tokenizer import Tokenizer

MODEL_UNKNOWN = "provider.model.unknown"
CONTEXT_EXCEEDED = "provider.context.exceeded"
PATHS = {"ids": "/completions", "text": "/completions", "chat": "/chat/completions"}


def request_body(request: EngineRequest, server: ServerSpec, tokenizer: Tokenizer) -> bytes:
    """The JSON body of a streaming request.

    Args:
        request: What is asked; its salt is sent where ``server.salt`` says so.
        server: How this provider is asked.
        tokenizer: Gives the text of the ids for servers that take none.
    """
    sampling = request.sampling
    value: dict[str, object] = {
        "model": server.model,
        **_prompt(request, server, tokenizer),
        "max_tokens": sampling.max_tokens,
        "temperature": float(sampling.temperature),
        "seed": sampling.seed,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if sampling.stop:
        value["stop"] = list(sampling.stop)
    if server.salt and request.salt is not None:
        value["cache_salt"] = request.salt
    if request.grammar is not None:
        value["structured_outputs"] = {"grammar": request.grammar}
    if server.return_ids:
        value["return_token_ids"] = True
    # plain JSON: a temperature is a float, which canonical bytes have no place for
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))  # noqa: TID251
    return text.encode("ascii")


def _prompt(request: EngineRequest, server: ServerSpec, tokenizer: Tokenizer) -> dict[str, object]:
    if server.prompt == "ids":
        return {"prompt": list(request.ids)}
    ids = request.ids[1:] if request.ids[:1] == (tokenizer.bos_id,) else request.ids
    text = tokenizer.decode(ids)
    return {"prompt": text} if server.prompt == "text" else {"messages": [{"role": "user", "content": text}]}


def refusal_code(status: int, body: bytes) -> str | None:
    """What a refusal is about, where its body says so in a known form; the body itself is not kept."""
    text = body.decode("utf-8", "replace").lower()
    if status == 404 and "model" in text:
        return MODEL_UNKNOWN
    if status in (400, 413) and ("context_length_exceeded" in text or "context length" in text):
        return CONTEXT_EXCEEDED
    if status == 400 and "grammar" in text:
        return UNCOMPILABLE
    return None
