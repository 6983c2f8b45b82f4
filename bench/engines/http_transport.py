"""The transport over HTTP: one POST to the endpoint that the decision pins, and nothing else.

Rules that this module owns:

* The address is that of the ``Outgoing``, of the form that ``endpoint`` accepts; there is no base URL to set,
  and no environment is read: no proxy, no ``netrc``, no key log. Certificates are verified for the name of
  the host.
* After connecting, the peer is compared with the host: an address must be that address, ``localhost`` must
  loop back, any other name must be the one that the certificate was verified for.
* Nothing is followed: every 3xx is ``provider.route.unlisted``, whatever it points to.
* Nothing is unpacked: the reply is asked for as it is, and an encoded one is malformed. It is read up to a
  cap, within one deadline from the request to the last byte of the reply, headers included.
* A stream is handed on read by read, each stamped with the monotonic time since the request was written, the
  moment that it was read: nothing waits for the rest of the body.
* A control call (health, counters, a reset) has no body at all, so it can carry nothing.
* Credentials belong to a provider and go to no other. No error holds what was sent or received.
"""

from __future__ import annotations

import http.client
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from bench.engines.endpoint import Target, plain_path, target_of
from bench.engines.http_call import (
    EMPTY,
    MALFORMED,
    REFUSED,
    SECONDS,
    TIMEOUT,
    TOO_LARGE,
    UNREACHABLE,
    Call,
    HttpReply,
    call_of,
    checked_header,
    code_of,
)
from bench.engines.http_connection import connected, connection_to, deadline, is_peer, system_roots
from capsules.delivery import UNLISTED
from capsules.egress import Outgoing

MAX_REPLY_BYTES = 16 << 20
_MAX_EXPLAINED = 1 << 16
_MAX_READ = 1 << 16

R = TypeVar("R")
Explain = Callable[[int, bytes], str | None]
Take = Callable[[int, bytes], bool]  # microseconds since the request, what was read -> whether to read on


class HttpTransport:
    """Sends what was released to where the policy says. Holds no state between calls.

    Args:
        timeout_s: Deadline of one exchange; connecting to an address and a TLS handshake each have as long.
        max_reply_bytes: Cap of the reply's body.
        path: Appended to the endpoint, such as ``/chat/completions``.
        credentials: Headers by provider id.
        tls: How certificates are verified; by default with the system's roots.
        explain: Given status and body of a refusal (4xx), a more telling code, or ``None``.

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
        explain: Explain | None = None,
    ) -> None:
        if not plain_path(path):
            raise ValueError(f"path: expected plain segments, each after a slash, found {path!a}")
        self._timeout_s = timeout_s
        self._max_reply_bytes = max_reply_bytes
        self._path = path
        self._credentials = {
            provider: tuple(checked_header(provider, name, value) for name, value in headers)
            for provider, headers in (credentials or {}).items()
        }
        self._tls = system_roots() if tls is None else tls
        self._explain = explain
        if not self._tls.check_hostname:
            raise ValueError("tls: expected a context that verifies host names")

    def send(self, outgoing: Outgoing) -> HttpReply:
        """POST the body.

        Raises:
            TransportError: No reply that can be used; the code says why, and ``provider.route.unlisted``
                that nothing more may be sent.
            TypeError: Something else than an Outgoing.
        """
        call = call_of(outgoing, self._path)
        return self._run(call, lambda response, _: self._whole(call, response))

    def stream(self, outgoing: Outgoing, take: Take) -> None:
        """POST the body and hand on the reply as it comes.

        Args:
            outgoing: As ``send``.
            take: Gets every read with its time; returns False when it has seen the end.

        Raises:
            TransportError, TypeError: As ``send``.
        """
        call = call_of(outgoing, self._path)
        self._run(call, lambda response, began: self._parts(call, response, began, take))

    def control(self, provider: str, endpoint: str, path: str, method: str = "GET") -> HttpReply:
        """Ask a server about itself; the request has no body.

        Args:
            provider: Whose credentials go along.
            endpoint: Where its interface is.
            path: Put in the place of the endpoint's own path, such as ``/health``.
            method: ``GET`` or ``POST``.

        Raises:
            TransportError: As ``send``; an empty reply is one here.
        """
        call = Call(endpoint=endpoint, provider=provider, method=method, path=path, root=True)
        return self._run(call, lambda response, _: self._whole(call, response, empty=True))

    def _run(self, call: Call, read: Callable[[http.client.HTTPResponse, float], R]) -> R:
        target = target_of(call.endpoint)
        if target is None:
            raise call.failed(UNLISTED, "expected an endpoint with a plain http(s) address")
        code, why = "", ""
        connection = connection_to(target, self._tls)
        try:
            return self._exchange(connection, target, call, read)
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
        raise call.failed(code, why)

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        target: Target,
        call: Call,
        read: Callable[[http.client.HTTPResponse, float], R],
    ) -> R:
        sock = connected(connection, target, self._tls, self._timeout_s)
        with deadline(sock, self._timeout_s):
            if not is_peer(sock, target):
                raise call.failed(UNLISTED, "expected the endpoint's host as peer, found another")
            began = time.monotonic()
            self._request(connection, target, call)
            with connection.getresponse() as response:
                self._require_usable(call, response)
                return read(response, began)

    def _require_usable(self, call: Call, response: http.client.HTTPResponse) -> None:
        code = code_of(response.status, response.headers.get("Content-Encoding", "identity"))
        if code == REFUSED and self._explain is not None:
            code = self._explain(response.status, response.read(_MAX_EXPLAINED)) or code
        if code is not None:
            wait = response.headers.get("Retry-After", "")
            raise call.failed(
                code,
                f"status {response.status}",
                status=response.status,
                retry_after_s=int(wait) if SECONDS.fullmatch(wait) else None,
            )

    def _whole(self, call: Call, response: http.client.HTTPResponse, *, empty: bool = False) -> HttpReply:
        body = response.read(self._max_reply_bytes + 1)
        if len(body) > self._max_reply_bytes:
            raise call.failed(TOO_LARGE, f"expected at most {self._max_reply_bytes} bytes")
        if response.length:  # the body ended before its Content-Length; read(amount) does not mind
            raise call.failed(MALFORMED, "the reply ended early")
        if not body.strip() and not empty:
            raise call.failed(EMPTY, f"status {response.status} without a body")
        return HttpReply(status=response.status, body=body)

    def _parts(self, call: Call, response: http.client.HTTPResponse, began: float, take: Take) -> None:
        total, more = 0, True
        while more and (data := response.read1(_MAX_READ)):
            at = round((time.monotonic() - began) * 1_000_000)
            total += len(data)
            if total > self._max_reply_bytes:
                raise call.failed(TOO_LARGE, f"expected at most {self._max_reply_bytes} bytes")
            more = take(at, data)
        if more and response.length:
            raise call.failed(MALFORMED, "the reply ended early")
        if not total:
            raise call.failed(EMPTY, f"status {response.status} without a body")

    def _request(self, connection: http.client.HTTPConnection, target: Target, call: Call) -> None:
        path = call.path if call.root else target.path + call.path
        connection.putrequest(call.method, path or "/", skip_accept_encoding=True)
        for name, value in (
            ("Accept-Encoding", "identity"),
            ("Connection", "close"),
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(call.body))),
            *self._credentials.get(call.provider, ()),
        ):
            connection.putheader(name, value)
        connection.endheaders(call.body)
