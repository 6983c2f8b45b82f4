"""What every task does last: settings checked, digest taken, refusals made fatal or kept.

- The content digest is the ContentId of the canonical JSON array of the rows used, in order:
  nothing of files, folders, times or batches enters it. With ``task.digest`` set, another
  digest is an error.
- A task without one usable sample is an error, never an empty table.
- ``task.strict`` makes the first refused row an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from blake3 import blake3

from capsules.canonical import canonical_bytes
from tasks.base import TaskData, TaskError, TaskSpec

T = TypeVar("T")


def option(spec: TaskSpec, name: str, default: T) -> T:
    """Return an option of the type of its default.

    Raises:
        TaskError: It is set and of another type.
    """
    value = spec.options.get(name, default)
    if type(value) is not type(default):
        expected, found = type(default).__name__, type(value).__name__
        raise TaskError(f"task.options.{name} of {spec.name}: expected {expected}, found {found}: {value!r}")
    return value


def count_option(spec: TaskSpec, name: str, default: int) -> int:
    """Return an option that is a whole number, not negative.

    Raises:
        TaskError: It is anything else.
    """
    value = option(spec, name, default)
    if value < 0:
        raise TaskError(f"task.options.{name} of {spec.name}: expected 0 or more, found {value}")
    return value


def only_options(spec: TaskSpec, *names: str) -> None:
    """Refuse options that the task does not know.

    Raises:
        TaskError: One is unknown; the message lists the known ones.
    """
    for name in spec.options:
        if name not in names:
            known = ", ".join(sorted(names)) or "none"
            raise TaskError(
                f"task.options.{name} of {spec.name}: unknown option; known: {known}. Where an experiment "
                f"sets it, take it out with ~task.options.{name}"
            )


def rows_digest(rows: Sequence[Mapping[str, object]]) -> str:
    """ContentId of the canonical JSON array of the rows, of which one at a time is encoded."""
    found = blake3(b"[")
    for number, row in enumerate(rows):
        found.update(b"," if number else b"")
        found.update(canonical_bytes(dict(row)))
    found.update(b"]")
    return f"b3:{found.hexdigest()}"


def finish(spec: TaskSpec, data: TaskData) -> TaskData:
    """Apply the rules of this module to a loaded task; refusals of strict data are errors.

    Raises:
        TaskError: No sample, a refused row under ``strict``, or another digest than pinned.
    """
    first = ""
    if data.refused:
        row = data.refused[0]
        first = f"{len(data.refused)} refused, the first: {row.row}{row.where}: {row.code}: {row.reason}"
    if data.refused and spec.strict:
        raise TaskError(f"task {spec.name} is strict and has rows that cannot become samples: {first}")
    if not data.samples:
        raise TaskError(f"task {spec.name} has no sample in {data.origin}" + (f": {first}" if first else ""))
    if spec.digest is not None and spec.digest != data.content_digest:
        raise TaskError(
            f"task {spec.name}: expected the rows {spec.digest} (task.digest), found {data.content_digest} "
            f"over {data.rows} rows of {data.origin}"
        )
    return replace(data, repaired=dict(data.repaired))
