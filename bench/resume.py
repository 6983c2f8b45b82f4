"""What an earlier driver of a run left, and what of it counts.

Rules that this module owns:

* Finished is what has a final answer, found by request_id: the highest attempt, status ok, in a cell
  that is not void. Never a line count.
* A torn tail is set aside and reported. Request rows without a final answer are dropped: the request
  is sent again and predicted anew. Error answers stay in ``responses.jsonl``; a retry is attempt + 1.
* A request that the plan does not hold means that config, code or data changed: refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bench.planner import Plan
from bench.records import CellState, RequestRow, ResponseRow
from bench.records_io import read_rows, row_value, rows_bytes, set_torn_tail_aside
from bench.run_store import DeadEndError, RunFolder, write_atomic


@dataclass(slots=True, kw_only=True)
class Progress:
    """Where a run stands.

    Attributes:
        finished: Final answers by request_id; the runner adds to it.
        attempts: Highest attempt so far by request_id.
        torn: Bytes set aside by file name.
        dropped: Request rows that will be sent again.
        judged: (cell, phase, provider) whose counters were written down.
        void: (cell, phase) found void by this driver, which does not try it again.
    """

    finished: dict[str, ResponseRow] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)
    torn: dict[str, int] = field(default_factory=dict)
    dropped: int = 0
    judged: set[tuple[str, str, str]] = field(default_factory=set)
    void: set[tuple[str, str]] = field(default_factory=set)


def last_answers(responses: list[ResponseRow]) -> dict[str, ResponseRow]:
    """The answer with the highest attempt of each request."""
    last: dict[str, ResponseRow] = {}
    for row in responses:
        known = last.get(row.request_id)
        if known is None or known.attempt < row.attempt:
            last[row.request_id] = row
    return last


def take_up(folder: RunFolder, plan: Plan) -> Progress:
    """Repair the files of an interrupted run and say what is finished.

    Raises:
        RunError: The stored requests are not of this plan.
        RowError: A file holds something that no interruption leaves behind.
    """
    torn = {}
    for path in (folder.requests, folder.responses, folder.cells, folder.isolation):
        length = set_torn_tail_aside(path)
        if length:
            torn[path.name] = length
    requests = read_rows(folder.requests, RequestRow)
    responses = read_rows(folder.responses, ResponseRow)
    cells = read_rows(folder.cells, CellState)
    _check_of_plan(folder, requests, plan)
    void = {(cell.cell_id, cell.phase) for cell in cells if cell.void}
    answers = last_answers(responses)
    kept = [
        row
        for row in requests
        if (row.cell_id, row.phase) not in void
        and row.request_id in answers
        and answers[row.request_id].status == "ok"
    ]
    if len(kept) != len(requests):
        write_atomic(folder.requests, rows_bytes(kept))
    if void:
        write_atomic(folder.cells, rows_bytes([cell for cell in cells if not cell.void]))
    return Progress(
        finished={row.request_id: answers[row.request_id] for row in kept},
        attempts={request_id: row.attempt for request_id, row in answers.items()},
        torn=torn,
        dropped=len(requests) - len(kept),
        judged={(cell.cell_id, cell.phase, cell.provider) for cell in cells if not cell.void},
    )


def _check_of_plan(folder: RunFolder, requests: list[RequestRow], plan: Plan) -> None:
    planned = {p.request_id: p for p in plan.requests}
    seen: set[str] = set()
    for row in requests:
        if row.request_id in seen:
            raise DeadEndError(f"{folder.requests}: request {row.request_id} stands twice")
        seen.add(row.request_id)
        known = planned.get(row.request_id)
        again = known.row(row.predicted_cached, row.predicted_reason) if known else None
        if again is None or row_value(again) != row_value(row):
            raise DeadEndError(
                f"{folder.requests}: request {row.request_id} ({row.cell_id}, {row.sample_id}, "
                f"{row.phase}) is not of this plan: config, code or data changed since the run began; "
                "start a new run"
            )
