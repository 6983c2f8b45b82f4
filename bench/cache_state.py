"""What one engine's prefix cache holds, as far as the driver can know, and whether that is true.

Rules that this module owns:

* A reset counts only when a *probe* proves it: ids that hit before the reset must measure 0 after it.
* A salt that was not used since the last verified reset predicts 0; everything else is the block rule
  of ``capsules.prefix_blocks``. An engine without prefix caching predicts 0.
* More tokens submitted since the reset than the cache holds: the predictor says ``evicted``.
* The engine's own hit counter must equal the sum of what its answers say; ``off`` and ``cold`` must
  show none; ``primed`` must hit at least the stable prefix. Otherwise the cell is void.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.engines.base import Engine, EngineInfo, EngineRequest, EngineResult
from bench.groups import Cell
from bench.planner import Planned
from bench.records import CellState
from bench.specs import SamplingSpec
from capsules.content_id import derived_key
from capsules.decision import LOCAL
from capsules.prefix_blocks import Prediction, PrefixPredictor

COUNTERS_MISMATCH = "cell.counters.mismatch"
OFF_HITS = "cell.off.hits"
COLD_HITS = "cell.cold.hits"
PRIMED_MISS = "cell.primed.miss"

_PROBE_SALT = derived_key("salt/v1", b"probe")
_ONE_TOKEN = SamplingSpec(max_tokens=1)
_DEFAULT_BLOCK = 128


class CacheState:
    """The predictor of one engine together with its probe.

    Args:
        engine: A started engine.
        ids: Some prompt of the run; the probe is cut from it (any ids will do).
    """

    def __init__(self, engine: Engine, ids: Sequence[int]) -> None:
        self._engine = engine
        self.info = engine.info
        self._predictor = PrefixPredictor(
            self.info.block_size,
            block_rule=self.info.block_rule,
            scheduling_known=self.info.scheduling_known,
        )
        self._salts: set[str | None] = set()
        self._submitted = 0
        self._capacity = _capacity(engine)
        self._probe = _probe_ids(ids, self.info.block_size or _DEFAULT_BLOCK)
        self._probe_works: bool | None = None  # not tried yet: a cell that is never reset needs no probe

    def reset(self) -> bool:
        """Reset the prefix cache; whether the reset is verified."""
        if self._probe_works is None:
            self._probe_works = self._control()
        if not self._engine.reset_prefix_cache():
            return False
        self._predictor.reset()
        self._salts.clear()
        self._submitted = 0
        return self._probe_works and self._send_probe() == 0

    def fill(self, ids: Sequence[int], salt: str | None) -> bool:
        """Send ids without measuring anything, to have them in the cache; whether it worked."""
        self.predict(ids, salt)
        request = EngineRequest(request_id="fill", ids=tuple(ids), salt=salt, sampling=_ONE_TOKEN)
        (result,) = self._engine.generate([request])
        self.finished(ids, result, salt)
        return result.status == "ok"

    def predict(self, ids: Sequence[int], salt: str | None) -> Prediction:
        """What the engine will report for a request that is submitted now."""
        if not self.info.prefix_caching:
            return Prediction(tokens=0)
        if not self.info.cache_known:
            return Prediction(tokens=None, reason="engine.unknown")
        self._submitted += len(ids)
        if self._capacity is not None and self._submitted > self._capacity:
            self._predictor.mark_lost("evicted")
        prediction = self._predictor.predicted(ids, salt) if salt in self._salts else Prediction(tokens=0)
        self._salts.add(salt)
        self._predictor.add_prompt(ids, salt)
        return prediction

    def predict_wave(self, prompts: Sequence[tuple[Sequence[int], str | None]]) -> list[Prediction]:
        """What the engine will report for requests that are submitted at once, in this order.

        Where scheduling is unknown, a prompt that shares blocks with another of the wave has no prediction.
        """
        if self.info.scheduling_known or not self.info.prefix_caching or not self.info.cache_known:
            return [self.predict(ids, salt) for ids, salt in prompts]
        for ids, salt in prompts:
            self._submit(ids, salt)
        return [self._predictor.predicted(ids, salt, submitted=True) for ids, salt in prompts]

    def _submit(self, ids: Sequence[int], salt: str | None) -> None:
        self._submitted += len(ids)
        if self._capacity is not None and self._submitted > self._capacity:
            self._predictor.mark_lost("evicted")
        self._salts.add(salt)
        self._predictor.add_prompt(ids, salt)

    def finished(self, ids: Sequence[int], result: EngineResult, salt: str | None) -> None:
        """A submitted request was answered.

        Of a request that failed where scheduling is unknown, nobody knows what it left: it stays unfinished.
        """
        if result.status != "ok" and not self.info.scheduling_known:
            return
        self._predictor.add_finished(ids, result.output_ids, salt)
        self._submitted += len(result.output_ids)
        if result.preempted:
            self._predictor.mark_lost("preempted")

    def hits(self) -> int | None:
        """The engine's own counter of cached prompt tokens; ``None`` where it has none."""
        return self._engine.counters().get("prefix_hits")

    def _control(self) -> bool:
        """Whether the probe can tell: sent twice, it must hit (or, without caching, must not)."""
        self._send_probe()
        again = self._send_probe()
        if again is None:
            return False
        return again > 0 if self.info.prefix_caching else again == 0

    def _send_probe(self) -> int | None:
        request = EngineRequest(request_id="probe", ids=self._probe, salt=_PROBE_SALT, sampling=_ONE_TOKEN)
        (result,) = self._engine.generate([request])
        return result.cached_tokens if result.status == "ok" else None


@dataclass(slots=True)
class Counted:
    """Measured answers that one driver got, and the engine's hit counter around them.

    Attributes:
        results: The answers.
        before: The counter before the first of them (``None``: unknown).
        after: ``before`` and what the counter rose by during these answers alone.
        wall_us: From sending to the last answer, summed over waves.
    """

    results: list[EngineResult]
    before: int | None
    after: int | None
    wall_us: int = 0

    def add(
        self, results: Sequence[EngineResult], before: int | None, after: int | None, wall_us: int
    ) -> None:
        """More answers, with the counter just before and just after them, and how long they took."""
        self.results += results
        self.wall_us += wall_us
        if self.after is None or before is None or after is None:
            self.after = None
        else:
            self.after += after - before

    @property
    def delta(self) -> int | None:
        """Hits that the engine counted."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def expected(self) -> int | None:
        """Hits that the answers add up to; unknown if one answer is unknown."""
        known = [r.cached_tokens for r in self.results if r.cached_tokens is not None]
        return sum(known) if known and len(known) == len(self.results) else None


def judge_cell(
    cell: Cell,
    phase: str,
    answers: Sequence[tuple[Planned, int | None]],
    counted: Counted,
    info: EngineInfo,
    provider: str = LOCAL,
) -> CellState:
    """Compare a cell's answers with the engine's counters and with the cell's state.

    Args:
        cell: The cell.
        phase: quality, latency or floor.
        answers: All its requests that have an answer, from earlier drivers too, and their cached tokens.
        counted: The answers that this driver got, with the engine's counters.
        info: What the engine says about itself.
        provider: Who runs it.
    """
    hit = any(cached for _, cached in answers)
    code = None
    if counted.expected is not None and counted.delta is not None and counted.delta != counted.expected:
        code = COUNTERS_MISMATCH
    elif cell.cache == "off" and (hit or counted.delta):
        code = OFF_HITS
    elif cell.cache == "cold" and hit:
        code = COLD_HITS
    elif cell.cache == "primed" and _missed_prefix(answers, info):
        code = PRIMED_MISS
    return CellState(
        cell_id=cell.cell_id,
        phase=phase,
        reset_verified=cell.cache != "served" and not info.replayed,  # there nothing is reset
        hits_before=counted.before,
        hits_after=counted.after,
        expected_hits=counted.expected,
        void=code is not None,
        code=code,
        answered=len(counted.results),
        wall_us=counted.wall_us if counted.results and not info.replayed else None,
        provider=provider,
    )


def _missed_prefix(answers: Sequence[tuple[Planned, int | None]], info: EngineInfo) -> bool:
    if info.block_size is None or not info.block_rule:
        return False
    prefixes = stable_prefixes([p for p, _ in answers])
    for p, cached in answers:
        shared = min(len(prefixes[p.salt]), len(p.prompt.ids) - 1) // info.block_size * info.block_size
        if cached is not None and cached < shared:
            return True
    return False


def stable_prefixes(planned: Sequence[Planned]) -> dict[str | None, tuple[int, ...]]:
    """For each salt, the longest prefix that all its prompts really share of their stable ids."""
    found: dict[str | None, tuple[int, ...]] = {}
    for p in planned:
        stable = p.prompt.stable_ids
        known = found.get(p.salt)
        candidate = stable if known is None else known[: _common(known, stable)]
        found[p.salt] = candidate[: _common(candidate, p.prompt.ids)]
    return found


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    n = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        n += 1
    return n


def _probe_ids(ids: Sequence[int], block: int) -> tuple[int, ...]:
    """Two blocks and one id: short, and a repeat of it hits."""
    length = 2 * block + 1
    body = tuple(ids[1:]) or tuple(ids)
    repeated = (ids[0], *(body * (length // len(body) + 1)))
    return tuple(repeated[:length])


def _capacity(engine: Engine) -> int | None:
    """Tokens that the KV cache surely holds at once, where the engine says how many blocks it has.

    One window less than there are blocks for: what is being generated needs room as well.
    """
    blocks, groups, window = (engine.info.profile.get(key) for key in ("kv_blocks", "kv_groups", "window"))
    block = engine.info.block_size
    if block is None or not (isinstance(blocks, int) and isinstance(groups, int) and isinstance(window, int)):
        return None
    return blocks // groups * block - window
