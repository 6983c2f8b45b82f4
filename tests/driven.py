"""A plan driven through the runner on the fake engine, engine after engine, and what was written about it.

Loaded by path (fixture ``driven`` in tests/conftest.py): test modules cannot import each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bench.engines.base import Engine
from bench.engines.registry import start_engine
from bench.engines.start import EngineStart
from bench.planner import Plan
from bench.recorder import Recorder
from bench.records import CellState, RequestRow, ResponseRow
from bench.records_io import read_rows
from bench.resume import Progress
from bench.run_store import RunFolder
from bench.runner import GroupRunner
from bench.specs import RunSpec
from bench.tokenizers import ByteTokenizer
from capsules.store import MemoryStore


class Bench:
    """Runs a plan, engine after engine, and reads back what was written."""

    def __init__(self, spec: RunSpec, plan: Plan, folder: RunFolder) -> None:
        self.spec, self.plan, self.folder = spec, plan, folder
        self.store = MemoryStore()
        self.wrap: Callable[[Engine], Engine] = lambda engine: engine

    def engine(self, *, prefix_caching: bool, **env: str) -> Engine:
        start = EngineStart(
            spec=replace(self.spec.engine, env=tuple(env.items())),
            model=self.spec.model,
            folder=None,
            prefix_caching=prefix_caching,
            log=self.folder.path / "engine.log",
            tokenizer=ByteTokenizer(),
        )
        return self.wrap(start_engine(start))

    def drive(self, progress: Progress | None = None, **env: str) -> Progress:
        progress = progress or Progress()
        with Recorder(self.folder, self.store, progress.attempts) as recorder:
            for group in self.plan.groups:
                engine = self.engine(prefix_caching=group.prefix_caching, **env)
                GroupRunner(
                    engine=engine,
                    group=group,
                    plan=self.plan,
                    progress=progress,
                    recorder=recorder,
                    concurrency=self.spec.concurrency,
                    advance=lambda n: None,
                ).run()
        return progress

    @property
    def requests(self) -> list[RequestRow]:
        return read_rows(self.folder.requests, RequestRow)

    @property
    def answers(self) -> dict[str, ResponseRow]:
        return {row.request_id: row for row in read_rows(self.folder.responses, ResponseRow)}

    @property
    def cells(self) -> dict[tuple[str, str], CellState]:
        return {(row.cell_id, row.phase): row for row in read_rows(self.folder.cells, CellState)}

    def measured(self, cell_id: str, phase: str = "quality") -> list[int | None]:
        return [
            self.answers[row.request_id].measured_cached
            for row in self.requests
            if (row.cell_id, row.phase) == (cell_id, phase)
        ]
