"""The engine's processes: how they are named, found and ended.

Rules of this module:

- An engine is one session of its own (``start_new_session``): its process id is its session id, and
  whatever it starts stays in that session. "The engine has ended" means: no living process has that session
  id.
- A process id alone proves nothing (ids are used again). A record also holds the start time of the process
  and the boot it belongs to; for sessions whose first process is gone, a random token in the environment of
  the others.
- Ending is always the same: SIGTERM to the first process, at most ``grace_s`` seconds, then SIGKILL to all,
  then a check that none is left.

Linux only: ``/proc`` is read.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.engines.base import EngineError

TOKEN_VARIABLE = "CAPSULE_ENGINE_TOKEN"
TMP_PREFIX = "capsule-engine-"
GRACE_S = 15.0
_POLL_S = 0.05
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRecord:
    """An engine's first process, in a form that can be written down before it is ready.

    Attributes:
        pid: Process, group and session id.
        started: ``<boot id>:<start ticks>`` of the process.
        token: Random hex in the environment of every process of the engine.
        tmp_dir: The engine's own temporary folder, deleted when it ends.
    """

    pid: int
    started: str
    token: str
    tmp_dir: str

    def to_value(self) -> dict[str, object]:
        """Plain JSON data."""
        return {"pid": self.pid, "started": self.started, "token": self.token, "tmp_dir": self.tmp_dir}

    @classmethod
    def from_value(cls, value: Mapping[str, object]) -> ProcessRecord:
        """Reads ``to_value``'s data.

        Raises:
            EngineError: A field is missing or of another type.
        """
        pid, rest = value.get("pid"), [value.get(key) for key in ("started", "token", "tmp_dir")]
        if type(pid) is not int or pid <= 1 or not all(isinstance(item, str) and item for item in rest):
            raise EngineError(f"not an engine process record: {dict(value)!r}")
        started, token, tmp_dir = (str(item) for item in rest)
        return cls(pid=pid, started=started, token=token, tmp_dir=tmp_dir)


def die_with_parent(parent: int) -> None:
    """Asks the kernel to kill this process when its parent dies, and ends now if it is dead already.

    Args:
        parent: The parent's process id as it said it itself: by now ours may be another's child.

    Raises:
        SystemExit: The parent is gone.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent:
        raise SystemExit("the parent process died first")


def process_record(pid: int, *, token: str, tmp_dir: str) -> ProcessRecord:
    """The record of a living process.

    Raises:
        EngineError: There is no such process.
    """
    started = _started(pid)
    if started is None:
        raise EngineError(f"engine process {pid} ended before it could be recorded")
    return ProcessRecord(pid=pid, started=started, token=token, tmp_dir=tmp_dir)


def session_members(session: int) -> list[int]:
    """Living processes (zombies do not count) of a session."""
    members = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            stat = _stat(int(entry))
            if stat is not None and stat.session == session and stat.state not in "ZX":
                members.append(int(entry))
    return sorted(members)


def find_strays(records: Iterable[ProcessRecord]) -> list[ProcessRecord]:
    """Those of ``records`` whose engine still lives, in part or as a whole."""
    return [record for record in records if _lives(record)]


def end_stray(record: ProcessRecord, *, grace_s: float = GRACE_S) -> None:
    """Ends what is left of a recorded engine and removes its temporary folder.

    Raises:
        EngineError: A process survived SIGKILL.
    """
    if _lives(record):
        end_group(record.pid, grace_s=grace_s)
    remove_tmp(record.tmp_dir)


def end_group(pid: int, *, grace_s: float = GRACE_S) -> None:
    """Ends the session that ``pid`` leads, whole.

    The caller answers for ``pid`` (a child that it has not waited for yet, or a record that ``find_strays``
    returned).

    Raises:
        EngineError: A process of the session is left after SIGKILL.
    """
    if _alive(pid):
        _signal(pid, signal.SIGTERM)
        _wait(lambda: not _alive(pid), grace_s)
    with contextlib.suppress(ProcessLookupError):  # the whole group is gone already: what we want
        os.killpg(pid, signal.SIGKILL)
    # A member may have moved to a process group of its own; the session still tells.
    for member in session_members(pid):
        _signal(member, signal.SIGKILL)
    if not _wait(lambda: not session_members(pid), 10.0):
        raise EngineError(f"engine processes survived SIGKILL: {session_members(pid)} (session {pid})")


def remove_tmp(tmp_dir: str) -> None:
    """Deletes an engine's temporary folder; refuses any path that this module did not name."""
    path = Path(tmp_dir)
    if (
        path.name.startswith(TMP_PREFIX)
        and path.parent == Path(tempfile.gettempdir())
        and not path.is_symlink()
    ):
        shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Stat:
    state: str
    session: int
    start_ticks: int


def _stat(pid: int) -> _Stat | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field is the name in parentheses and may hold anything: fields are counted after
    # its last ")".
    fields = text.rpartition(")")[2].split()
    return _Stat(state=fields[0], session=int(fields[3]), start_ticks=int(fields[19]))


def _started(pid: int) -> str | None:
    stat = _stat(pid)
    if stat is None:
        return None
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot}:{stat.start_ticks}"


def _alive(pid: int) -> bool:
    stat = _stat(pid)
    return stat is not None and stat.state not in "ZX"


def _lives(record: ProcessRecord) -> bool:
    if _alive(record.pid):
        return _started(record.pid) == record.started
    return any(_has_token(member, record.token) for member in session_members(record.pid))


def _has_token(pid: int, token: str) -> bool:
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False
    return f"{TOKEN_VARIABLE}={token}".encode() in environment.split(b"\0")


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):  # it ended in between
        os.kill(pid, number)


def _wait(done: Callable[[], bool], limit_s: float) -> bool:
    end = time.monotonic() + limit_s
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(_POLL_S)
    return True
