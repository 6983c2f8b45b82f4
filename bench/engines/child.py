"""The driver's end of an engine process: start it, ask it, end it.

Rules of this module:

- The child leads a session of its own, writes its output to a file (never a pipe that somebody would have
  to drain) and talks over two pipes of its own (``protocol``).
- Every question has a time limit. A child that dies, hangs, or answers out of turn is ended with its whole
  session before the error is raised, and the error shows the last lines of its log.
- After any error, an interrupt included, the child is unusable: a half-read answer must never be taken for
  the next one.
- Linux kills the child when the *thread* that started it ends (``PR_SET_PDEATHSIG``): start it from a
  thread that outlives it.
"""

from __future__ import annotations

import os
import re
import secrets
import select
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.engines.base import EngineAbsentError, EngineError
from bench.engines.process import (
    GRACE_S,
    TMP_PREFIX,
    TOKEN_VARIABLE,
    ProcessRecord,
    end_group,
    process_record,
    remove_tmp,
)
from bench.engines.protocol import decode, encode

_LOG_LINES = 15
_CHUNK = 1 << 16
_TYPE = re.compile(r"[A-Za-z_]\w*(?=: )")


class Child:
    """One engine process.

    Args:
        command: What to run; the pipe ends and our process id are appended as three arguments.
        env: The whole environment, without the temporary folder and the token, which are added here.
        log: File that receives stdout and stderr (appended).
        on_process: Called with the process's record before anything is asked of it, so that it can be stored.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        log: Path,
        on_process: Callable[[ProcessRecord], None],
    ) -> None:
        self.log = log
        self._broken: str | None = None
        self._buffer = bytearray()
        self._tmp_dir = tempfile.mkdtemp(prefix=TMP_PREFIX)
        token = secrets.token_hex(16)
        child_in, self._to_child = os.pipe()
        self._from_child, child_out = os.pipe()
        try:
            with log.open("ab") as sink:
                self._process = subprocess.Popen(
                    [*command, str(child_in), str(child_out), str(os.getpid())],
                    env={**env, "TMPDIR": self._tmp_dir, TOKEN_VARIABLE: token},
                    stdin=subprocess.DEVNULL,
                    stdout=sink,
                    stderr=subprocess.STDOUT,
                    pass_fds=(child_in, child_out),
                    start_new_session=True,
                )
        except OSError as error:
            self._close_pipes()
            remove_tmp(self._tmp_dir)
            problem = f"cannot start the engine process: {error.strerror or error}"
            raise EngineError(problem, str(error)) from error
        finally:
            os.close(child_in)
            os.close(child_out)
        os.set_blocking(self._to_child, False)
        try:
            self.record = process_record(self._process.pid, token=token, tmp_dir=self._tmp_dir)
            on_process(self.record)
        except BaseException:
            self.close()
            raise

    def ask(self, message: Mapping[str, object], *, limit_s: float, what: str, starting: bool = False) -> Any:
        """Sends one message and returns the value of its answer.

        Args:
            message: What ``protocol`` defines.
            limit_s: Seconds for the whole exchange.
            what: The act in words, for errors.
            starting: Whether the engine is being started by it.

        Raises:
            EngineError: The child died, answered nothing in time, or reported a fatal error; it
                has been ended. ``EngineAbsentError``: it lives but did not start.
        """
        kind, said = EngineError, ""
        if self._broken is not None:
            raise EngineError(f"the engine is no longer usable: {self._broken}")
        end = time.monotonic() + limit_s
        try:
            self._write(encode(message), end)
            answer = decode(self._read_line(end))
            if "fatal" in answer:
                raise _fatal(str(answer["fatal"]))
            return answer["ok"]
        except TimeoutError:
            problem = f"no answer within {limit_s:g} s"
            kind = EngineAbsentError if starting else EngineError
        except (EOFError, BrokenPipeError):
            problem = f"the engine process ended ({self._exit_words()})"
        except EngineError as error:
            problem, said = error.problem, f"{error.shown}\n" if error.shown else ""
            kind = EngineAbsentError if starting else EngineError
        except BaseException as error:
            self._broken = f"interrupted while {what} ({type(error).__name__})"
            raise
        self._broken = f"{what}: {problem}"
        self.close()
        raise kind(f"{what}: {problem}", said + last_lines(self.log))

    def close(self, *, grace_s: float = GRACE_S) -> None:
        """Ends the process with its whole session and removes its temporary folder. May be called again.

        Raises:
            EngineError: A process survived SIGKILL.
        """
        if self._broken is None:
            self._broken = "closed"
        if self._process.returncode is None:
            # The process is not waited for until its session is empty: that keeps its id from being used
            # again.
            end_group(self._process.pid, grace_s=grace_s)
            self._process.wait()
        self._close_pipes()
        remove_tmp(self._tmp_dir)

    def _close_pipes(self) -> None:
        for name in ("_to_child", "_from_child"):
            descriptor = getattr(self, name)
            if descriptor >= 0:
                os.close(descriptor)
                setattr(self, name, -1)

    def _write(self, data: bytes, end: float) -> None:
        view = memoryview(data)
        while view:
            self._wait_for(self._to_child, select.POLLOUT, end)
            try:
                view = view[os.write(self._to_child, view) :]
            except BlockingIOError:
                continue  # a pipe may take less than poll promised: ask again

    def _read_line(self, end: float) -> bytes:
        while (cut := self._buffer.find(b"\n")) < 0:
            self._wait_for(self._from_child, select.POLLIN, end)
            data = os.read(self._from_child, _CHUNK)
            if not data:
                raise EOFError
            self._buffer += data
        line = bytes(self._buffer[:cut])
        del self._buffer[: cut + 1]
        return line

    @staticmethod
    def _wait_for(descriptor: int, event: int, end: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        if not poll.poll(max(0.0, end - time.monotonic()) * 1000):
            raise TimeoutError

    def _exit_words(self) -> str:
        # Its pipe is closed, so it is ending; peeking leaves it to be waited for after its session is empty.
        end = time.monotonic() + 5
        while time.monotonic() < end:
            state = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if state is not None:
                words = "exit status" if state.si_code == os.CLD_EXITED else "signal"
                return f"{words} {state.si_status}"
            time.sleep(0.02)
        return "still running without its pipe"


def _fatal(text: str) -> EngineError:
    """What a worker said of its end: only its exception's type is sure to name no folder of this machine."""
    found = _TYPE.match(text)
    return EngineError(found[0] if found else "a fatal error", f"It said: {text}")


def last_lines(log: Path) -> str:
    """The end of an engine's log, for error messages."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return f"Its log {log} does not exist."
    lines = [line for line in text.splitlines() if line.strip()][-_LOG_LINES:]
    if not lines:
        return f"Its log {log} is empty."
    return f"Last lines of {log}:\n" + "\n".join(f"  | {line[:300]}" for line in lines)
