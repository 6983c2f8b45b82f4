"""Streams of a scripted server: what an OpenAI-compatible one writes, piece by piece and in time.

Loaded by path (fixture ``streams`` in tests/conftest.py): test modules cannot import each other.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Sequence
from typing import Any

from bench.engines.base import EngineRequest
from bench.specs import SamplingSpec
from capsules.canonical import canonical_bytes

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
Act = Callable[[Any, socket.socket], None]


def event(value: Any) -> bytes:
    """One server-sent event."""
    return b"data: " + canonical_bytes(value) + b"\n\n"


def token(text: str, ids: Sequence[int] = (), finish: str | None = None) -> bytes:
    """An event of /completions; ids only where there are some."""
    choice: dict[str, Any] = {"index": 0, "text": text, "finish_reason": finish}
    return event({"choices": [choice | ({"token_ids": list(ids)} if ids else {})]})


def usage(prompt: int, output: int, cached: int | None = None) -> bytes:
    """The event that counts."""
    counts: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": output}
    if cached is not None:
        counts["prompt_tokens_details"] = {"cached_tokens": cached}
    return event({"choices": [], "usage": counts})


DONE = b"data: [DONE]\n\n"


def chunk(data: bytes) -> bytes:
    """A chunk of the chunked coding."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def streams(*pieces: bytes | float, end: bytes = b"0\r\n\r\n", head: bytes = HEAD) -> Act:
    """Writes the pieces as chunks; a number waits so many seconds."""

    def act(server: Any, peer: socket.socket) -> None:
        peer.sendall(head)
        for piece in pieces:
            if isinstance(piece, bytes):
                peer.sendall(chunk(piece))
            elif server.closing.wait(piece):
                return
        peer.sendall(end)

    return act


def answers(prompt: int, text: str = "yes", cached: int | None = 0) -> Act:
    """A whole answer of one token."""
    return streams(token(text, [7], "stop"), usage(prompt, 1, cached), DONE)


def in_turn(*acts: Act) -> Act:
    """One act a connection; the last one for all that follow."""
    left = list(acts)

    def act(server: Any, peer: socket.socket) -> None:
        (left.pop(0) if len(left) > 1 else left[0])(server, peer)

    return act


def bodies(received: bytes) -> list[dict[str, Any]]:
    """The JSON body of every request that a server got."""
    found = []
    while received:
        head, _, rest = received.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: *([0-9]+)", head)
        n = int(length[1]) if length else 0
        if rest[:n]:
            found.append(json.loads(rest[:n]))
        received = rest[n:]
    return found


class Pretender:
    """A whole server on top of an engine of this process: completions by ids, models, counters, resets.

    Args:
        engine: Answers requests.
        loopback: ``tests/loopback.py``.
        leak: Whether it forgets to keep salts apart.
    """

    def __init__(self, engine: Any, loopback: Any, *, leak: bool = False) -> None:
        self._engine = engine
        self._loopback = loopback
        self._leak = leak

    def __call__(self, server: Any, peer: socket.socket) -> None:
        """Answers one request."""
        line = server.request.split(b"\r\n", 1)[0].split(b" ")
        if line[:2] == [b"POST", b"/v1/completions"]:
            self._complete(server, peer)
            return
        peer.sendall(self._loopback.reply(200, self._control(line[1])))

    def _control(self, path: bytes) -> bytes:
        if path == b"/v1/models":
            return canonical_bytes({"data": [{"id": "m"}]})
        if path == b"/metrics":
            counts = self._engine.counters()
            names = {"prefix_queries": "prefix_cache_queries", "prefix_hits": "prefix_cache_hits"}
            lines = [f"vllm:{names.get(k, k)}_total {v}.0" for k, v in counts.items()]
            return "\n".join([*lines, ""]).encode()
        assert path == b"/reset_prefix_cache"
        self._engine.reset_prefix_cache()
        return b""

    def _complete(self, server: Any, peer: socket.socket) -> None:
        (body,) = bodies(server.request)
        sampling = SamplingSpec(max_tokens=body["max_tokens"])
        salt = None if self._leak else body.get("cache_salt")
        request = EngineRequest(request_id="x", ids=tuple(body["prompt"]), salt=salt, sampling=sampling)
        (found,) = self._engine.generate([request])
        pieces = [token("", [i]) for i in found.output_ids[:-1]]
        last = token(found.text, found.output_ids[-1:], found.finish_reason)
        counts = usage(len(request.ids), len(found.output_ids), found.cached_tokens)
        streams(*pieces, last, counts, DONE)(server, peer)
