"""The HTTP transport on loopback: one POST, its reply as it is, a code for all else; nothing is followed."""

from __future__ import annotations

import gzip
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from bench.engines.http_transport import HttpTransport
from capsules.egress import Outgoing

Code = Callable[..., str]
CANARY = b"canary-7f3a"


def test_one_post_reaches_the_endpoint_and_the_reply_comes_as_it_is(
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], loopback: Any
) -> None:
    body = b' {"answer": "\xff\x00 as it came"}\r\n'
    one = server(loopback.reply(201, body))
    what = outgoing(one.url + "/v1/")

    found = HttpTransport(timeout_s=5, path="/chat/completions").send(what)

    assert (found.status, found.body) == (201, body)
    assert one.received == (
        b"POST /v1/chat/completions HTTP/1.1\r\n"
        b"Host: 127.0.0.1:%d\r\n"
        b"Accept-Encoding: identity\r\n"
        b"Connection: close\r\n"
        b"Content-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (one.port, len(what.body), what.body)
    )
    assert one.connections == 1


def test_without_a_path_the_root_is_asked(
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], transport: HttpTransport
) -> None:
    one = server()
    assert transport.send(outgoing(one.url)).status == 200
    assert one.received.startswith(b"POST / HTTP/1.1\r\n")


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 305, 307, 308, 399])
@pytest.mark.parametrize("where", ["host", "path", "none"])
def test_no_redirect_is_followed(
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], transport: HttpTransport, code_of: Code,
    loopback: Any, status: int, where: str,
) -> None:  # fmt: skip
    other = server()
    target = {"host": [f"Location: {other.url}/"], "path": ["Location: /elsewhere"], "none": []}[where]
    one = server(loopback.reply(status, CANARY, *target))

    assert code_of(transport, outgoing(one.url)) == "provider.route.unlisted"
    assert one.connections == 1
    assert (other.connections, other.received) == (0, b"")


STATUSES = {
    429: "provider.rate_limited", 400: "provider.refused", 401: "provider.refused", 404: "provider.refused",
    500: "provider.failed", 502: "provider.failed", 503: "provider.failed", 599: "provider.failed",
    999: "provider.failed", 101: "provider.reply.malformed",
}  # fmt: skip


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_has_its_code(
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], transport: HttpTransport, code_of: Code,
    loopback: Any, status: int,
) -> None:  # fmt: skip
    one = server(loopback.reply(status, CANARY))
    assert code_of(transport, outgoing(one.url)) == STATUSES[status]


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
REPLIES: dict[str, tuple[bytes, str]] = {
    "no body": (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "provider.reply.empty"),
    "white space": (b"HTTP/1.1 200 OK\r\n\r\n \r\n\t", "provider.reply.empty"),
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n", "provider.reply.empty"),
    "no HTTP": (CANARY + b"\r\n\r\n", "provider.reply.malformed"),
    "a status that is no number": (b"HTTP/1.1 " + CANARY + b"\r\n\r\n", "provider.reply.malformed"),
    "an endless line": (b"HTTP/1.1 200 OK\r\nX: " + CANARY * 9_000, "provider.reply.malformed"),
    "too many headers": (b"HTTP/1.1 200 OK\r\n" + b"X: 1\r\n" * 200, "provider.reply.malformed"),
    "a body cut short": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + CANARY, "provider.reply.malformed"),
    "a chunk cut short": (CHUNKED + b"20\r\n" + CANARY, "provider.reply.malformed"),
    "a chunk of no length": (CHUNKED + CANARY + b"\r\n", "provider.reply.malformed"),
    "packed": (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(CANARY * 9),
        "provider.reply.malformed",
    ),
    "too large": (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1_001, "provider.reply.too_large"),
    "said to be too large": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"x" * 1_001, "provider.reply.too_large"),
}  # fmt: skip


@pytest.mark.parametrize("case", REPLIES)
def test_a_reply_that_cannot_be_used_is_none(
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], case: str, code_of: Code
) -> None:
    data, code = REPLIES[case]
    one = server(data)
    assert code_of(HttpTransport(timeout_s=5, max_reply_bytes=1_000), outgoing(one.url)) == code


def test_a_reply_of_just_the_cap_in_chunks_is_one(
    server: Callable[..., Any], outgoing: Callable[..., Outgoing]
) -> None:
    one = server(CHUNKED + b"3e8\r\n" + b"x" * 1_000 + b"\r\n0\r\n\r\n")
    assert HttpTransport(timeout_s=5, max_reply_bytes=1_000).send(outgoing(one.url)).body == b"x" * 1_000


def test_a_connection_that_is_closed_without_a_word_is_an_empty_reply(
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], transport: HttpTransport, code_of: Code
) -> None:
    one = server(lambda server, peer: None)
    assert code_of(transport, outgoing(one.url)) == "provider.reply.empty"


@pytest.mark.parametrize("how", ["silent", "drips a head", "drips a body"])
def test_the_deadline_is_that_of_the_whole_exchange(
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], loopback: Any, how: str, code_of: Code
) -> None:
    head = b"HTTP/1.1 200 OK\r\n"
    acts = {
        "silent": loopback.waits,
        "drips a head": loopback.drips(head + b"X: y\r\n" * 90),
        "drips a body": loopback.drips(head + b"\r\n" + b"x" * 500, 0.01),
    }
    one = server(acts[how])
    began = time.monotonic()

    assert code_of(HttpTransport(timeout_s=0.25), outgoing(one.url)) == "provider.timeout"
    assert 0.2 < time.monotonic() - began < 3


def test_a_closed_port_and_a_name_that_is_none_are_unreachable(
    outgoing: Callable[..., Outgoing], transport: HttpTransport, code_of: Code
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert code_of(transport, outgoing(f"http://127.0.0.1:{port}")) == "provider.unreachable"
    assert code_of(transport, outgoing(f"https://{'a' * 70}.example")) == "provider.unreachable"
