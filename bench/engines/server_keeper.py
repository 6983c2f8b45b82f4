"""The process that keeps a server of ours: it starts it, says whether it lives, and takes it along.

    python -m bench.engines.server_keeper IN OUT PARENT     (started by ``vllm_server`` alone)

Messages as in ``protocol``: ``{"op": "start", "command": [...]}`` and ``{"op": "alive"}``, each answered with
``{"ok": exit status or null}`` or ``{"fatal": str}``.

Rules of this module:

- A server starts processes of its own, which would outlive it. They all belong to the session that this
  process leads, and to its process group.
- When the driver is gone, whatever way it went, the request pipe is closed: then the whole group is killed,
  this process last of all.
- SIGTERM is passed on to the server, which gets ``_GRACE_S`` seconds; then the group is killed too.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import BinaryIO, NoReturn

from bench.engines.protocol import decode, encode

_GRACE_S = 5.0


class Keeper:
    """The server of this process, once it is started."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[bytes] | None = None

    def start(self, command: Sequence[str]) -> None:
        """Start the server in our process group; what it writes goes where ours goes."""
        self._server = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def status(self) -> int | None:
        """The server's exit status; ``None`` while it lives."""
        return None if self._server is None else self._server.poll()

    def stop(self) -> None:
        """Ask the server to end, and wait a little for it."""
        if self._server is not None and self._server.poll() is None:
            self._server.terminate()
            try:
                self._server.wait(_GRACE_S)
            except subprocess.TimeoutExpired:
                return  # the group is killed next


def end_all() -> NoReturn:
    """Kill the process group, this process included."""
    os.killpg(os.getpgrp(), signal.SIGKILL)
    raise SystemExit(1)


def serve(keeper: Keeper, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the driver closes its end."""
    for line in requests:
        message = decode(line)
        try:
            if message["op"] == "start":
                keeper.start(message["command"])
            answer: dict[str, object] = {"ok": keeper.status()}
        except OSError as error:
            answer = {"fatal": f"{type(error).__name__}: {error}"}
        answers.write(encode(answer))
        answers.flush()


def main(argv: list[str]) -> int:
    """Serves until the request pipe is closed, then ends everything."""
    receive, send = int(argv[1]), int(argv[2])
    for descriptor in (receive, send):
        os.set_inheritable(descriptor, False)  # a server that held the pipe open would hide our death
    keeper = Keeper()

    def terminate(number: int, _frame: object) -> NoReturn:
        keeper.stop()
        end_all()

    signal.signal(signal.SIGTERM, terminate)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides what Ctrl-C means
    with os.fdopen(receive, "rb") as requests, os.fdopen(send, "wb") as answers:
        try:
            serve(keeper, requests, answers)
        finally:
            keeper.stop()
            end_all()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv))
