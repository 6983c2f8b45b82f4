"""A run as its files tell it: everything that scores and report are made from, and nothing else.

Rules that this module owns:

* Scoring and reporting read the folder, also at the end of a run, so that ``rescore`` and ``report``
  have nothing to rely on that a run does not store.
* planned = done + failed + skipped, counted from the rows; a run that is not there yet is *missing*
  some, and is not complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bench.config import load_config, to_spec
from bench.planner import expected_cells, skip_reason
from bench.plural import number_of
from bench.recorder import read_ids
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
from bench.records_io import read_rows, read_values
from bench.report.inputs import ExpectedCell, ReportInput
from bench.resume import last_answers
from bench.routing import by_sample
from bench.run_store import RunError, RunFolder, read_json
from bench.scorers.run import score_run
from bench.specs import RunSpec
from capsules.store import Store
from tasks.base import RefusedRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What became of the planned requests."""

    planned: int
    done: int
    failed: int
    skipped: Mapping[str, int]
    missing: int

    def to_value(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "planned": self.planned,
            "done": self.done,
            "failed": self.failed,
            "skipped": dict(sorted(self.skipped.items())),
        }


class StoredRun:
    """The rows of a run folder, read once.

    Raises:
        RunError, RowError, ConfigError: A file is missing or does not hold what it should.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.spec: RunSpec = to_spec(load_config(folder.config.read_text("utf-8")))
        self.facts = read_json(folder.facts)
        self.samples = read_rows(folder.samples, SampleRow)
        self.builds = read_rows(folder.builds, BuildRow)
        self.requests = read_rows(folder.requests, RequestRow)
        self.responses = read_rows(folder.responses, ResponseRow)
        self.cells = read_rows(folder.cells, CellState)
        self.refused = read_rows(folder.refused, RefusedRow)
        self.routes = read_rows(folder.routes, RouteRow)
        self.isolation = read_rows(folder.isolation, IsolationRow)
        self.engines = read_values(folder.engines)
        self.rebuilt = read_rows(folder.rebuilt, RebuiltRow)
        self.store: Store = folder.store(read_only=True)

    @property
    def built(self) -> bool:
        """Whether every prompt is built; before that nothing is planned."""
        return self.folder.builds.is_file()

    @cached_property
    def expected(self) -> tuple[ExpectedCell, ...]:
        """The plan's (sample, cell) pairs."""
        return expected_cells(self.spec, [row.sample_id for row in self.samples])

    @cached_property
    def unsent(self) -> Mapping[tuple[str, str], str]:
        """(sample_id, arm_id) -> code, of prompts that were built and may not be sent."""
        arms = {arm.arm_id: arm for arm in self.spec.arms}
        routes = by_sample(self.routes)
        found = {}
        for build in self.builds:
            key = (build.sample_id, build.arm_id)
            if build.status != "ok":
                continue
            if reason := skip_reason(self.spec, arms[build.arm_id], build.n_prompt, routes.get(key)):
                found[key] = reason
        return found

    def text(self, source: str) -> str:
        """The raw text of a stored source, verified."""
        return self.store.get(source).data.decode("utf-8")

    def ids(self, digest: str) -> Sequence[int]:
        """Stored token ids, verified."""
        return read_ids(self.store, digest)

    def score(self) -> list[ScoreRow]:
        """Score every expected (sample, cell, metric) from the stored bytes.

        Raises:
            ScoringError: The rows contradict each other.
        """
        return score_run(
            self.samples,
            self.builds,
            self.requests,
            self.responses,
            self.cells,
            self.text,
            {arm.arm_id: arm.contract for arm in self.spec.arms},
            self.expected,
            unsent=self.unsent,
        )

    def report_input(self, manifest: Mapping[str, object], scores: Sequence[ScoreRow]) -> ReportInput:
        """What the report is made from."""
        return ReportInput(
            manifest=manifest,
            spec=self.spec,
            expected=self.expected,
            samples=self.samples,
            builds=self.builds,
            requests=self.requests,
            responses=self.responses,
            cells=self.cells,
            scores=scores,
            texts=self.text,
            token_ids=self.ids,
            refused=self.refused,
            rebuilt=self.rebuilt,
            routes=self.routes,
            isolation=self.isolation,
            unsent=self.unsent,
        )

    def counts(self) -> Counts:
        """What became of every planned request."""
        unbuilt = {
            (row.sample_id, row.arm_id): (row.error or "build.failed").split(":", 1)[0]
            for row in self.builds
            if row.status != "ok"
        }
        requests = {(row.sample_id, row.cell_id, row.phase): row for row in self.requests}
        answers = last_answers(self.responses)
        void = {(cell.cell_id, cell.phase): cell.code or "cell.void" for cell in self.cells if cell.void}
        done = failed = missing = 0
        skipped: dict[str, int] = {}
        for cell in self.expected:
            key = (cell.sample_id, cell.arm_id)
            unsent = unbuilt.get(key) or self.unsent.get(key)
            for phase in cell.phases:
                request = requests.get((cell.sample_id, cell.cell_id, phase))
                answer = answers.get(request.request_id) if request else None
                if answer is not None:
                    done, failed = done + (answer.status == "ok"), failed + (answer.status != "ok")
                    continue
                reason = unsent or void.get((cell.cell_id, phase))
                if reason is None:
                    missing += 1
                else:
                    skipped[reason] = skipped.get(reason, 0) + 1
        planned = sum(len(cell.phases) for cell in self.expected)
        return Counts(planned=planned, done=done, failed=failed, skipped=skipped, missing=missing)

    def void(self) -> tuple[str, ...]:
        """Void cells, for people."""
        return tuple(sorted({f"{c.cell_id} ({c.phase}: {c.code})" for c in self.cells if c.void}))

    def require_finished(self) -> Counts:
        """The counts of a run that has nothing left to send.

        Raises:
            RunError: Requests are missing.
        """
        counts = self.counts()
        if counts.missing:
            lacking = f"{counts.missing} of {number_of(counts.planned, 'request')}"
            raise RunError(
                f"{self.folder.path} is not complete: {lacking} have no answer; "
                f"continue it with `capsule-bench resume {self.folder.path}`"
            )
        return counts
