"""The HTTP transport on loopback: one pinned address, nothing followed, unpacked or read from outside."""

from __future__ import annotations

import gzip
import shutil
import socket
import ssl
import subprocess
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.engines.http_transport import HttpTransport
from capsules.delivery import TransportError
from capsules.egress import Outgoing

CANARY = b"canary-7f3a"


@pytest.fixture
def server(loopback: Any) -> Iterator[Callable[..., Any]]:
    """Starts servers and closes them."""
    started: list[Any] = []

    def start(act: Any = b"", **options: Any) -> Any:
        started.append(loopback.Server(act, **options))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def outgoing(routing: Any) -> Callable[..., Outgoing]:
    """A body that was let out to a provider at an endpoint."""

    def make(endpoint: str | None, provider: str = "cloud") -> Outgoing:
        s = routing.scene([routing.provider(provider, endpoint=endpoint)])
        released: Outgoing = s.outgoing(provider)
        return released

    return make


def code_of(transport: HttpTransport, what: Outgoing) -> str:
    """The code of the refusal; nothing of a request or a reply may be in it, or in what it came from."""
    with pytest.raises(TransportError) as caught:
        transport.send(what)
    text = "".join(traceback.format_exception(caught.value))
    error: BaseException | None = caught.value
    while error is not None:
        text += repr(error) + repr(error.args)
        error = error.__context__
    assert CANARY.decode() not in text
    assert what.body.decode() not in text
    return caught.value.code


@pytest.fixture
def transport() -> HttpTransport:
    return HttpTransport(timeout_s=5)


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
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], transport: HttpTransport, loopback: Any,
    status: int, where: str,
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
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], transport: HttpTransport, loopback: Any,
    status: int,
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
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], case: str
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
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], transport: HttpTransport
) -> None:
    one = server(lambda server, peer: None)
    assert code_of(transport, outgoing(one.url)) == "provider.reply.empty"


@pytest.mark.parametrize("how", ["silent", "drips a head", "drips a body"])
def test_the_deadline_is_that_of_the_whole_exchange(
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], loopback: Any, how: str
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
    outgoing: Callable[..., Outgoing], transport: HttpTransport
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert code_of(transport, outgoing(f"http://127.0.0.1:{port}")) == "provider.unreachable"
    assert code_of(transport, outgoing(f"https://{'a' * 70}.example")) == "provider.unreachable"


# ---- the address


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
    outgoing: Callable[..., Outgoing], transport: HttpTransport, monkeypatch: pytest.MonkeyPatch,
    endpoint: str | None,
) -> None:  # fmt: skip
    def no_socket(*args: object, **kwargs: object) -> Any:
        raise AssertionError("connected")

    what = outgoing(endpoint)
    monkeypatch.setattr(socket, "create_connection", no_socket)
    assert code_of(transport, what) == "provider.route.unlisted"


@pytest.mark.parametrize(("host", "seen"), [("127.0.0.1", False), ("localhost", True)])
def test_a_peer_that_is_not_the_host_gets_nothing(
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], transport: HttpTransport,
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
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], transport: HttpTransport,
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


def test_ipv6_loops_back_too(outgoing: Callable[..., Outgoing], transport: HttpTransport) -> None:
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


# ---- credentials


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


# ---- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for ``localhost`` that signs itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: HTTPS is not tested")
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    command += ["-keyout", str(key), "-out", str(cert), "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,DNS:llm.example"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return cert, key


@pytest.fixture
def secure(server: Callable[..., Any], certificate: tuple[Path, Path]) -> Any:
    """A server with that certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return server(tls=context)


def trusting(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(certificate[0])
    return context


def test_https_needs_a_certificate_for_the_name(
    secure: Any, outgoing: Callable[..., Outgoing], certificate: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))
    transport = HttpTransport(timeout_s=5, tls=trusting(certificate))
    connect = socket.create_connection
    monkeypatch.setattr(
        socket, "create_connection", lambda address, timeout: connect(("127.0.0.1", secure.port), timeout)
    )

    assert transport.send(outgoing(f"https://localhost:{secure.port}")).status == 200
    assert transport.send(outgoing("https://llm.example/v1")).status == 200
    assert b"\r\nHost: llm.example\r\n" in secure.received
    before = secure.received
    assert code_of(transport, outgoing("https://other.example")) == "provider.unreachable"  # not its name
    assert code_of(transport, outgoing("https://127.0.0.1")) == "provider.unreachable"  # nor its address
    strict = HttpTransport(timeout_s=5)  # the system does not know who signed it
    assert code_of(strict, outgoing("https://localhost")) == "provider.unreachable"
    assert secure.received == before
    assert not (tmp_path / "keys").exists()


def test_a_handshake_ends_in_time_and_no_plain_text_goes_before_it(
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], loopback: Any
) -> None:
    record = b"\x16\x03\x03\x40\x00" + b"\x02" * 300  # the beginning of a record of 16 KiB
    one = server(loopback.drips(record, 0.01))
    what = outgoing(one.url.replace("http:", "https:"))

    assert code_of(HttpTransport(timeout_s=0.3), what) == "provider.timeout"
    assert one.received
    assert what.body not in one.received


def test_tls_that_verifies_no_name_is_refused() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    with pytest.raises(ValueError, match="verifies host names"):
        HttpTransport(timeout_s=5, tls=context)
