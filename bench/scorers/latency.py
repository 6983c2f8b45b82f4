"""Times of one latency request, in microseconds, as the engine stamped them.

Only requests of the phase ``latency`` count: they were sent one at a time, cells interleaved, so
that queueing and drift hit all cells alike. Unknown is undefined, never 0. End to end holds the time of the
arm's compressor, which a prompt waits for before it can be sent.
"""

from __future__ import annotations

from bench.scorers.base import Case, Score, Scorer, ok, undefined

METRICS = ("ttft_us", "tpot_us", "itl_us", "e2e_us", "grammar_us")


def _score(case: Case) -> tuple[Score, ...]:
    response = case.sent.response
    one_token = response.n_output is not None and response.n_output < 2
    return (
        _time("ttft_us", response.ttft_us),
        _time("tpot_us", response.tpot_us, "latency.single_token" if one_token else "engine.unknown"),
        undefined("itl_us", "latency.not_streaming"),
        _time("e2e_us", None if response.e2e_us is None else response.e2e_us + case.build.compressor_us),
        _time("grammar_us", response.grammar_us, "contract.no_grammar"),
    )


def _time(metric: str, value: int | None, code: str = "engine.unknown") -> Score:
    return undefined(metric, code) if value is None else ok(metric, value)


LATENCY = Scorer(basis="latency", metrics=METRICS, score=_score)
