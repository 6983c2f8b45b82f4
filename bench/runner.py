"""Runs the cells of one engine: reset, prime, waves, floor, latency subset, and what the counters say.

Rules that this module owns:

* Before a cell's quality or floor requests and before the latency subset the prefix cache is reset and the
  reset *verified*: a probe that was cached before the reset must measure 0 after it. A reset that
  is not verified voids the cell, and none of its requests is sent.
* served: nothing is reset or primed; the cache is as the requests before found and left it. A replay has no
  cache: it is asked, and nothing else.
* primed: the stable prefix alone is sent once under each salt of the cell, unmeasured. What an
  earlier, interrupted driver had finished is sent again as ids and output, unmeasured, so that the
  cache holds what it would hold.
* Every request is predicted and written down before it is sent. A wave is one ``generate``; its
  answers are on disk before the next wave starts. Waves are cut from the plan, not from what is
  pending, so that a resumed run batches as an unbroken one.
* A cell whose counters contradict its state is void, with a code, and its answers do not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from bench.cache_state import CacheState, Counted, judge_cell, stable_prefixes
from bench.engines.base import Engine, EngineError, EngineRequest, EngineResult
from bench.engines.results import failed
from bench.groups import Cell, Group
from bench.planner import FLOOR, LATENCY, QUALITY, Plan, Planned
from bench.recorder import Recorder
from bench.records import CellState
from bench.resume import Progress

SERVED = "served"
RESET_UNVERIFIED = "cell.reset.unverified"
PRIMING_FAILED = "cell.priming.failed"


class GroupRunner:
    """Sends what is pending of one group of cells to one started engine.

    Args:
        engine: Built with the group's prefix-caching setting.
        group: The cells.
        plan: All requests of the run.
        progress: What is finished; extended as answers come in.
        recorder: Writes rows and output ids.
        concurrency: Requests a wave.
        advance: Told how many requests were answered.
        timer: Monotonic nanoseconds.
    """

    def __init__(
        self,
        *,
        engine: Engine,
        group: Group,
        plan: Plan,
        progress: Progress,
        recorder: Recorder,
        concurrency: int,
        advance: Callable[[int], object],
        timer: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._engine = engine
        self._group = group
        self._plan = plan
        self._progress = progress
        self._finished = progress.finished
        self._recorder = recorder
        self._concurrency = concurrency
        self._advance = advance
        self._timer = timer
        # of our own: what another provider gets may not be for this one, not even as a probe
        own = [p for p in plan.requests if p.provider == group.provider] or plan.requests
        self._cache = CacheState(engine, own[0].prompt.ids)

    def run(self) -> None:
        """Quality requests and their floor cell by cell, then the latency subset.

        Raises:
            EngineError: The engine died or hung; the answers of the wave in flight are recorded as errors.
        """
        for cell in self._group.cells:
            for phase in (QUALITY, FLOOR):
                self._cell(cell, phase, self._plan.part(self._group, phase, cell.cell_id))
        self._latency()

    def _pending(self, planned: Iterable[Planned]) -> list[Planned]:
        return [p for p in planned if p.request_id not in self._finished]

    def _cell(self, cell: Cell, phase: str, planned: Sequence[Planned]) -> None:
        pending = self._pending(planned)
        if not pending:
            self._judge_unseen(cell, phase, planned)
        if not pending or not self._ready(phase, {cell.cell_id: planned}):
            return
        start = self._cache.hits()
        counted = Counted([], start, start)
        for wave in _waves(planned, self._concurrency):
            if todo := self._pending(wave):
                self._count(counted, todo)
        self._judge(cell, phase, planned, counted)

    def _latency(self) -> None:
        by_cell: dict[str, list[Planned]] = {cell.cell_id: [] for cell in self._group.cells}
        for p in self._plan.latency[self._group.name]:
            by_cell[p.cell.cell_id].append(p)
        opened = {cell_id: planned for cell_id, planned in by_cell.items() if self._pending(planned)}
        for cell in self._group.cells:
            if cell.cell_id not in opened:
                self._judge_unseen(cell, LATENCY, by_cell[cell.cell_id])
        ready = self._ready(LATENCY, opened)
        start = self._cache.hits() if ready else None
        counted = {cell_id: Counted([], start, start) for cell_id in ready}
        for p in self._pending(self._plan.latency[self._group.name]):
            if p.cell.cell_id in ready:
                self._count(counted[p.cell.cell_id], [p])
        for cell in self._group.cells:
            if cell.cell_id in ready:
                self._judge(cell, LATENCY, by_cell[cell.cell_id], counted[cell.cell_id])

    def _count(self, counted: Counted, wave: Sequence[Planned]) -> None:
        before = self._cache.hits()
        results, wall_us = self._send(wave)
        counted.add(results, before, self._cache.hits(), wall_us)

    def _judge(self, cell: Cell, phase: str, planned: Sequence[Planned], counted: Counted) -> None:
        answers = [
            (p, self._finished[p.request_id].measured_cached)
            for p in planned
            if p.request_id in self._finished
        ]
        state = judge_cell(cell, phase, answers, counted, self._cache.info, self._group.provider)
        self._recorder.cell(state)
        if state.void:
            self._progress.void.add((cell.cell_id, phase))

    def _judge_unseen(self, cell: Cell, phase: str, planned: Sequence[Planned]) -> None:
        """A driver that was killed after a cell's last answer wrote no state: judge the answers alone."""
        if planned and (cell.cell_id, phase, self._group.provider) not in self._progress.judged:
            self._judge(cell, phase, planned, Counted([], None, None))

    def _ready(self, phase: str, cells: Mapping[str, Sequence[Planned]]) -> set[str]:
        """Reset, prime and restore; returns the cells that may be sent, the others are void."""
        cells = {c: planned for c, planned in cells.items() if (c, phase) not in self._progress.void}
        as_is = self._cache.info.replayed
        ready = {c for c, planned in cells.items() if as_is or planned[0].cell.cache == SERVED}
        cells = {c: planned for c, planned in cells.items() if c not in ready}
        if not cells:
            return ready
        if not self._cache.reset():
            self._void(phase, cells, RESET_UNVERIFIED, verified=False)
            return ready
        for cell_id, planned in cells.items():
            if planned[0].cell.cache != "primed" or (self._prime(planned) and self._restore(planned)):
                ready.add(cell_id)
            else:
                self._void(phase, [cell_id], PRIMING_FAILED, verified=True)
        return ready

    def _prime(self, planned: Sequence[Planned]) -> bool:
        for salt, prefix in stable_prefixes(planned).items():
            if prefix and not self._cache.fill(prefix, salt):
                return False
        return True

    def _restore(self, planned: Sequence[Planned]) -> bool:
        """Bring back what finished requests of an interrupted driver had left in the cache."""
        for p in planned:
            answer = self._finished.get(p.request_id)
            if answer is None or answer.output_ids_digest is None:
                continue
            left = self._recorder.output_ids(answer.output_ids_digest)[:-1]
            if not self._cache.fill((*p.prompt.ids, *left), p.salt):
                return False
        return True

    def _void(self, phase: str, cells: Iterable[str], code: str, *, verified: bool) -> None:
        for cell_id in cells:
            self._progress.void.add((cell_id, phase))
            self._recorder.cell(
                CellState(
                    cell_id=cell_id,
                    phase=phase,
                    reset_verified=verified,
                    hits_before=None,
                    hits_after=None,
                    expected_hits=None,
                    void=True,
                    code=code,
                    provider=self._group.provider,
                )
            )

    def _send(self, wave: Sequence[Planned]) -> tuple[list[EngineResult], int]:
        predictions = self._cache.predict_wave([(p.prompt.ids, p.salt) for p in wave])
        for p, predicted in zip(wave, predictions, strict=True):
            self._recorder.request(p, predicted.tokens, predicted.reason)
        self._recorder.flush_requests()
        sent = self._timer()
        try:
            results = self._engine.generate([_engine_request(p) for p in wave])
        except EngineError as error:
            self._record(wave, [_lost(p, error) for p in wave])
            raise
        wall_us = (self._timer() - sent) // 1000
        for p, result in zip(wave, results, strict=True):
            self._cache.finished(p.prompt.ids, result, p.salt)
        self._record(wave, results)
        return results, wall_us

    def _record(self, wave: Sequence[Planned], results: Sequence[EngineResult]) -> None:
        for row in self._recorder.responses(results):
            self._finished[row.request_id] = row
        self._advance(len(wave))


def _waves(planned: Sequence[Planned], size: int) -> Iterator[list[Planned]]:
    rest = iter(planned)
    while wave := list(islice(rest, size)):
        yield wave


def _engine_request(p: Planned) -> EngineRequest:
    return EngineRequest(
        request_id=p.request_id,
        ids=p.prompt.ids,
        salt=p.salt,
        sampling=p.sampling,
        grammar=p.prepared.grammar,
    )


def _lost(p: Planned, error: EngineError) -> EngineResult:
    lines = str(error).splitlines()
    return failed(_engine_request(p), lines[0] if lines else type(error).__name__)
