"""Checks every name of a config against its registry before any work is done."""

from __future__ import annotations

from bench.build.registry import require_names
from bench.engines.registry import require_engines
from bench.specs import RunSpec
from tasks.registry import resolve_task


def check_names(spec: RunSpec) -> None:
    """Resolve every name of a run.

    Raises:
        RegistryError, TaskError: A name leads nowhere; the message lists the valid ones.
    """
    resolve_task(spec.task.name)
    require_engines(spec)
    for arm in spec.arms:
        require_names(arm)
