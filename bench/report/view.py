"""A run as its report looks at it: rows by cell, arms by role, judged answers.

Rules of this module:

* Baselines are the arms with layout ``naive`` and ``naive_volatile``. An arm whose retrieval is
  ``gold`` or whose selection is ``oracle`` has seen the truth and is called an upper bound.
* Promises are compared in one *reference state*: the cache state that most arms have (on a tie
  primed before off before cold), because every arm's quality can be paired there.
* Intervals are over clusters of samples (``bench.metrics.clusters``), with the run's draws and seed.
* Everything is derived from ``ReportInput``; nothing is read from disk, clock or host.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from bench.metrics.answers import AnswerCounts, count_answers
from bench.metrics.bootstrap import Interval, bootstrap_means
from bench.metrics.clusters import Clusters, cluster_of, labels
from bench.metrics.paired import Difference, differences
from bench.metrics.series import Series, completed, counted
from bench.metrics.summary import Summary, by_cell, summarize
from bench.records import BuildRow, RequestRow, ResponseRow, ScoreRow
from bench.report.inputs import ReportInput
from bench.scorers.base import documents
from bench.scorers.index import RunIndex, index_run
from bench.scorers.judge import Judge, JudgedQuote, rewritten_texts
from bench.specs import ArmSpec

NAIVE_LAYOUTS = ("naive", "naive_volatile")
_STATE_ORDER = ("primed", "off", "cold", "served")


@dataclass(frozen=True, slots=True, kw_only=True)
class CellView:
    """One cell of the run, in the order of the configuration."""

    arm: ArmSpec
    state: str

    @property
    def cell_id(self) -> str:
        """``<arm_id>.<cache state>``."""
        return self.arm.cell_id(self.state)

    @property
    def label(self) -> str:
        """How the cell is named in figures and tables."""
        return f"{self.arm.arm_id} · {self.state}"


class RunView:
    """Everything that the sections of a report need."""

    def __init__(self, report: ReportInput) -> None:
        self.input = report
        self.index: RunIndex = index_run(
            samples=report.samples,
            builds=report.builds,
            requests=report.requests,
            responses=report.responses,
            cells=report.cells,
        )
        self.judge = Judge(report.texts)
        self.rows = by_cell(report.scores)

    @cached_property
    def arms(self) -> tuple[ArmSpec, ...]:
        """The arms that the plan holds, in the order of the configuration."""
        planned = {cell.arm_id for cell in self.input.expected}
        return tuple(arm for arm in self.input.spec.arms if arm.arm_id in planned)

    @cached_property
    def cells(self) -> tuple[CellView, ...]:
        """The cells that the plan holds."""
        planned = {cell.cell_id for cell in self.input.expected}
        views = (CellView(arm=arm, state=state) for arm in self.arms for state in arm.caches)
        return tuple(view for view in views if view.cell_id in planned)

    @cached_property
    def sample_ids(self) -> tuple[str, ...]:
        """Expected samples, in plan order."""
        return tuple(dict.fromkeys(cell.sample_id for cell in self.input.expected))

    @cached_property
    def reference_state(self) -> str:
        """The cache state in which promises are compared."""
        states = [cell.state for cell in self.cells]
        return max(_STATE_ORDER, key=lambda state: (states.count(state), -_STATE_ORDER.index(state)))

    @cached_property
    def baselines(self) -> tuple[ArmSpec, ...]:
        """The naive arms."""
        return tuple(arm for arm in self.arms if arm.layout in NAIVE_LAYOUTS)

    @cached_property
    def treatments(self) -> tuple[ArmSpec, ...]:
        """The arms that are no baseline."""
        return tuple(arm for arm in self.arms if arm.layout not in NAIVE_LAYOUTS)

    def reference_cell(self, arm: ArmSpec) -> CellView | None:
        """The arm's cell in the reference state, if the run has one."""
        return next(
            (c for c in self.cells if c.arm.arm_id == arm.arm_id and c.state == self.reference_state), None
        )

    def metric_rows(self, cell_id: str, metric: str) -> Sequence[ScoreRow]:
        """Rows of one cell and metric, in plan order."""
        return self.rows.get((cell_id, metric), ())

    def summary(self, cell_id: str, metric: str) -> Summary:
        """Headline, mean, bounds and counts."""
        return summarize(metric, self.metric_rows(cell_id, metric))

    def counted(self, cell: CellView, metric: str) -> Series:
        """The series behind the headline."""
        return counted(metric, cell.cell_id, self.metric_rows(cell.cell_id, metric))

    def completed(self, cell: CellView, metric: str) -> Series:
        """The series that pairs are made of."""
        return completed(metric, cell.cell_id, self.metric_rows(cell.cell_id, metric))

    @cached_property
    def clusters(self) -> Clusters:
        """Samples that are no independent draws, by what they share."""
        rows = self.input.samples
        return {row.sample_id: cluster_of((s for _, s in row.sources), row.sample_id) for row in rows}

    def intervals(self, series: Sequence[Series]) -> list[Interval | None]:
        """95 % intervals of the means of what each series knows."""
        spec = self.input.spec
        return bootstrap_means(
            [each.known for each in series],
            draws=spec.bootstrap,
            seed=spec.seed,
            clusters=[labels(each.known_ids, self.clusters) for each in series],
        )

    def differences(self, pairs: Sequence[tuple[Series, Series]]) -> list[Difference]:
        """Of each pair the first minus the second, on the samples that both know."""
        spec = self.input.spec
        return differences(pairs, draws=spec.bootstrap, seed=spec.seed, clusters=self.clusters)

    def answers(self, cell_id: str) -> AnswerCounts:
        """What became of the cell's expected answers."""
        return count_answers(self.metric_rows(cell_id, "exact_citation"))

    def build(self, sample_id: str, arm_id: str) -> BuildRow | None:
        """The built prompt, ``None`` if there is none."""
        row = self.index.builds.get((sample_id, arm_id))
        return row if row is not None and row.status == "ok" else None

    def builds(self, arm_id: str) -> Iterator[BuildRow]:
        """Built prompts of an arm, in sample order."""
        return (row for s in self.sample_ids if (row := self.build(s, arm_id)) is not None)

    def exchange(self, sample_id: str, cell_id: str, phase: str) -> tuple[RequestRow, ResponseRow] | None:
        """Request and last response, ``None`` if either is missing, failed, or its cell is void."""
        request = self.index.requests.get((sample_id, cell_id, phase))
        if request is None or (cell_id, phase) in self.index.void:
            return None
        response = self.index.responses.get(request.request_id)
        return (request, response) if response is not None and response.status == "ok" else None

    def judged(self, sample_id: str, cell: CellView) -> tuple[JudgedQuote, ...] | None:
        """The quotes of an answer with their verdicts, ``None`` without an answer."""
        build = self.build(sample_id, cell.arm.arm_id)
        exchange = self.exchange(sample_id, cell.cell_id, "quality")
        if build is None or exchange is None:
            return None
        sources = documents(self.index.samples[sample_id], build)
        return self.judge.answer(
            exchange[1].text, build.shown, sources, cell.arm.contract, rewritten_texts(build)
        )


def is_upper_bound(arm: ArmSpec) -> bool:
    """Whether the arm was given gold."""
    return arm.retrieval.name == "gold" or arm.selection.name == "oracle"


def role(arm: ArmSpec) -> str:
    """What an arm is in the comparison."""
    if is_upper_bound(arm):
        return "upper bound, sees gold"
    return "baseline" if arm.layout in NAIVE_LAYOUTS else "treatment"


def named(arm: ArmSpec) -> str:
    """The arm's name, with its role where that is not the usual one."""
    return f"{arm.arm_id} ({role(arm)})" if is_upper_bound(arm) or arm.layout in NAIVE_LAYOUTS else arm.arm_id
