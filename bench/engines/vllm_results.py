"""What vLLM says of one finished request, as a result of ours."""

from __future__ import annotations

from typing import Any

from bench.engines.base import EngineRequest, EngineResult


def result_of(request: EngineRequest, output: Any, grammar_us: int | None) -> EngineResult:
    """The result of one request.

    Args:
        request: What was asked.
        output: vLLM's ``RequestOutput``, finished.
        grammar_us: Microseconds that its grammar took before it was queued; ``None`` without one.
    """
    completion, stats = output.outputs[0], output.metrics
    ids = tuple(int(token) for token in completion.token_ids)
    failed = completion.finish_reason in (None, "error", "abort")
    timed = stats is not None and bool(ids) and not failed
    first, last = (stats.first_token_ts, stats.last_token_ts) if timed else (0.0, 0.0)
    before_us = grammar_us or 0  # spent before the engine's stamp of queueing
    return EngineResult(
        request_id=request.request_id,
        status="error" if failed else "ok",
        text=completion.text,
        output_ids=ids,
        cached_tokens=output.num_cached_tokens,
        ttft_us=before_us + _us(first - stats.queued_ts) if timed else None,
        tpot_us=_us((last - first) / (len(ids) - 1)) if timed and len(ids) > 1 else None,
        e2e_us=before_us + _us(last - stats.queued_ts) if timed else None,
        queue_us=_us(stats.scheduled_ts - stats.queued_ts) if timed else None,
        finish_reason=completion.finish_reason,
        error=f"the engine finished it with reason {completion.finish_reason!r}" if failed else None,
        preempted=stats is not None and stats.num_preemptions > 0,
        grammar_us=grammar_us,
    )


def _us(seconds: float) -> int:
    return round(seconds * 1_000_000)
