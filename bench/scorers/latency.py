"""Times of one latency request, in microseconds, as the engine stamped them.

Only requests of the phase ``latency`` count: they were sent one at a time, cells interleaved, so
that queueing and drift hit all cells alike. Unknown is undefined, never 0. End to end holds the time of the
arm's compressor, which a prompt waits for before it can be sent.
"""

from __future__ import annotations

from statistics import median

from bench.records import ResponseRow
from bench.scorers.base import Case, Score, Scorer, ok, undefined

METRICS = ("ttft_us", "tpot_us", "itl_us", "e2e_us", "grammar_us")


def _score(case: Case) -> tuple[Score, ...]:
    response = case.sent.response
    one_token = response.n_output is not None and response.n_output < 2
    return (
        _time("ttft_us", response.ttft_us),
        _time("tpot_us", response.tpot_us, "latency.single_token" if one_token else "engine.unknown"),
        _gap(response),
        _time("e2e_us", None if response.e2e_us is None else response.e2e_us + case.build.compressor_us),
        _time("grammar_us", response.grammar_us, "contract.no_grammar"),
    )


def _gap(response: ResponseRow) -> Score:
    """The median gap between tokens; a stream of several tokens an event has gaps between events only."""
    if response.itl_us:
        return ok("itl_us", median(response.itl_us))
    if response.itl_us is not None:
        return undefined("itl_us", "latency.single_token")
    streamed = response.first_text_us is not None
    return undefined("itl_us", "latency.chunked" if streamed else "latency.not_streaming")


def _time(metric: str, value: int | None, code: str = "engine.unknown") -> Score:
    return undefined(metric, code) if value is None else ok(metric, value)


LATENCY = Scorer(basis="latency", metrics=METRICS, score=_score)
