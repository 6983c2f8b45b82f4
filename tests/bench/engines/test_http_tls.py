"""The HTTP transport over TLS: a certificate for the name, and nothing before the handshake."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.engines.http_transport import HttpTransport
from capsules.egress import Outgoing

Code = Callable[..., str]


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
    secure: Any, outgoing: Callable[..., Outgoing], certificate: tuple[Path, Path], code_of: Code,
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
    server: Callable[..., Any], outgoing: Callable[..., Outgoing], loopback: Any, code_of: Code
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
