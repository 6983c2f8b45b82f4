"""Scores a whole run: one row for every expected (sample, cell, metric), whatever happened.

Rules of this module:

* A row exists for every metric of every expected phase, in plan order, then in the order of the
  metric list. Nothing that failed leaves the table.
* No prompt: ``error`` for all metrics. No answer, or an engine error: ``error`` for what rests on
  the answer; what rests on the prompt alone stays. A void (cell, phase): ``void`` for everything
  that rests on its answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from bench.metrics.names import METRICS
from bench.records import BuildRow, CellState, RequestRow, ResponseRow, SampleRow, ScoreRow
from bench.report.inputs import ExpectedCell
from bench.scorers.base import Case, Exchange, Score, Scorer, ScoringError
from bench.scorers.index import RunIndex, index_run
from bench.scorers.judge import Judge
from bench.scorers.registry import SCORERS
from bench.specs import ContractSpec
from capsules.codes import CODE_PATTERN, CODES

_LEADING_CODE = re.compile(rf"{CODE_PATTERN}(?![\w.])")
Failure = tuple[str, str]  # status, code


def score_run(
    samples: Sequence[SampleRow],
    builds: Sequence[BuildRow],
    requests: Sequence[RequestRow],
    responses: Sequence[ResponseRow],
    cells: Sequence[CellState],
    texts: Callable[[str], str],
    contract: Mapping[str, ContractSpec],
    expected: Sequence[ExpectedCell],
    *,
    unsent: Mapping[tuple[str, str], str] = MappingProxyType({}),
    scorers: Mapping[str, Scorer] = SCORERS,
) -> list[ScoreRow]:
    """Score every expected (sample, cell).

    Args:
        samples: Rows of the run; these and the next four in any order.
        builds: One row a (sample, arm).
        requests: One row a (sample, cell, phase) that was sent.
        responses: One row an attempt.
        cells: What the engine's counters say of each (cell, phase).
        texts: ContentId -> raw text, for every source of the samples.
        contract: arm_id -> output contract.
        expected: The plan.
        unsent: (sample_id, arm_id) -> code, of prompts that were built and may not be sent.
        scorers: Who yields which metrics; together exactly the closed list.

    Returns:
        One row a metric of every expected phase, in plan order.

    Raises:
        ScoringError: The rows contradict each other, or the scorers do not cover the metric list.
    """
    index = index_run(samples=samples, builds=builds, requests=requests, responses=responses, cells=cells)
    runner = _Runner(index, Judge(texts), contract, _by_basis(scorers), unsent)
    return [row for cell in expected for row in runner.rows(cell)]


class _Runner:
    """Scores cells one by one; scores of equal inputs are computed once."""

    def __init__(
        self,
        index: RunIndex,
        judge: Judge,
        contract: Mapping[str, ContractSpec],
        scorers: Mapping[str, Sequence[Scorer]],
        unsent: Mapping[tuple[str, str], str],
    ) -> None:
        self._index = index
        self._judge = judge
        self._contract = contract
        self._scorers = scorers
        self._unsent = unsent
        self._prompt_scores: dict[tuple[str, str], dict[str, Score]] = {}

    def rows(self, cell: ExpectedCell) -> list[ScoreRow]:
        """The rows of one expected cell."""
        scores: dict[str, Score] = {}
        if "quality" in cell.phases:
            scores |= self._of_prompt(cell)
            scores |= self._of_answer(cell, "quality", ("answer", "engine"))
        if "latency" in cell.phases:
            scores |= self._of_answer(cell, "latency", ("latency",))
        return [
            ScoreRow(
                sample_id=cell.sample_id,
                arm_id=cell.arm_id,
                cell_id=cell.cell_id,
                metric=name,
                status=scores[name].status,
                value=scores[name].value,
                code=scores[name].code,
            )
            for name, spec in METRICS.items()
            if spec.phase in cell.phases
        ]

    def _of_prompt(self, cell: ExpectedCell) -> dict[str, Score]:
        key = (cell.sample_id, cell.arm_id)
        if key not in self._prompt_scores:
            failure = self._build_failure(cell)
            self._prompt_scores[key] = self._run(cell, ("build",), None, failure)
        return self._prompt_scores[key]

    def _of_answer(self, cell: ExpectedCell, phase: str, bases: tuple[str, ...]) -> dict[str, Score]:
        exchange, failure = self._exchange(cell, phase)
        return self._run(cell, bases, exchange, failure)

    def _run(
        self, cell: ExpectedCell, bases: tuple[str, ...], exchange: Exchange | None, failure: Failure | None
    ) -> dict[str, Score]:
        scorers = [scorer for basis in bases for scorer in self._scorers[basis]]
        if failure is not None:
            status, code = failure
            names = [name for scorer in scorers for name in scorer.metrics]
            return {name: Score(metric=name, status=status, value=None, code=code) for name in names}
        case = self._case(cell, exchange)
        scores = {score.metric: score for scorer in scorers for score in scorer.score(case)}
        wanted = {name for scorer in scorers for name in scorer.metrics}
        if scores.keys() != wanted:
            raise ScoringError(f"expected scores of {sorted(wanted)}, found {sorted(scores)}")
        return scores

    def _case(self, cell: ExpectedCell, exchange: Exchange | None) -> Case:
        if cell.sample_id not in self._index.samples:
            raise ScoringError(f"expected a sample row for {cell.sample_id}, found none")
        if cell.arm_id not in self._contract:
            raise ScoringError(f"expected a contract for arm {cell.arm_id}, found {sorted(self._contract)}")
        return Case(
            sample=self._index.samples[cell.sample_id],
            build=self._index.builds[cell.sample_id, cell.arm_id],
            contract=self._contract[cell.arm_id],
            exchange=exchange,
            judge=self._judge,
        )

    def _build_failure(self, cell: ExpectedCell) -> Failure | None:
        build = self._index.builds.get((cell.sample_id, cell.arm_id))
        if build is None:
            return "error", "build.missing"
        return None if build.status == "ok" else ("error", leading_code(build.error, "build.failed"))

    def _exchange(self, cell: ExpectedCell, phase: str) -> tuple[Exchange | None, Failure | None]:
        failure = self._build_failure(cell)
        if failure is not None:
            return None, failure
        if (cell.cell_id, phase) in self._index.void:
            return None, ("void", self._index.void[cell.cell_id, phase])
        request = self._index.requests.get((cell.sample_id, cell.cell_id, phase))
        if request is None:
            return None, ("error", self._unsent.get((cell.sample_id, cell.arm_id), "request.missing"))
        response = self._index.responses.get(request.request_id)
        if response is None:
            return None, ("error", "response.missing")
        if response.status != "ok":
            return None, ("error", leading_code(response.error, "engine.error"))
        return Exchange(request=request, response=response), None


def leading_code(message: str | None, fallback: str) -> str:
    """The registered code that an error message begins with, else ``fallback``."""
    found = _LEADING_CODE.match(message or "")
    return found.group() if found and found.group() in CODES else fallback


def _by_basis(scorers: Mapping[str, Scorer]) -> dict[str, list[Scorer]]:
    """Scorers by basis.

    Raises:
        ScoringError: A metric of the closed list has no scorer or two, or a scorer names another
            metric or a basis that is not the metric's.
    """
    names = sorted(name for scorer in scorers.values() for name in scorer.metrics)
    if names != sorted(METRICS):
        raise ScoringError(f"expected each metric of {sorted(METRICS)} from one scorer, found {names}")
    groups: dict[str, list[Scorer]] = {"build": [], "answer": [], "engine": [], "latency": []}
    for key, scorer in scorers.items():
        wrong = [name for name in scorer.metrics if METRICS[name].basis != scorer.basis]
        if wrong:
            raise ScoringError(
                f"scorer {key}: expected basis {METRICS[wrong[0]].basis}, found {scorer.basis}"
            )
        groups[scorer.basis].append(scorer)
    return groups
