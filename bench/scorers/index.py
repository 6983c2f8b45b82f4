"""The rows of a run, found by what they are about.

A request may be answered several times (retries, a resumed run): the highest attempt counts. Two
answers with one attempt number, two requests for one (sample, cell, phase), two builds for one
(sample, arm): the data contradicts itself, and ``ScoringError`` says where.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from bench.records import BuildRow, CellState, RequestRow, ResponseRow, SampleRow
from bench.scorers.base import ScoringError

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunIndex:
    """The rows of a run, found by what they are about."""

    samples: Mapping[str, SampleRow]
    builds: Mapping[tuple[str, str], BuildRow]
    requests: Mapping[tuple[str, str, str], RequestRow]  # (sample, cell, phase)
    responses: Mapping[str, ResponseRow]  # request_id -> highest attempt
    void: Mapping[tuple[str, str], str]  # (cell, phase) -> code


def index_run(
    *,
    samples: Iterable[SampleRow],
    builds: Iterable[BuildRow],
    requests: Iterable[RequestRow],
    responses: Iterable[ResponseRow],
    cells: Iterable[CellState],
) -> RunIndex:
    """Index the rows of a run.

    Raises:
        ScoringError: Two rows claim the same place.
    """
    answers: dict[str, ResponseRow] = {}
    seen: set[tuple[str, int]] = set()
    for response in responses:
        key = (response.request_id, response.attempt)
        if key in seen:
            raise ScoringError(f"request {key[0]}: expected one response with attempt {key[1]}, found two")
        seen.add(key)
        last = answers.get(response.request_id)
        if last is None or last.attempt < response.attempt:
            answers[response.request_id] = response
    return RunIndex(
        samples=_unique("sample", ((row.sample_id, row) for row in samples)),
        builds=_unique("build", (((row.sample_id, row.arm_id), row) for row in builds)),
        requests=_unique("request", (((r.sample_id, r.cell_id, r.phase), r) for r in requests)),
        responses=answers,
        void={(row.cell_id, row.phase): row.code or "cell.void" for row in cells if row.void},
    )


def _unique(what: str, pairs: Iterable[tuple[K, V]]) -> dict[K, V]:
    rows: dict[K, V] = {}
    for key, row in pairs:
        if key in rows:
            raise ScoringError(f"expected one {what} row for {key}, found two")
        rows[key] = row
    return rows
