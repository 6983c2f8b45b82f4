"""What a run will take, said before it starts: requests, a range of time, disk.

The constants are rounded from runs of Gemma 3 270M on two quiet cores (those for a GPU are guesses) and
are meant as an order of magnitude: the range spans a factor of four. An engine without constants has no
estimate of time.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from bench.compression.registry import SELF_INFORMATION
from bench.planner import Plan
from bench.plural import number_of
from bench.run_store import RunError
from bench.specs import RunSpec

_TIMED_ENGINE = "vllm"

# seconds of an engine start, of 1,000 uncached prompt tokens, of one decoding step of a whole wave
_CPU_START_S, _CPU_PREFILL_S, _CPU_STEP_S = 30.0, 0.8, 0.08
_GPU_START_S, _GPU_PREFILL_S, _GPU_STEP_S = 90.0, 0.05, 0.01

# seconds of 1,000 tokens through a lossy compressor on two quiet cores, and of its start
_COMPRESSORS = {SELF_INFORMATION: (3.0, _CPU_START_S), "llmlingua": (8.0, 20.0), "llmlingua2": (1.0, 20.0)}

_BYTES_PER_TOKEN = 7  # stored ids as JSON
_BYTES_PER_REQUEST = 3_000  # rows
_BYTES_FIXED = 3 << 20  # report, figures, tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An order of magnitude, not a promise."""

    requests: int
    low_s: int | None
    high_s: int | None
    disk_bytes: int

    def line(self) -> str:
        """For people."""
        if self.low_s is None or self.high_s is None:
            time = "no estimate of time for this engine"
        else:
            time = f"about {_minutes(self.low_s)} to {_minutes(self.high_s)}"
        return f"{number_of(self.requests, 'request', grouped=True)}, {time}, about {self.mib} MiB on disk"

    @property
    def mib(self) -> int:
        """Disk in MiB, at least 1."""
        return max(1, self.disk_bytes >> 20)

    def require_space(self, folder: Path) -> None:
        """Refuse a run whose folder cannot hold it.

        Raises:
            RunError: Less is free than the estimate.
        """
        free = shutil.disk_usage(folder).free
        if free < self.disk_bytes:
            raise RunError(
                f"the disk is too full for this run: about {self.mib} MiB needed, {free >> 20} MiB free"
            )


def estimate(spec: RunSpec, plan: Plan) -> Estimate:
    """Estimate a run from its plan."""
    requests = plan.requests
    tokens = sum(len(p.prompt.ids) for p in requests)
    disk = _BYTES_FIXED + tokens * _BYTES_PER_TOKEN + len(requests) * _BYTES_PER_REQUEST
    seconds = _seconds(spec, plan)
    return Estimate(
        requests=len(requests),
        low_s=None if seconds is None else round(seconds / 2),
        high_s=None if seconds is None else round(seconds * 2),
        disk_bytes=disk,
    )


def compression_time(name: str, tokens: int, engine: str) -> str:
    """How long a lossy compressor will take for so many tokens, for people; empty where nobody knows.

    Args:
        name: The compressor.
        tokens: What it reads.
        engine: The run's engine, which scores the texts for self_information.
    """
    if name not in _COMPRESSORS or (name == SELF_INFORMATION and engine != _TIMED_ENGINE):
        return ""
    per_thousand, start = _COMPRESSORS[name]
    seconds = start + tokens / 1000 * per_thousand
    return f", about {_minutes(round(seconds / 2))} to {_minutes(round(seconds * 2))} on a CPU"


def _seconds(spec: RunSpec, plan: Plan) -> float | None:
    if spec.engine.name != _TIMED_ENGINE:
        return None
    cpu = spec.engine.device == "cpu"
    start, prefill, step = (
        (_CPU_START_S, _CPU_PREFILL_S, _CPU_STEP_S) if cpu else (_GPU_START_S, _GPU_PREFILL_S, _GPU_STEP_S)
    )
    total = start * len(plan.groups)
    for p in plan.requests:
        uncached = len(p.prompt.ids) - (len(p.prompt.stable_ids) if p.cell.cache == "primed" else 0)
        total += uncached / 1000 * prefill
        share = 1 if p.phase == "latency" else spec.concurrency
        total += step * p.sampling.max_tokens / share
    return total


def _minutes(seconds: int) -> str:
    return f"{seconds} s" if seconds < 90 else f"{round(seconds / 60)} min"
