"""What the machine is, for the manifest: facts that a reader needs to judge a latency.

Host facts belong to the run, never to a capsule. No host name, user, address or serial number is read.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

_NVIDIA_QUERY = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]


def hardware_facts() -> dict[str, str | int | None]:
    """CPU, cores, memory, GPU, kernel and Python of this machine; what cannot be read is None.

    Returns:
        ``cpu`` · ``cores`` (usable by this process) · ``cores_total`` · ``memory_gib`` · ``gpu`` (name,
        memory and driver of each, joined by ``; ``; None without one) · ``os`` · ``kernel`` · ``machine`` ·
        ``python``.
    """
    return {
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "cores_total": os.cpu_count(),
        "memory_gib": _memory_gib(),
        "gpu": gpu_facts(),
        "os": platform.system(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def gpu_facts() -> str | None:
    """Name, memory and driver of every GPU that ``nvidia-smi`` lists, None where it lists none."""
    if shutil.which(_NVIDIA_QUERY[0]) is None:
        return None
    try:
        result = subprocess.run(_NVIDIA_QUERY, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = [line.strip() for line in result.stdout.splitlines() if line.strip()]
    return "; ".join(lines) if result.returncode == 0 and lines else None


def _cpu_model() -> str | None:
    return _field(Path("/proc/cpuinfo"), "model name") or platform.processor() or None


def _memory_gib() -> int | None:
    total = _field(Path("/proc/meminfo"), "MemTotal")
    return round(int(total.split()[0]) / (1 << 20)) if total else None


def _field(path: Path, name: str) -> str | None:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon and key.strip() == name:
            return value.strip()
    return None
