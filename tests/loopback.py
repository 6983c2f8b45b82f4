"""A provider on 127.0.0.1 that answers as it is told and keeps every byte that reached it.

Loaded by path (fixture ``loopback`` in tests/conftest.py). Raw sockets: what an HTTP library would tidy up is
what is tested.
"""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator

Act = Callable[["Server", socket.socket], None]


def reply(status: int = 200, body: bytes = b'{"ok":1}', *headers: str) -> bytes:
    """A whole HTTP reply."""
    lines = [f"HTTP/1.1 {status} Told", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def says(data: bytes) -> Act:
    """Answers with these bytes and closes."""
    return lambda server, peer: peer.sendall(data)


def drips(data: bytes, seconds: float = 0.03) -> Act:
    """Answers a byte at a time, each well within any time-out of a single read."""

    def act(server: Server, peer: socket.socket) -> None:
        for byte in data:
            if server.closing.wait(seconds):
                return
            peer.sendall(bytes([byte]))

    return act


def waits(server: Server, peer: socket.socket) -> None:
    """Never answers; returns when the other side has gone, or the server is closed."""
    peer.settimeout(0.02)
    while not server.closing.is_set():
        with contextlib.suppress(TimeoutError):
            if not peer.recv(1):
                return


class Server:
    """Listens until it is closed.

    Attributes:
        received: Every byte, of all connections.
        connections: How many there were.
        request: The one that is answered now.
    """

    def __init__(
        self, act: Act | bytes = b"", *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
    ) -> None:
        self.act: Act = says(act or reply()) if isinstance(act, bytes) else act
        self.received = b""
        self.request = b""
        self.connections = 0
        self.closing = threading.Event()
        self._tls = tls
        self._socket = socket.create_server((host, 0), family=socket.AF_INET)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://{host}:{self.port}"
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            with peer, contextlib.suppress(OSError):  # whoever hangs up in the middle does so
                self._serve(peer)

    def _serve(self, peer: socket.socket) -> None:
        peer.settimeout(5)
        if self._tls is not None:
            peer = self._tls.wrap_socket(peer, server_side=True)
        with peer:
            request = b""
            while not _whole(request):
                more = peer.recv(65_536)
                if not more:
                    break
                request += more
                self.received += more
            if request:
                self.request = request
                self.act(self, peer)

    def close(self) -> None:
        """Stops listening and waits for the last connection."""
        self.closing.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(timeout=10)
        assert not self._thread.is_alive()


def _whole(request: bytes) -> bool:
    head, found, body = request.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: *([0-9]+)", head)
    return bool(found) and len(body) >= int(length[1] if length else 0)


@contextlib.contextmanager
def serving(*acts: Act | bytes, host: str = "127.0.0.1") -> Iterator[list[Server]]:
    """Servers that are closed at the end."""
    servers = [Server(act, host=host) for act in acts]
    try:
        yield servers
    finally:
        for server in servers:
            server.close()
