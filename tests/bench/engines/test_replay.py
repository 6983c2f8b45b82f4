"""Recorded answers given again: by request, without times, for the same model, and never made up."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.config import load_config, to_spec
from bench.engines.base import EngineRequest, EngineSettingError
from bench.engines.registry import start_engine
from bench.engines.replay import recorded_folder
from bench.engines.start import EngineStart
from bench.pipeline import Outcome
from bench.planner import sampling_of
from bench.records import RequestRow, ResponseRow
from bench.records_io import read_rows, rows_bytes
from bench.specs import ProviderSpec, ServerSpec
from bench.stored_run import StoredRun
from bench.verification import verify_run


@pytest.fixture
def recorded(finished: Outcome, tmp_path: Path) -> Path:
    """A copy of a finished run."""
    return Path(shutil.copytree(finished.folder.path, tmp_path / finished.folder.run_id))


def start_of(folder: Path, **model: Any) -> EngineStart:
    spec = to_spec(load_config((folder / "config.yaml").read_text("utf-8")))
    return EngineStart(
        spec=replace(spec.engine, name="replay", recorded=str(folder)),
        model=replace(spec.model, **model),
        folder=None,
        prefix_caching=True,
        log=folder / "log",
    )


def test_a_replayed_run_has_the_answers_and_the_scores_of_the_record_and_no_times(
    recorded: Path, finished: Outcome, run_small: Callable[..., Outcome], tmp_path: Path
) -> None:
    price = "prices.providers.local"
    priced = (
        f"+price@{price}=blank",
        f"{price}.engine_hour=100000",
        "prices.as_of=2026-01-01",
        "prices.source=x",
    )
    again = run_small(tmp_path / "again", "engine=replay", f"engine.recorded={recorded}", *priced)
    assert (again.exit_code, again.void) == (0, ())
    known, found = StoredRun(finished.folder), StoredRun(again.folder)
    answers = {row.request_id: (row.text, row.output_ids_digest) for row in known.responses}
    assert {row.request_id: (row.text, row.output_ids_digest) for row in found.responses} == answers
    for row in found.responses:
        assert (row.ttft_us, row.tpot_us, row.e2e_us, row.queue_us) == (None, None, None, None)
    quality = [row for row in known.score() if not row.metric.endswith("_us")]
    assert [row for row in found.score() if not row.metric.endswith("_us")] == quality
    assert not any(row.status == "ok" for row in found.score() if row.metric == "ttft_us")
    assert not any(cell.reset_verified for cell in found.cells)
    assert {cell.wall_us for cell in found.cells} == {None}  # its own clock says nothing of an engine
    report = (again.folder.path / "report.md").read_text("utf-8")
    assert "REPLAYED" in report
    assert "Throughput is unknown: answers were replayed, and nothing was timed." in report
    assert "nothing was timed: what an engine bills by the hour is unknown" in report
    costs = (again.folder.path / "tables" / "cost.csv").read_text("utf-8").splitlines()[1:]
    assert {tuple(line.split(",")[2:4]) for line in costs} == {("0", "")}
    assert "FAKE ENGINE: replay of a fake engine is no model." in report  # as the record was
    rates = (again.folder.path / "tables" / "cache.csv").read_text("utf-8").splitlines()
    assert rates[0].endswith(",requests_per_s,prompt_tokens_per_s")
    assert all(line.endswith(",,") for line in rates[1:])
    costs = (again.folder.path / "tables" / "cost.csv").read_text("utf-8").splitlines()
    place = costs[0].split(",").index("per_answer")
    assert {line.split(",")[place] for line in costs[1:]} == {""}
    assert all(check.result == "pass" for check in verify_run(again.folder, None))


def test_a_record_without_the_provider_is_refused(recorded: Path) -> None:
    start = start_of(recorded)
    cloud = ProviderSpec(
        provider_id="cloud",
        endpoint="https://cloud.example/v1",
        max_level="public",
        projects=("bench",),
        operations=("generate",),
        fallbacks=(),
        server=ServerSpec(engine="openai", model="m"),
    )
    with pytest.raises(EngineSettingError, match=r"knew no provider cloud: .*; it knew none"):
        recorded_folder(start.spec, start.model, providers=[cloud])


def test_what_no_record_answers_is_a_scored_failure(
    recorded: Path, run_small: Callable[..., Outcome], tmp_path: Path
) -> None:
    other = run_small(
        tmp_path / "again", "engine=replay", f"engine.recorded={recorded}", "sampling.max_tokens=39"
    )
    assert other.exit_code == 3
    rows = StoredRun(other.folder).responses
    failed = [row for row in rows if row.status == "error"]
    assert len(failed) == sum(1 for row in rows if row.status == "error") > 0
    assert {str(row.error).partition(":")[0] for row in failed} == {"replay.missing"}
    assert other.counts.planned == other.counts.done + other.counts.failed


def request_of(row: RequestRow, run: StoredRun, **changes: Any) -> EngineRequest:
    fields = {
        "request_id": row.request_id, "ids": tuple(run.ids(row.ids_digest)), "salt": row.salt,
        "sampling": sampling_of(run.spec, row.phase, "quote"),
    }  # fmt: skip
    return EngineRequest(**(fields | changes))


def test_c03_every_setting_that_changes_an_answer_changes_the_key(finished: Outcome, recorded: Path) -> None:
    run = StoredRun(finished.folder)
    row = run.requests[0]
    engine = start_engine(start_of(recorded))
    asked = request_of(row, run)
    (known,) = engine.generate([asked])
    assert known.status == "ok"
    (renamed,) = engine.generate([replace(asked, request_id="another arm")])
    assert (renamed.status, renamed.text) == ("ok", known.text)  # the same ids, sampling and salt
    s = asked.sampling
    for changed in (
        replace(asked, ids=asked.ids[:-1]),
        replace(asked, salt="b3:other"),
        replace(asked, grammar="start: x"),
        *(
            replace(asked, sampling=sampling)
            for sampling in (
                replace(s, temperature="0.7"), replace(s, stop=()), replace(s, max_tokens=s.max_tokens + 1),
                replace(s, seed=1),
            )
        ),
    ):  # fmt: skip
        (found,) = engine.generate([replace(changed, request_id="other")])
        assert str(found.error).startswith("replay.missing")


@pytest.mark.parametrize("key", ["name", "kind", "ref", "revision", "dtype"])
def test_c03_another_model_is_refused(recorded: Path, key: str) -> None:
    with pytest.raises(EngineSettingError, match=f"asked a model whose {key} is "):
        start_engine(start_of(recorded, **{key: "other"}))


def test_void_cells_and_errors_are_no_answers(finished: Outcome, recorded: Path) -> None:
    run = StoredRun(finished.folder)
    first, second = [row for row in run.requests if row.cell_id == "capsule.cold"][:2]  # salts of their own
    responses = read_rows(recorded / "responses.jsonl", ResponseRow)
    (recorded / "responses.jsonl").write_bytes(
        rows_bytes(replace(r, status="error") if r.request_id == first.request_id else r for r in responses)
    )
    engine = start_engine(start_of(recorded))
    found = engine.generate([request_of(row, run) for row in (first, second)])
    assert [result.status for result in found] == ["error", "ok"]
    cells = [
        replace(c, void=True) if (c.cell_id, c.phase) == (second.cell_id, second.phase) else c
        for c in run.cells
    ]
    (recorded / "cells.jsonl").write_bytes(rows_bytes(cells))
    (found_void,) = start_engine(start_of(recorded)).generate([request_of(second, run)])
    assert found_void.status == "error"


def test_only_a_finished_run_is_replayed(recorded: Path) -> None:
    start = start_of(recorded)
    (recorded / "manifest.json").unlink()
    with pytest.raises(
        EngineSettingError, match=r"expected the folder of a finished run, found .*: it has no man"
    ):
        start_engine(start)
    with pytest.raises(EngineSettingError, match=r"engine\.recorded=<its folder>; found none"):
        start_engine(replace(start, spec=replace(start.spec, recorded="")))


def test_a_record_that_cannot_be_read_is_named(recorded: Path) -> None:
    start = start_of(recorded)
    (recorded / "responses.jsonl").write_bytes(b"{}\n")
    with pytest.raises(EngineSettingError, match=r"cannot be replayed: .*responses\.jsonl:1"):
        start_engine(start)
