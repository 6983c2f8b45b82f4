"""Where the HTTP transport goes: to one pinned address, whatever names or the environment say."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from bench.engines.http_transport import HttpTransport
from capsules.egress import Outgoing

Code = Callable[..., str]


@pytest.mark.parametrize(
    "endpoint",
    [
        None, "ftp://127.0.0.1", "//127.0.0.1", "127.0.0.1", "http://", "http://llm.example/v1",
        "http://10.0.0.1", "http://169.254.169.254/latest", "http://user:pw@127.0.0.1", "http://127.0.0.1@x.example",
        "http://127.0.0.1:0", "http://127.0.0.1:65536", "http://127.0.0.1:1e3", "http://127.0.0.1?x=1",
        "http://127.0.0.1#x", "http://127.0.0.1/a/../b", "http://127.0.0.1/./a", "http://127.0.0.1/a b",
        "http://127.0.0.1/\r\nX: y", "http://127.0.0.1\n", "HTTP://127.0.0.1", "http://127.0.0.1/%2e%2e",
        "http://[::1", "http://[::zz]", "http://[1.2.3]", "http://2130706433", "http://0x7f.1", "http://127.1",
        "http://0.0.0.0", "http://lоcalhost",
    ],
)  # fmt: skip
def test_an_address_of_another_form_is_none(
    outgoing: Callable[..., Outgoing], transport: HttpTransport, code_of: Code,
    monkeypatch: pytest.MonkeyPatch, endpoint: str | None,
) -> None:  # fmt: skip
    def no_socket(*args: object, **kwargs: object) -> Any:
        raise AssertionError("connected")

    what = outgoing(endpoint)
    monkeypatch.setattr(socket, "create_connection", no_socket)
    assert code_of(transport, what) == "provider.route.unlisted"


@pytest.mark.parametrize(("host", "seen"), [("127.0.0.1", False), ("localhost", True)])
def test_a_peer_that_is_not_the_host_gets_nothing(
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], transport: HttpTransport, code_of: Code,
    monkeypatch: pytest.MonkeyPatch, host: str, seen: bool,
) -> None:  # fmt: skip
    one = server(host="127.0.0.2")  # loops back too, and is not 127.0.0.1
    connect = socket.create_connection
    monkeypatch.setattr(
        socket, "create_connection", lambda address, timeout: connect(("127.0.0.2", address[1]), timeout)
    )
    what = outgoing(f"http://{host}:{one.port}")
    if seen:
        assert transport.send(what).status == 200
    else:
        assert code_of(transport, what) == "provider.route.unlisted"
    assert bool(one.received) == seen


def test_a_name_that_is_spoofed_to_another_machine_gets_nothing(
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], transport: HttpTransport, code_of: Code,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    class Abroad(socket.socket):
        def getpeername(self) -> Any:
            return ("203.0.113.9", 80)

    one = server()

    def connect(address: Any, timeout: float) -> socket.socket:
        sock = Abroad()
        sock.settimeout(timeout)
        sock.connect(("127.0.0.1", one.port))
        return sock

    monkeypatch.setattr(socket, "create_connection", connect)
    assert code_of(transport, outgoing(f"http://localhost:{one.port}")) == "provider.route.unlisted"
    assert one.received == b""


def test_ipv6_loops_back_too(
    outgoing: Callable[..., Outgoing], transport: HttpTransport, code_of: Code
) -> None:
    try:
        taken = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no ::1")
    with taken:
        port = taken.getsockname()[1]
    assert code_of(transport, outgoing(f"http://[::1]:{port}")) == "provider.unreachable"


PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


def test_the_environment_names_no_proxy_and_no_base(
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], transport: HttpTransport,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    one, proxy = server(), server()
    for name in PROXIES:
        monkeypatch.setenv(name, proxy.url)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", proxy.url)
    monkeypatch.setenv("NETRC", "/dev/null")

    assert transport.send(outgoing(one.url)).status == 200
    assert (one.connections, proxy.connections) == (1, 0)
