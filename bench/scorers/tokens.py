"""Token classes of one quality request, as the engine counted them; what they are: ``bench.cost.classes``.

An engine that does not say what it read from its cache leaves cache_read and input_uncached undefined, with
the reason that the prediction gives.
"""

from __future__ import annotations

from bench.cost.classes import CLASSES, classes_of
from bench.scorers.base import Case, Score, Scorer, ScoringError, ok, undefined

METRICS = tuple(f"tokens_{name}" for name in CLASSES)


def _score(case: Case) -> tuple[Score, ...]:
    request, response = case.sent.request, case.sent.response
    try:
        counts = classes_of(request, response)
    except ValueError as error:
        raise ScoringError(str(error)) from error
    reason = request.predicted_reason or "engine.unknown"
    return tuple(
        _class(f"tokens_{name}", getattr(counts, name), "engine.unknown" if name == "output" else reason)
        for name in CLASSES
    )


def _class(metric: str, count: int | None, reason: str) -> Score:
    return undefined(metric, reason) if count is None else ok(metric, count)


TOKENS = Scorer(basis="engine", metrics=METRICS, score=_score)
