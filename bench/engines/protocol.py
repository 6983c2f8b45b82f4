r"""Messages between the driver and the engine process: one JSON object a line over two pipes.

The driver writes one request and reads one answer; nothing else travels, so the two sides cannot get out of
step without noticing. stdout and stderr of the engine process are its log and carry no message.

    driver -> engine   {"op": "start", "arguments": {...}} · {"op": "generate", "requests": [...]}
                       {"op": "reset"} · {"op": "counters"} · {"op": "prompt_logprobs", "prompts": [[id]]}
    engine -> driver   {"ok": value} · {"fatal": str}      (after ``fatal`` the process ends)

These lines are neither stored nor digested: they are plain JSON (a model may answer with code points that
canonical bytes refuse).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from bench.engines.base import EngineError, EngineRequest, EngineResult
from bench.specs import SamplingSpec

Message = dict[str, Any]


def encode(message: Mapping[str, object]) -> bytes:
    """One line, newline included."""
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"  # noqa: TID251


def decode(line: bytes) -> Message:
    """Reads one line.

    Raises:
        EngineError: Not a JSON object.
    """
    try:
        value = json.loads(line)
    except ValueError as error:
        raise EngineError("engine process sent no JSON", f"It sent: {line[:200]!r}") from error
    if not isinstance(value, dict):
        raise EngineError("engine process sent no JSON object", f"It sent: {line[:200]!r}")
    return value


def request_to_value(request: EngineRequest) -> Message:
    """A request as plain data."""
    return {
        "request_id": request.request_id,
        "ids": list(request.ids),
        "salt": request.salt,
        "sampling": asdict(request.sampling),
        "grammar": request.grammar,
    }


def request_from_value(value: Message) -> EngineRequest:
    """The request that ``request_to_value`` made plain."""
    sampling = dict(value["sampling"])
    sampling["stop"] = tuple(sampling["stop"])
    return EngineRequest(
        request_id=value["request_id"],
        ids=tuple(value["ids"]),
        salt=value["salt"],
        sampling=SamplingSpec(**sampling),
        grammar=value["grammar"],
    )


def result_to_value(result: EngineResult) -> Message:
    """A result as plain data."""
    return asdict(result)


def result_from_value(value: Message) -> EngineResult:
    """The result that ``result_to_value`` made plain.

    Raises:
        EngineError: Fields are missing or unknown.
    """
    names = {field.name for field in fields(EngineResult)}
    if set(value) != names:
        raise EngineError(f"engine result: expected fields {sorted(names)}, found {sorted(value)}")
    gaps = value["itl_us"]
    arrays = {"output_ids": tuple(value["output_ids"]), "itl_us": None if gaps is None else tuple(gaps)}
    return EngineResult(**{**value, **arrays})
