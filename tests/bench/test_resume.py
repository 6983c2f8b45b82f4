"""Taking up an interrupted run: by request id, never by a line count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bench.planner import Plan, Planned
from bench.records import CellState, RequestRow, ResponseRow
from bench.records_io import read_rows, row_line, rows_bytes
from bench.resume import take_up
from bench.run_store import RunError, RunFolder, create_run
from bench.specs import RunSpec

Cells = Sequence[CellState]


@pytest.fixture
def plan(spec_of: Callable[..., RunSpec], toy_plan: Callable[..., Plan]) -> Plan:
    """Eight samples, one cell."""
    spec = spec_of(
        "arms.capsule.caches=[cold]", "~arm@arms.naive", "~arm@arms.naive_volatile", "latency_samples=0"
    )
    return toy_plan(spec, [f"s{n}" for n in range(8)])


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return create_run(tmp_path, "e", 0)


def answer(planned: Planned, status: str = "ok", attempt: int = 1) -> ResponseRow:
    return ResponseRow(
        request_id=planned.request_id,
        attempt=attempt,
        status=status,
        text="t",
        output_ids_digest="b3:0" if status == "ok" else None,
        n_output=1,
        measured_cached=0,
        ttft_us=1,
        tpot_us=None,
        e2e_us=1,
        queue_us=0,
        finish_reason="stop",
        error=None if status == "ok" else "failed",
    )


def state(void: bool) -> CellState:
    return CellState(
        cell_id="capsule.cold",
        phase="quality",
        reset_verified=True,
        hits_before=0,
        hits_after=0,
        expected_hits=0,
        void=void,
        code="cell.cold.hits" if void else None,
    )


def store(
    folder: RunFolder, requests: list[RequestRow], responses: list[ResponseRow], cells: Cells = ()
) -> None:
    folder.requests.write_bytes(rows_bytes(requests))
    folder.responses.write_bytes(rows_bytes(responses))
    folder.cells.write_bytes(rows_bytes(cells))


def test_a24_what_failed_in_the_middle_is_pending_and_nothing_is_counted_twice(
    plan: Plan, folder: RunFolder
) -> None:
    planned = plan.requests
    store(
        folder,
        [p.row(0, None) for p in planned],
        [answer(p, "error" if n in (4, 5) else "ok") for n, p in enumerate(planned)],
    )
    progress = take_up(folder, plan)
    pending = [n for n, p in enumerate(planned) if p.request_id not in progress.finished]
    assert pending == [4, 5]
    assert progress.dropped == 2
    assert progress.attempts == {p.request_id: 1 for p in planned}
    assert [row.request_id for row in read_rows(folder.requests, RequestRow)] == [
        p.request_id for n, p in enumerate(planned) if n not in (4, 5)
    ]


def test_only_the_first_lines_of_a_file_being_there_changes_nothing(plan: Plan, folder: RunFolder) -> None:
    planned = plan.requests
    keep = [0, 1, 2, 3, 6, 7]
    store(folder, [planned[n].row(0, None) for n in keep], [answer(planned[n]) for n in keep])
    progress = take_up(folder, plan)
    assert [n for n, p in enumerate(planned) if p.request_id not in progress.finished] == [4, 5]


def test_the_last_attempt_counts(plan: Plan, folder: RunFolder) -> None:
    first, second = plan.requests[:2]
    store(
        folder,
        [first.row(0, None), second.row(0, None)],
        [answer(first, "error", 1), answer(second, "ok", 1), answer(first, "ok", 2)],
    )
    progress = take_up(folder, plan)
    assert set(progress.finished) == {first.request_id, second.request_id}
    assert progress.attempts[first.request_id] == 2


def test_a_request_without_an_answer_is_sent_again_and_predicted_anew(plan: Plan, folder: RunFolder) -> None:
    first, second = plan.requests[:2]
    store(folder, [first.row(0, None), second.row(0, None)], [answer(first)])
    progress = take_up(folder, plan)
    assert set(progress.finished) == {first.request_id}
    assert [row.request_id for row in read_rows(folder.requests, RequestRow)] == [first.request_id]


def test_the_answers_of_a_void_cell_do_not_count(plan: Plan, folder: RunFolder) -> None:
    store(folder, [p.row(0, None) for p in plan.requests], [answer(p) for p in plan.requests], [state(True)])
    progress = take_up(folder, plan)
    assert progress.finished == {}
    assert read_rows(folder.cells, CellState) == []
    assert progress.attempts == {p.request_id: 1 for p in plan.requests}


def test_a_torn_tail_is_reported_and_the_rest_is_kept(plan: Plan, folder: RunFolder) -> None:
    first, second = plan.requests[:2]
    store(folder, [first.row(0, None), second.row(0, None)], [answer(first)])
    with folder.responses.open("ab") as file:
        file.write(row_line(answer(second))[:17])
    progress = take_up(folder, plan)
    assert progress.torn == {"responses.jsonl": 17}
    assert set(progress.finished) == {first.request_id}


def test_requests_of_another_plan_are_refused(plan: Plan, folder: RunFolder) -> None:
    first = plan.requests[0]
    store(folder, [replace(first.row(0, None), request_id="b3:other")], [])
    with pytest.raises(RunError, match="is not of this plan: config, code or data changed"):
        take_up(folder, plan)
    store(folder, [replace(first.row(0, None), ids_digest="b3:other")], [])
    with pytest.raises(RunError, match="is not of this plan"):
        take_up(folder, plan)


def test_one_request_twice_is_refused(plan: Plan, folder: RunFolder) -> None:
    first = plan.requests[0]
    store(folder, [first.row(0, None)] * 2, [answer(first)])
    with pytest.raises(RunError, match="stands twice"):
        take_up(folder, plan)
