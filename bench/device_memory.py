"""Device memory around an engine: what an engine took must be free again before the next one starts.

An engine whose memory stays held would make the next one run smaller, or fail, without a word. Only
CUDA devices are asked, through ``nvidia-smi``; where it cannot be asked nothing is checked.
"""

from __future__ import annotations

import shutil
import subprocess
import time

from bench.run_store import RunError

_QUERY = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
TOLERANCE_MIB = 512
WAIT_S = 30.0


def used_mib() -> int | None:
    """Memory in use on all devices together, in MiB; ``None`` where nobody can say."""
    if shutil.which(_QUERY[0]) is None:
        return None
    try:
        done = subprocess.run(_QUERY, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = done.stdout.split()
    if done.returncode != 0 or not words or not all(word.isdigit() for word in words):
        return None
    return sum(int(word) for word in words)


def require_back(before: int | None, wait_s: float = WAIT_S) -> None:
    """Wait until device memory is back near what it was.

    Args:
        before: ``used_mib()`` before the engine started.
        wait_s: Seconds to wait; drivers free with a delay.

    Raises:
        RunError: It is not.
    """
    end = time.monotonic() + wait_s
    while before is not None:
        now = used_mib()
        if now is None or now <= before + TOLERANCE_MIB:
            return
        if time.monotonic() > end:
            raise RunError(
                f"device memory was not freed by the engine that was closed: {before} MiB were in use "
                f"before it, {now} MiB are now; not starting another"
            )
        time.sleep(0.5)
