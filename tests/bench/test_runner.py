"""The runner on the fake engine: cache states, predictions, resets, counters, lost engines, resuming."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bench.engines.base import Engine, EngineError, EngineRequest, EngineResult
from bench.engines.registry import start_engine
from bench.engines.start import EngineStart
from bench.planner import LATENCY, Plan
from bench.recorder import Recorder
from bench.records import CellState, RequestRow, ResponseRow
from bench.records_io import read_rows
from bench.resume import Progress, take_up
from bench.run_store import RunFolder, create_run
from bench.runner import GroupRunner
from bench.specs import RunSpec
from bench.tokenizers import ByteTokenizer
from capsules.store import MemoryStore


class Bench:
    """Runs a plan, engine after engine, and reads back what was written."""

    def __init__(self, spec: RunSpec, plan: Plan, folder: RunFolder) -> None:
        self.spec, self.plan, self.folder = spec, plan, folder
        self.store = MemoryStore()
        self.wrap: Callable[[Engine], Engine] = lambda engine: engine

    def engine(self, *, prefix_caching: bool, **env: str) -> Engine:
        start = EngineStart(
            spec=replace(self.spec.engine, env=tuple(env.items())),
            model=self.spec.model,
            folder=None,
            prefix_caching=prefix_caching,
            log=self.folder.path / "engine.log",
            tokenizer=ByteTokenizer(),
        )
        return self.wrap(start_engine(start))

    def drive(self, progress: Progress | None = None, **env: str) -> Progress:
        progress = progress or Progress()
        with Recorder(self.folder, self.store, progress.attempts) as recorder:
            for group in self.plan.groups:
                engine = self.engine(prefix_caching=group.prefix_caching, **env)
                GroupRunner(
                    engine=engine,
                    group=group,
                    plan=self.plan,
                    progress=progress,
                    recorder=recorder,
                    concurrency=self.spec.concurrency,
                    advance=lambda n: None,
                ).run()
        return progress

    @property
    def requests(self) -> list[RequestRow]:
        return read_rows(self.folder.requests, RequestRow)

    @property
    def answers(self) -> dict[str, ResponseRow]:
        return {row.request_id: row for row in read_rows(self.folder.responses, ResponseRow)}

    @property
    def cells(self) -> dict[tuple[str, str], CellState]:
        return {(row.cell_id, row.phase): row for row in read_rows(self.folder.cells, CellState)}

    def measured(self, cell_id: str, phase: str = "quality") -> list[int | None]:
        return [
            self.answers[row.request_id].measured_cached
            for row in self.requests
            if (row.cell_id, row.phase) == (cell_id, phase)
        ]


@pytest.fixture
def bench(
    spec_of: Callable[..., RunSpec], toy_plan: Callable[..., Plan], tmp_path: Path
) -> Callable[..., Bench]:
    def make(*overrides: str, **options: object) -> Bench:
        spec = spec_of("latency_samples=2", *overrides)
        return Bench(spec, toy_plan(spec, **options), create_run(tmp_path, "e", 0))

    return make


def test_off_and_cold_measure_zero_and_primed_the_stable_prefix(bench: Callable[..., Bench]) -> None:
    b = bench()
    b.drive()
    assert set(b.measured("capsule.off")) == set(b.measured("capsule.cold")) == {0}
    assert set(b.measured("capsule.off", LATENCY)) == set(b.measured("capsule.cold", LATENCY)) == {0}
    # BOS and "capsule: a stable prefix of more than two blocks of ids. ": 58 ids, three blocks of 16;
    # from the second sample on "[1] Source of s" is shared too: 73 ids, four blocks.
    assert b.measured("capsule.primed") == [48, 64, 64, 64]
    # No stable prefix to prime, yet this toy's text is shared: 1 + 64 + 15 = 80 ids, five blocks.
    assert b.measured("naive_volatile.primed") == [0, 80, 80, 80]


def test_every_prediction_is_written_before_sending_and_equals_what_the_engine_measured(
    bench: Callable[..., Bench],
) -> None:
    b = bench()
    b.drive()
    assert len(b.requests) == len(b.answers) == b.plan.planned
    for row in b.requests:
        assert row.predicted_cached == b.answers[row.request_id].measured_cached, row
        assert row.predicted_reason is None
    assert not any(state.void for state in b.cells.values())
    assert all(state.hits_after - state.hits_before == state.expected_hits for state in b.cells.values())  # type: ignore[operator]


def test_the_request_row_is_on_disk_when_the_engine_gets_the_request(bench: Callable[..., Bench]) -> None:
    b = bench()
    seen: list[int] = []

    class Watching(Wrapped):
        def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
            written = {row.request_id for row in b.requests}
            seen.extend(request.request_id in written for request in requests if len(request.request_id) > 5)
            return super().generate(requests)

    b.wrap = Watching
    b.drive()
    assert seen == [True] * b.plan.planned


def test_waves_go_in_sample_order_and_latency_one_at_a_time(bench: Callable[..., Bench]) -> None:
    b = bench("concurrency=3")
    waves: list[list[str]] = []

    class Watching(Wrapped):
        def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
            waves.append([r.request_id for r in requests])
            return super().generate(requests)

    b.wrap = Watching
    b.drive()
    by_id = {p.request_id: p for p in b.plan.requests}
    mine = [[by_id[i] for i in wave] for wave in waves if wave[0] in by_id]
    cell = [w for w in mine if w[0].cell.cell_id == "capsule.cold" and w[0].phase == "quality"]
    assert [[p.sample_id for p in w] for w in cell] == [["s1", "s2", "s3"], ["s4"]]
    assert all(len(w) == 1 for w in mine if w[0].phase == LATENCY)
    order = [w[0] for w in mine if w[0].phase == LATENCY and w[0].cell.cache != "off"]
    assert order == list(b.plan.latency["on"])


def test_each_label_is_primed_under_a_salt_of_its_own(bench: Callable[..., Bench]) -> None:
    b = bench(levels=("public", "internal"))
    b.drive()
    assert (
        len({row.salt for row in b.requests if row.cell_id == "capsule.primed" and row.phase == "quality"})
        == 2
    )
    assert b.measured("capsule.primed") == [48, 48, 64, 64]  # nothing is shared between the two labels


def test_a_reset_that_is_refused_voids_every_cell_and_sends_nothing(bench: Callable[..., Bench]) -> None:
    b = bench()
    b.drive(FAKE_REFUSE_RESET="1")
    assert b.requests == []
    assert len(b.cells) == 2 * 7
    assert {(s.void, s.code, s.reset_verified) for s in b.cells.values()} == {
        (True, "cell.reset.unverified", False)
    }


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


def test_a_reset_that_only_says_so_is_not_believed(bench: Callable[..., Bench]) -> None:
    b = bench()
    b.wrap = LyingReset
    b.drive()
    caching = {key: s for key, s in b.cells.items() if not key[0].endswith(".off")}
    assert {(s.void, s.code) for s in caching.values()} == {(True, "cell.reset.unverified")}
    assert {row.cell_id for row in b.requests} == {"naive.off", "capsule.off"}  # nothing to reset there


def test_an_engine_that_caches_although_it_says_off_voids_the_cell(bench: Callable[..., Bench]) -> None:
    """A08: the baseline must show 0 cached tokens, whatever ran before it."""
    b = bench("arms.naive.caches=[off]", "arms.capsule.caches=[off]", "~arm@arms.naive_volatile")
    b.drive(FAKE_LEAK="16")
    assert {(s.void, s.code) for s in b.cells.values()} == {(True, "cell.reset.unverified")}


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


@pytest.mark.parametrize("cache", ["off", "cold"])
def test_answers_from_a_warm_cache_void_a_cell_that_may_not_have_one(
    bench: Callable[..., Bench], cache: str
) -> None:
    b = bench(f"arms.naive.caches=[{cache}]", "~arm@arms.capsule", "~arm@arms.naive_volatile")
    b.wrap = WarmFromStart  # the latency subset sends what the quality requests have sent
    b.drive()
    assert not b.cells[f"naive.{cache}", "quality"].void
    assert b.cells[f"naive.{cache}", "latency"].code == "cell.counters.mismatch"


class SilentCounters(WarmFromStart):
    """The same, and without any counter: the answers alone must tell."""

    def counters(self) -> dict[str, int]:
        return {}


@pytest.mark.parametrize(("cache", "code"), [("off", "cell.off.hits"), ("cold", "cell.cold.hits")])
def test_without_counters_the_answers_alone_void_it(
    bench: Callable[..., Bench], cache: str, code: str
) -> None:
    b = bench(f"arms.naive.caches=[{cache}]", "~arm@arms.capsule", "~arm@arms.naive_volatile")
    b.wrap = SilentCounters
    b.drive()
    state = b.cells[f"naive.{cache}", "latency"]
    assert (state.code, state.hits_before, state.hits_after) == (code, None, None)


class ForgetsPriming(Wrapped):
    """Loses the cache before every wave."""

    def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
        if len(requests[0].request_id) > 5:
            self._engine.reset_prefix_cache()
        return super().generate(requests)


def test_a_primed_cell_that_misses_its_prefix_is_void(bench: Callable[..., Bench]) -> None:
    b = bench("arms.naive.caches=[primed]", "~arm@arms.capsule", "~arm@arms.naive_volatile", "concurrency=1")
    b.wrap = ForgetsPriming
    b.drive()
    assert b.cells["naive.primed", "quality"].code == "cell.primed.miss"


def test_a_lost_engine_costs_its_wave_and_the_next_driver_goes_on_as_if_nothing_had_been(
    bench: Callable[..., Bench], tmp_path: Path
) -> None:
    b, whole = bench(), bench()
    whole.drive()
    with pytest.raises(EngineError, match="scripted death"):
        b.drive(FAKE_DIE_AT="7")  # two probes, the probe of the first reset, then 4 requests in waves of 2
    errors = [row for row in b.answers.values() if row.status == "error"]
    assert len(errors) == 2
    assert all(row.error and "scripted death" in row.error for row in errors)
    progress = take_up(b.folder, b.plan)
    assert len(progress.finished) == 2
    assert progress.dropped == 2
    b.drive(progress)
    assert {row.request_id for row in b.requests} == {row.request_id for row in whole.requests}
    assert {i: row.text for i, row in b.answers.items()} == {i: row.text for i, row in whole.answers.items()}
    assert {b.answers[row.request_id].attempt for row in errors} == {2}


@pytest.mark.parametrize("stop_after", [1, 2, 3])
def test_a_primed_cell_is_taken_up_with_the_cache_that_it_had(
    bench: Callable[..., Bench], stop_after: int
) -> None:
    overrides = (
        "arms.capsule.caches=[primed]",
        "~arm@arms.naive",
        "~arm@arms.naive_volatile",
        "concurrency=1",
    )
    b, whole = bench(*overrides), bench(*overrides)
    whole.drive()

    class Dies(Wrapped):
        sent = 0

        def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
            if len(requests[0].request_id) > 5:
                if self.sent == stop_after:
                    raise EngineError("gone")
                self.sent += 1
            return super().generate(requests)

    b.wrap = Dies
    with pytest.raises(EngineError, match="gone"):
        b.drive()
    b.wrap = lambda engine: engine
    b.drive(take_up(b.folder, b.plan))
    assert b.measured("capsule.primed") == whole.measured("capsule.primed")
    assert all(row.predicted_cached == b.answers[row.request_id].measured_cached for row in b.requests)
    assert not any(state.void for state in b.cells.values())


def test_a_resumed_cell_sends_the_waves_of_the_plan(bench: Callable[..., Bench]) -> None:
    b = bench("concurrency=2", "arms.capsule.caches=[cold]", "~arm@arms.naive", "~arm@arms.naive_volatile")
    b.drive(FAKE_ERROR_AT="4")  # two probes, the probe of the reset, then the first sample
    waves: list[int] = []

    class Watching(Wrapped):
        def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
            if len(requests[0].request_id) > 5:
                waves.append(len(requests))
            return super().generate(requests)

    progress = take_up(b.folder, b.plan)
    third = b.plan.quality["capsule.cold"][2]
    del progress.finished[third.request_id]
    b.wrap = Watching
    b.drive(progress)
    assert waves == [1, 1]  # one of each of the two waves, not one wave of two


def test_an_error_of_one_request_stays_and_is_retried_by_the_next_driver(
    bench: Callable[..., Bench],
) -> None:
    b = bench()
    b.drive(FAKE_ERROR_AT="5")
    failed = [row for row in b.answers.values() if row.status == "error"]
    assert len(failed) == 2  # one an engine
    assert len(b.requests) == b.plan.planned
    b.drive(take_up(b.folder, b.plan))
    rows = read_rows(b.folder.responses, ResponseRow)
    assert len(rows) == b.plan.planned + 2
    assert sorted(row.attempt for row in rows if row.request_id == failed[0].request_id) == [1, 2]
    assert all(row.status == "ok" for row in b.answers.values())
