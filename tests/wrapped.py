"""Engines around an engine: one that passes everything on, and those that do not do what they say.

Loaded by path (fixture ``wrapped`` in tests/conftest.py): test modules cannot import each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bench.engines.base import Engine, EngineRequest, EngineResult


class Wrapped:
    """An engine around an engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.info = engine.info

    def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
        return self._engine.generate(requests)

    def reset_prefix_cache(self) -> bool:
        return self._engine.reset_prefix_cache()

    def counters(self) -> dict[str, int]:
        return self._engine.counters()

    def close(self) -> None:
        self._engine.close()


class LyingReset(Wrapped):
    """Says yes to a reset and does nothing: an HTTP 200 that nobody checked."""

    def reset_prefix_cache(self) -> bool:
        return True


class WarmFromStart(Wrapped):
    """One global cache that no reset and no salt touches, with counters that say nothing of it."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._seen: list[tuple[int, ...]] = []

    def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
        results = super().generate(requests)
        warm = []
        for request, result in zip(requests, results, strict=True):
            known = request.ids in self._seen and not request.request_id.startswith("probe")
            warm.append(replace(result, cached_tokens=32) if known else result)
            self._seen.append(request.ids)
        return warm


class SilentCounters(WarmFromStart):
    """The same, and without any counter: the answers alone must tell."""

    def counters(self) -> dict[str, int]:
        return {}


class ForgetsPriming(Wrapped):
    """Loses the cache before every wave."""

    def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
        if len(requests[0].request_id) > 5:
            self._engine.reset_prefix_cache()
        return super().generate(requests)
