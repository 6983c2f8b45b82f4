"""One prompt asked for two projects: every arm gets its numbers, and what has none says why."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from bench.completion import derive_report
from bench.engines.base import EngineRequest, EngineResult
from bench.engines.results import failed
from bench.groups import groups_of
from bench.isolation import probe_isolation
from bench.pipeline import Outcome
from bench.planner import Plan
from bench.records import IsolationRow
from bench.records_io import read_rows, rows_bytes
from bench.specs import RunSpec
from bench.stored_run import StoredRun


@pytest.fixture(scope="module")
def probed(run_small: Callable[..., Outcome], tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A run with caching off and on, whose volatile arm has no prompt in the cells without a cache."""
    return run_small(tmp_path_factory.mktemp("probed"), "isolation_samples=2")


def test_an_arm_that_no_cell_without_a_salt_asks_for_is_asked_without_one_too(probed: Outcome) -> None:
    run = StoredRun(probed.folder)
    unsalted = {row.arm_id for row in run.requests if row.salt is None}
    assert "naive_volatile" not in unsalted
    rows = run.isolation
    assert [row.arm_id for row in rows] == ["naive"] * 2 + ["naive_volatile"] * 2 + ["capsule"] * 2
    for row in rows:
        assert (row.with_salt_null, row.without_salt_null) == (None, None)
        assert row.with_salt == 0
        assert row.without_salt == (row.n_prompt - 1) // 16 * 16 > 0


def test_a_null_has_its_reason_in_the_row_and_beside_the_number(probed: Outcome, tmp_path: Path) -> None:
    folder = type(probed.folder)(Path(shutil.copytree(probed.folder.path, tmp_path / "copy")))
    first, *rest = read_rows(folder.isolation, IsolationRow)
    folder.isolation.write_bytes(
        rows_bytes([replace(first, without_salt=None, without_salt_null="engine.timeout"), *rest])
    )
    text = derive_report(folder)["report.md"].decode()
    assert text.count("Asked without a number: 1 for engine.timeout.") == 1


class Answering:
    """An engine that answers its n-th wave as it is told, and every other with 16 tokens read."""

    def __init__(self, wave: int, answer: Callable[[EngineRequest], EngineResult]) -> None:
        self.wave, self.answer, self.waves = wave, answer, 0

    def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
        self.waves += 1
        return [self.answer(r) if self.waves == self.wave else _read(r, 16) for r in requests]


def _read(request: EngineRequest, cached: int | None) -> EngineResult:
    return replace(failed(request, ""), status="ok", cached_tokens=cached, error=None)


UNCOUNTED = "the engine gave no count of cached tokens"


@pytest.mark.parametrize(
    ("wave", "answer", "numbers"),
    [
        (1, lambda r: failed(r, "engine.timeout"), (None, "engine.timeout", 16, None)),  # nothing to cross
        (2, lambda r: failed(r, "engine.timeout"), (None, "engine.timeout", 16, None)),
        (3, lambda r: failed(r, "engine.timeout"), (16, None, None, "engine.timeout")),
        (4, lambda r: failed(r, "engine.timeout"), (16, None, None, "engine.timeout")),
        (4, lambda r: _read(r, None), (16, None, None, UNCOUNTED)),
    ],
)
def test_what_has_no_number_says_why(
    spec_of: Callable[..., RunSpec], toy_plan: Callable[..., Plan], wave: int,
    answer: Callable[[EngineRequest], EngineResult], numbers: tuple[int | str | None, ...],
) -> None:  # fmt: skip
    spec = spec_of()
    (group,) = [g for g in groups_of(spec, {}) if g.prefix_caching]
    rows = probe_isolation(cast("Any", Answering(wave, answer)), group, toy_plan(spec), 1)
    assert len(rows) == len(spec.arms)
    assert {(row.with_salt, row.with_salt_null, row.without_salt, row.without_salt_null) for row in rows} == {
        numbers
    }
    again = {(row.arm_id, row.sample_id) for row in rows[1:]}
    (left,) = probe_isolation(cast("Any", Answering(0, answer)), group, toy_plan(spec), 1, again)
    assert left.arm_id == rows[0].arm_id  # only what was not told
