"""What the HTTP transport takes along: the credentials of its own provider, and only what was released."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bench.engines.http_transport import HttpTransport
from capsules.egress import Outgoing

CANARY = b"canary-7f3a"


def test_credentials_go_to_their_own_provider_alone(
    server: Callable[..., Any], outgoing: Callable[..., Outgoing]
) -> None:
    near, cloud = server(), server()
    transport = HttpTransport(timeout_s=5, credentials={"near": [("Authorization", "Bearer near-key")]})

    transport.send(outgoing(near.url, "near"))
    transport.send(outgoing(cloud.url, "cloud"))

    assert b"\r\nAuthorization: Bearer near-key\r\n" in near.received
    assert b"uthorization" not in cloud.received
    assert b"near-key" not in repr(transport).encode()


@pytest.mark.parametrize(
    ("name", "value"),
    [("X-Key", "a\r\nX-Other: canary-7f3a"), ("X-Key", ""), ("X-Key", "canary-7f3aé"), ("X:", "canary-7f3a"),
     ("Host", "canary-7f3a"), ("content-length", "1"), ("Accept-Encoding", "gzip"), ("", "x")],
)  # fmt: skip
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(name: str, value: str) -> None:
    with pytest.raises(ValueError, match="credentials of 'near'") as caught:
        HttpTransport(timeout_s=5, credentials={"near": [(name, value)]})
    assert CANARY.decode() not in str(caught.value)


@pytest.mark.parametrize("path", ["v1", "/a/../b", "/a/", "/a?b", "/a\n", "//x.example", "/%2e"])
def test_a_path_is_plain(path: str) -> None:
    with pytest.raises(ValueError, match="path: expected plain segments"):
        HttpTransport(timeout_s=5, path=path)


def test_only_what_was_released_is_sent(
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], transport: HttpTransport
) -> None:
    one = server()

    class Cousin(Outgoing):
        def __post_init__(self, mint: object) -> None:
            pass

    cousin = Cousin(decision="", provider="cloud", endpoint=one.url, body=CANARY, sent_at=0, mint=None)
    for what in (cousin, None, CANARY):
        with pytest.raises(TypeError, match="expected an Outgoing"):
            transport.send(what)  # type: ignore[arg-type]
    assert one.connections == 0
