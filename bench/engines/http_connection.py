"""Connections of the HTTP transport, which alone uses this: made, compared with the host, ended in time."""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from bench.engines.endpoint import Target
from capsules.delivery import TransportError


def connection_to(target: Target, tls: ssl.SSLContext) -> http.client.HTTPConnection:
    """A connection that is not open yet."""
    if target.scheme == "http":
        return http.client.HTTPConnection(target.host, target.port)
    return http.client.HTTPSConnection(target.host, target.port, context=tls)


def connected(
    connection: http.client.HTTPConnection, target: Target, tls: ssl.SSLContext, timeout_s: float
) -> socket.socket:
    """A connected socket; connecting and the handshake each have the deadline's time of their own."""
    sock = socket.create_connection((target.host, target.port), timeout=timeout_s)
    connection.sock = sock  # from here on connection.close() closes it
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if target.scheme == "https":
        sock = tls.wrap_socket(sock, server_hostname=target.host)
        connection.sock = sock
    return sock


def is_peer(sock: socket.socket, target: Target) -> bool:
    """Whether the other end is the host that the endpoint names."""
    peer = ipaddress.ip_address(sock.getpeername()[0])
    if target.address is not None:
        return peer == target.address
    if target.here:
        return peer.is_loopback
    return isinstance(sock, ssl.SSLSocket) and sock.server_hostname == target.host


def system_roots() -> ssl.SSLContext:
    """Like ``ssl.create_default_context``, which also writes session keys where an environment says."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # verifies certificate and host name
    context.load_default_certs()
    return context


@contextmanager
def deadline(sock: socket.socket, seconds: float) -> Iterator[None]:
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
