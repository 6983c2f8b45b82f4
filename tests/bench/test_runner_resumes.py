"""The runner after a lost engine or a failed request: it goes on as if nothing had been."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from bench.engines.base import EngineError, EngineRequest, EngineResult
from bench.records import ResponseRow
from bench.records_io import read_rows
from bench.resume import take_up

Drive = Callable[..., Any]


def test_a_lost_engine_costs_its_wave_and_the_next_driver_goes_on_as_if_nothing_had_been(
    bench: Drive,
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
    bench: Drive, wrapped: Any, stop_after: int
) -> None:
    overrides = (
        "arms.capsule.caches=[primed]",
        "~arm@arms.naive",
        "~arm@arms.naive_volatile",
        "concurrency=1",
    )
    b, whole = bench(*overrides), bench(*overrides)
    whole.drive()

    class Dies(wrapped.Wrapped):
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


def test_a_resumed_cell_sends_the_waves_of_the_plan(bench: Drive, wrapped: Any) -> None:
    b = bench("concurrency=2", "arms.capsule.caches=[cold]", "~arm@arms.naive", "~arm@arms.naive_volatile")
    b.drive(FAKE_ERROR_AT="4")  # two probes, the probe of the reset, then the first sample
    waves: list[int] = []

    class Watching(wrapped.Wrapped):
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
    bench: Drive,
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
