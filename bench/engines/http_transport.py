"""The transport over HTTP: one POST to the endpoint that the decision pins, and nothing else.

Rules that this module owns:

* The address is that of the ``Outgoing``; there is no base URL to set, and no environment is read: no proxy,
  no ``netrc``, no key log. ``http`` is for this machine alone (an address that loops back, or ``localhost``);
  any other host needs ``https`` with a certificate for its name.
* After connecting, the peer is compared with the host: an address must be that address, ``localhost`` must
  loop back, any other name must be the one that the certificate was verified for.
* Nothing is followed: every 3xx is ``provider.route.unlisted``, whatever it points to.
* Nothing is unpacked: the reply is asked for as it is, and an encoded one is malformed. It is read up to a
  cap, within one deadline from the request to the last byte of the reply, headers included.
* Credentials belong to a provider and go to no other. No error holds what was sent or received.
"""

from __future__ import annotations

import http.client
import ipaddress
import re
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from capsules.delivery import UNLISTED, TransportError
from capsules.egress import Outgoing

TIMEOUT = "provider.timeout"
UNREACHABLE = "provider.unreachable"
MALFORMED = "provider.reply.malformed"
EMPTY = "provider.reply.empty"
TOO_LARGE = "provider.reply.too_large"
RATE_LIMITED = "provider.rate_limited"
REFUSED = "provider.refused"
FAILED = "provider.failed"

MAX_REPLY_BYTES = 16 << 20

_ENDPOINT = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]{2,45}\]|[a-z0-9][a-z0-9.-]{0,252})(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(?:/[A-Za-z0-9._~-]*)*)"
)
_PORTS = {"http": 80, "https": 443}
_PATH = re.compile(r"(?:/[A-Za-z0-9._~-]+)*")
_HEADER_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_HEADER_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_OWN_HEADERS = frozenset(
    {"accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """What a provider answered with a status of 2xx: the body, as it came."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """An endpoint, taken apart."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def address(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
        """The address that the host is; ``None`` for a name."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None

    @property
    def here(self) -> bool:
        """Whether the host is this machine."""
        return self.host == "localhost" if self.address is None else self.address.is_loopback


class HttpTransport:
    """Sends what was released to where the policy says. Holds no state between calls.

    Args:
        timeout_s: Deadline of one exchange; connecting to an address and a TLS handshake each have as long.
        max_reply_bytes: Cap of the reply's body.
        path: Appended to the endpoint, such as ``/chat/completions``.
        credentials: Headers by provider id.
        tls: How certificates are verified; by default with the system's roots.

    Raises:
        ValueError: A path or a header that cannot be sent (named, without its value), or ``tls`` that does
            not verify host names.
    """

    def __init__(
        self,
        *,
        timeout_s: float,
        max_reply_bytes: int = MAX_REPLY_BYTES,
        path: str = "",
        credentials: Mapping[str, Sequence[tuple[str, str]]] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        if _PATH.fullmatch(path) is None or _dotted(path):
            raise ValueError(f"path: expected plain segments, each after a slash, found {path!a}")
        self._timeout_s = timeout_s
        self._max_reply_bytes = max_reply_bytes
        self._path = path
        self._credentials = {
            provider: tuple(_checked(provider, name, value) for name, value in headers)
            for provider, headers in (credentials or {}).items()
        }
        self._tls = _system_roots() if tls is None else tls
        if not self._tls.check_hostname:
            raise ValueError("tls: expected a context that verifies host names")

    def send(self, outgoing: Outgoing) -> HttpReply:
        """POST the body.

        Raises:
            TransportError: No reply that can be used; the code says why, and ``provider.route.unlisted``
                that nothing more may be sent.
            TypeError: Something else than an Outgoing.
        """
        if type(outgoing) is not Outgoing:
            raise TypeError(f"expected an Outgoing, found {type(outgoing).__name__}")
        target = _target(outgoing.endpoint)
        if target is None:
            raise _failed(UNLISTED, outgoing, "expected an endpoint with a plain http(s) address")
        code, why = "", ""
        connection = self._connection(target)
        try:
            return self._exchange(connection, target, outgoing)
        except TimeoutError:
            code, why = TIMEOUT, "no whole reply within the deadline"
        except http.client.RemoteDisconnected:
            code, why = EMPTY, "the connection was closed without a reply"
        except http.client.HTTPException as error:
            code, why = MALFORMED, type(error).__name__
        except (OSError, UnicodeError) as error:
            code, why = UNREACHABLE, type(error).__name__
        finally:
            connection.close()
        # raised here and not above: what the library's error quotes of the reply is no context of ours
        raise _failed(code, outgoing, why)

    def _connection(self, target: _Target) -> http.client.HTTPConnection:
        if target.scheme == "http":
            return http.client.HTTPConnection(target.host, target.port)
        return http.client.HTTPSConnection(target.host, target.port, context=self._tls)

    def _exchange(
        self, connection: http.client.HTTPConnection, target: _Target, outgoing: Outgoing
    ) -> HttpReply:
        sock = self._connected(connection, target)
        with _deadline(sock, self._timeout_s):
            if not _is_peer(sock, target):
                raise _failed(UNLISTED, outgoing, "expected the endpoint's host as peer, found another")
            self._post(connection, target, outgoing)
            with connection.getresponse() as response:
                code = _code_of(response)
                if code is not None:
                    raise _failed(code, outgoing, f"status {response.status}")
                body = response.read(self._max_reply_bytes + 1)
        if len(body) > self._max_reply_bytes:
            raise _failed(TOO_LARGE, outgoing, f"expected at most {self._max_reply_bytes} bytes")
        if response.length:  # the body ended before its Content-Length; read(amount) does not mind
            raise _failed(MALFORMED, outgoing, "the reply ended early")
        if not body.strip():
            raise _failed(EMPTY, outgoing, f"status {response.status} without a body")
        return HttpReply(status=response.status, body=body)

    def _connected(self, connection: http.client.HTTPConnection, target: _Target) -> socket.socket:
        """A connected socket; connecting and the handshake each have the deadline's time of their own."""
        sock = socket.create_connection((target.host, target.port), timeout=self._timeout_s)
        connection.sock = sock  # from here on connection.close() closes it
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if target.scheme == "https":
            sock = self._tls.wrap_socket(sock, server_hostname=target.host)
            connection.sock = sock
        return sock

    def _post(self, connection: http.client.HTTPConnection, target: _Target, outgoing: Outgoing) -> None:
        connection.putrequest("POST", target.path + self._path or "/", skip_accept_encoding=True)
        for name, value in (
            ("Accept-Encoding", "identity"),
            ("Connection", "close"),
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(outgoing.body))),
            *self._credentials.get(outgoing.provider, ()),
        ):
            connection.putheader(name, value)
        connection.endheaders(outgoing.body)


def _target(endpoint: str | None) -> _Target | None:
    """An endpoint taken apart; ``None`` if there is none or it is not of the plain form."""
    match = _ENDPOINT.fullmatch(endpoint or "")
    if match is None or _dotted(match["path"]):
        return None
    scheme, host = match["scheme"], match["host"]
    target = _Target(
        scheme=scheme,
        host=host.strip("[]"),
        port=int(match["port"] or _PORTS[scheme]),
        path=match["path"].rstrip("/"),
    )
    bad_literal = host.startswith("[") and target.address is None
    plain_to_others = scheme == "http" and not target.here
    return None if bad_literal or plain_to_others or not 0 < target.port < 65_536 else target


def _dotted(path: str) -> bool:
    return any(part in (".", "..") for part in path.split("/"))


def _is_peer(sock: socket.socket, target: _Target) -> bool:
    peer = ipaddress.ip_address(sock.getpeername()[0])
    if target.address is not None:
        return peer == target.address
    if target.here:
        return peer.is_loopback
    return isinstance(sock, ssl.SSLSocket) and sock.server_hostname == target.host


def _code_of(response: http.client.HTTPResponse) -> str | None:
    """Why a reply cannot be used, by its head."""
    if 300 <= response.status < 400:
        return UNLISTED
    if response.status == 429:
        return RATE_LIMITED
    if 400 <= response.status < 500:
        return REFUSED
    if response.status >= 500:
        return FAILED
    if response.status < 200 or response.headers.get("Content-Encoding", "identity").lower() != "identity":
        return MALFORMED
    return None


def _checked(provider: str, name: str, value: str) -> tuple[str, str]:
    if _HEADER_NAME.fullmatch(name) is None or name.lower() in _OWN_HEADERS:
        raise ValueError(f"credentials of {provider!r}: {name!a} is no header to set")
    if _HEADER_VALUE.fullmatch(value) is None:
        raise ValueError(f"credentials of {provider!r}: expected printable ASCII as the value of {name}")
    return name, value


def _system_roots() -> ssl.SSLContext:
    """Like ``ssl.create_default_context``, which also writes session keys where an environment says."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # verifies certificate and host name
    context.load_default_certs()
    return context


@contextmanager
def _deadline(sock: socket.socket, seconds: float) -> Iterator[None]:
    """End whatever waits on a socket when the time is over: a time-out of each read alone has no end.

    Raises:
        TimeoutError: The time was over, whatever else the end of the socket led to.
    """
    over = threading.Event()

    def end() -> None:
        over.set()
        with suppress(OSError):  # closed meanwhile
            # not sock.shutdown: an SSLSocket's would take its state from under a reader
            socket.socket.shutdown(sock, socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except TransportError:  # decided while there was time
        raise
    except Exception:
        if over.is_set():
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()
    if over.is_set():
        raise TimeoutError


def _failed(code: str, outgoing: Outgoing, why: str) -> TransportError:
    return TransportError(code, f"provider {outgoing.provider}: {why} (decision {outgoing.decision})")
