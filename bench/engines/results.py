"""Results that are the same for every engine."""

from __future__ import annotations

from bench.engines.base import EngineRequest, EngineResult


def failed(request: EngineRequest, message: str) -> EngineResult:
    """A request that got no answer: nothing is known about it but the error."""
    return EngineResult(
        request_id=request.request_id,
        status="error",
        text="",
        output_ids=(),
        cached_tokens=None,
        ttft_us=None,
        tpot_us=None,
        e2e_us=None,
        queue_us=None,
        finish_reason=None,
        error=message,
    )
