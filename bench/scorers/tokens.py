"""Token classes of one quality request, as the engine counted them.

Rules of this module:

* The classes are disjoint: input_uncached + cache_read + cache_write = tokens sent.
* Unknown is never 0: an engine that does not say what it read from its cache leaves cache_read and
  input_uncached undefined, with the reason that the prediction gives.
* No engine here bills cache writes, so cache_write is 0 and its tokens stay in input_uncached.
"""

from __future__ import annotations

from bench.scorers.base import Case, Score, Scorer, ScoringError, ok, undefined

METRICS = ("tokens_input_uncached", "tokens_cache_read", "tokens_cache_write", "tokens_output")


def _score(case: Case) -> tuple[Score, ...]:
    request, response = case.sent.request, case.sent.response
    read = response.measured_cached
    if read is None:
        reason = request.predicted_reason or "engine.unknown"
        classes = (undefined("tokens_input_uncached", reason), undefined("tokens_cache_read", reason))
    elif 0 <= read <= request.n_prompt:
        classes = (ok("tokens_input_uncached", request.n_prompt - read), ok("tokens_cache_read", read))
    else:
        raise ScoringError(
            f"request {request.request_id}: expected cached tokens in 0..{request.n_prompt}, found {read}"
        )
    output = response.n_output
    return (
        *classes,
        ok("tokens_cache_write", 0),
        undefined("tokens_output", "engine.unknown") if output is None else ok("tokens_output", output),
    )


TOKENS = Scorer(basis="engine", metrics=METRICS, score=_score)
