"""What the report is made from: stored values only, never a clock, a host or an engine.

``ReportInput`` is filled by the runner after a run and by ``capsule-bench report`` from a run
folder; the same values give the same bytes.

Keys of ``manifest`` that the report reads (all optional: a missing one is shown as "not recorded"):

* ``run_id``, ``now``, ``config_digest``, ``unidata_version``, ``python``: strings.
* ``code``: ``{"commit": str, "dirty_digest": str | None}``.
* ``packages``: ``{distribution name: version}``.
* ``engines``: one mapping per started engine with the fields of ``bench.engines.base.EngineInfo``.
* ``dataset``: ``{"name", "revision", "license", "content_digest", "rows", "origin"}`` and ``repaired``:
  ``{class of repair: n}``.
* ``hardware``: ``{name: scalar}``, e.g. ``cpu``, ``cores``, ``memory_gib``, ``gpu``, ``os``.
* ``counts``: ``{"planned": n, "done": n, "failed": n, "skipped": {reason: n}}``.

Keys that change from one writing of the manifest to the next (digests of outputs, times) are never read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bench.records import (
    BuildRow,
    CellState,
    IsolationRow,
    RebuiltRow,
    RequestRow,
    ResponseRow,
    RouteRow,
    SampleRow,
    ScoreRow,
)
from bench.specs import RunSpec
from tasks.base import RefusedRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCell:
    """One (sample, cell) that the plan of the run holds, whether or not it was reached.

    Attributes:
        phases: ``quality``, ``latency`` or both. A quality metric has a row for every expected
            cell with ``quality``; a latency metric for every one with ``latency``.
    """

    sample_id: str
    arm_id: str
    cell_id: str
    phases: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInput:
    """Everything that a report shows or derives.

    Attributes:
        manifest: See the module docstring.
        expected: The planned (sample, cell) pairs, in plan order.
        texts: ContentId of a source -> its raw text.
        token_ids: ContentId of a stored id array -> the ids (prompt or output).
        routes: Who got the samples of the arms whose provider is ``policy``.
        isolation: Prompts that were asked for two projects.
        refused: Rows of the data set that did not become samples.
        unsent: (sample_id, arm_id) -> code, of prompts that were built and may not be sent.
        rebuilt: What a new process built again; empty where that was not tried.
    """

    manifest: Mapping[str, object]
    spec: RunSpec
    expected: Sequence[ExpectedCell]
    samples: Sequence[SampleRow]
    builds: Sequence[BuildRow]
    requests: Sequence[RequestRow]
    responses: Sequence[ResponseRow]
    cells: Sequence[CellState]
    scores: Sequence[ScoreRow]
    texts: Callable[[str], str]
    token_ids: Callable[[str], Sequence[int]]
    unsent: Mapping[tuple[str, str], str] = field(default_factory=dict)
    refused: Sequence[RefusedRow] = field(default=())
    rebuilt: Sequence[RebuiltRow] = field(default=())
    routes: Sequence[RouteRow] = field(default=())
    isolation: Sequence[IsolationRow] = field(default=())
