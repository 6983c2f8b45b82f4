"""The runner on the fake engine: cache states, predictions, waves and salts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bench.engines.base import EngineRequest, EngineResult
from bench.planner import LATENCY

Drive = Callable[..., Any]


def test_off_and_cold_measure_zero_and_primed_the_stable_prefix(bench: Drive) -> None:
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
    bench: Drive,
) -> None:
    b = bench()
    b.drive()
    assert len(b.requests) == len(b.answers) == b.plan.planned
    for row in b.requests:
        assert row.predicted_cached == b.answers[row.request_id].measured_cached, row
        assert row.predicted_reason is None
    assert not any(state.void for state in b.cells.values())
    assert all(state.hits_after - state.hits_before == state.expected_hits for state in b.cells.values())  # type: ignore[operator]


def test_the_request_row_is_on_disk_when_the_engine_gets_the_request(bench: Drive, wrapped: Any) -> None:
    b = bench()
    seen: list[int] = []

    class Watching(wrapped.Wrapped):
        def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
            written = {row.request_id for row in b.requests}
            seen.extend(request.request_id in written for request in requests if len(request.request_id) > 5)
            return super().generate(requests)

    b.wrap = Watching
    b.drive()
    assert seen == [True] * b.plan.planned


def test_waves_go_in_sample_order_and_latency_one_at_a_time(bench: Drive, wrapped: Any) -> None:
    b = bench("concurrency=3")
    waves: list[list[str]] = []

    class Watching(wrapped.Wrapped):
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


def test_each_label_is_primed_under_a_salt_of_its_own(bench: Drive) -> None:
    b = bench(levels=("public", "internal"))
    b.drive()
    assert (
        len({row.salt for row in b.requests if row.cell_id == "capsule.primed" and row.phase == "quality"})
        == 2
    )
    assert b.measured("capsule.primed") == [48, 48, 64, 64]  # nothing is shared between the two labels
