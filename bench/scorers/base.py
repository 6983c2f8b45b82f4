"""What a scorer is: from one completed (sample, cell) to one score a metric.

Rules of this module:

* A score has a status and, only when the status is ``ok``, a finite value: never NaN.
* A scorer states the metrics that it yields and the basis that it needs; ``bench.scorers.run``
  calls it only where that basis is complete, and writes ``error`` or ``void`` rows elsewhere, so
  that no scorer decides what an error means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from bench.records import BuildRow, RequestRow, ResponseRow, SampleRow
from bench.scorers.judge import Judge
from bench.specs import ContractSpec


class ScoringError(Exception):
    """The rows of a run contradict each other; the message names expected, found and where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and its last answer."""

    request: RequestRow
    response: ResponseRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One expected (sample, cell) with what the run has of it.

    Attributes:
        exchange: Request and response of the phase that the scorer's basis names; ``None`` for
            the basis ``build``.
        judge: Judges quotes against sources; shared by all cases of a run.
    """

    sample: SampleRow
    build: BuildRow
    contract: ContractSpec
    exchange: Exchange | None
    judge: Judge

    @property
    def sent(self) -> Exchange:
        """The exchange, for a scorer whose basis guarantees it.

        Raises:
            ScoringError: The scorer is registered under the basis ``build``, which has none.
        """
        if self.exchange is None:
            raise ScoringError("expected a scorer with basis answer, engine or latency, found build")
        return self.exchange


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The value of one metric for one case.

    Raises:
        ScoringError: A value without status ``ok``, ``ok`` without a value, or NaN or infinity.
    """

    metric: str
    status: str
    value: float | None
    code: str | None

    def __post_init__(self) -> None:
        if (self.value is not None) != (self.status == "ok"):
            raise ScoringError(
                f"{self.metric}: expected a value exactly with status ok, found {self.status}, {self.value}"
            )
        if self.value is not None and not isfinite(self.value):
            raise ScoringError(f"{self.metric}: expected a finite value, found {self.value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """A registered scorer.

    Attributes:
        basis: ``build``, ``answer``, ``engine`` or ``latency`` (see ``bench.metrics.names``).
        metrics: Names that ``score`` yields, exactly once each.
    """

    basis: str
    metrics: tuple[str, ...]
    score: Callable[[Case], Sequence[Score]]


def documents(sample: SampleRow, build: BuildRow) -> tuple[str, ...]:
    """ContentIds of what the sample offered: its documents, or those of the pool that the build had."""
    if sample.sources or not build.stages:
        return tuple(source for _, source in sample.sources)
    return tuple(dict.fromkeys(item.rpartition(":")[0] for item in build.stages[0].items))


def ok(metric: str, value: float, code: str | None = None) -> Score:
    """A measured value; ``code`` says what is remarkable about it."""
    return Score(metric=metric, status="ok", value=float(value), code=code)


def undefined(metric: str, code: str) -> Score:
    """No value exists, and ``code`` says why."""
    return Score(metric=metric, status="undefined", value=None, code=code)
