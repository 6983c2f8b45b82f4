"""A run of all contracts on the fake engine: plan, rows, verification and report."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.contracts.grammar import grammar_digest, grammar_of
from bench.pipeline import Outcome
from bench.records import BuildRow
from bench.report.tables_contracts import contract_differences_table, contracts_table, has_contracts
from bench.report.view import RunView
from bench.run_store import RunFolder, read_json
from bench.stored_run import StoredRun
from bench.verification import verify_run

ARMS = ("capsule_quote_constrained", "capsule_pointer", "capsule_pointer_constrained")


@pytest.fixture(scope="module")
def outcome(run_small: Callable[..., Outcome], tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    more = [f"+arm@arms.{arm}={arm}" for arm in ARMS]
    states = [f"arms.{arm}.caches=[primed]" for arm in (*ARMS, "capsule", "naive", "naive_volatile")]
    return run_small(tmp_path_factory.mktemp("results"), *more, *states, "sampling.max_tokens=64")


@pytest.fixture(scope="module")
def run(outcome: Outcome) -> StoredRun:
    return StoredRun(outcome.folder)


def test_twins_send_the_same_ids_and_differ_in_the_request_digest(run: StoredRun) -> None:
    ids = {(row.arm_id, row.sample_id): row.ids_digest for row in run.builds}
    digests = {(row.arm_id, row.sample_id, row.phase): row.request_digest for row in run.requests}
    for free, held in (("capsule", ARMS[0]), (ARMS[1], ARMS[2])):
        for sample in run.samples:
            assert ids[free, sample.sample_id] == ids[held, sample.sample_id]
            assert digests[free, sample.sample_id, "quality"] != digests[held, sample.sample_id, "quality"]
    assert ids["capsule", run.samples[0].sample_id] != ids[ARMS[1], run.samples[0].sample_id]


def test_a_row_holds_the_digest_of_the_grammar_that_the_build_gives_again(run: StoredRun) -> None:
    builds: dict[tuple[str, str], BuildRow] = {(row.arm_id, row.sample_id): row for row in run.builds}
    contracts = {arm.arm_id: arm.contract for arm in run.spec.arms}
    held = 0
    for row in run.requests:
        build = builds[row.arm_id, row.sample_id]
        grammar = grammar_of(contracts[row.arm_id], build.shown, run.text, lead=" ")
        assert row.grammar_digest == grammar_digest(grammar)
        assert (row.grammar_digest is not None) == row.arm_id.endswith("_constrained")
        held += row.grammar_digest is not None
    assert held == 2 * (3 + 1)


def test_every_constrained_answer_is_exact(run: StoredRun) -> None:
    rows = [r for r in run.score() if r.metric == "exact_citation" and r.arm_id.endswith("_constrained")]
    assert [(r.status, r.value) for r in rows] == [("ok", 1.0)] * 6
    times = [r.value for r in run.score() if r.metric == "grammar_us" and r.status == "ok"]
    assert len(times) == 2
    assert min(t for t in times if t is not None) > 0


def test_verify_passes_and_finds_another_grammar(outcome: Outcome, tmp_path: Path) -> None:
    assert {check.result for check in verify_run(outcome.folder, None, ("report",))} <= {
        "pass",
        "not_evaluated",
    }
    folder = RunFolder(Path(shutil.copytree(outcome.folder.path, tmp_path / outcome.folder.run_id)))
    lines = folder.requests.read_text("utf-8").splitlines()
    at = next(i for i, line in enumerate(lines) if json.loads(line)["grammar_digest"] is not None)
    value = json.loads(lines[at])
    value["grammar_digest"] = "b3:" + "0" * 64
    lines[at] = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)  # noqa: TID251
    folder.requests.write_text("\n".join(lines) + "\n", "utf-8")
    failed = {c.check: c.detail for c in verify_run(folder, None, ("report",)) if c.result == "fail"}
    assert "expected grammar_digest b3:" in failed["requests.identity"]


def test_the_report_sets_the_contracts_side_by_side(run: StoredRun, outcome: Outcome) -> None:
    view = RunView(run.report_input(read_json(outcome.folder.manifest), run.score()))
    assert has_contracts(view)
    table = contracts_table(view)
    by_cell = {row[0]: dict(zip(table.data_head, row, strict=True)) for row in table.data}
    for arm in (ARMS[0], ARMS[2]):
        row = by_cell[f"{arm}.primed"]
        assert [row[k] for k in ("expected", "answers", "quotes", "finished", "exact")] == [3] * 5
        assert (row["unfinished"], row["grammar_limit"], row["grammar_n"]) == (0, 0, 1)
        assert row["exact_citation"] == 1
    assert by_cell["capsule.primed"]["grammar_n"] == 0
    against = contract_differences_table(view)
    assert against is not None
    pairs = {(row[1], row[2]) for row in against.data}
    assert pairs == {
        (f"{ARMS[0]}.primed", "capsule.primed"),
        (f"{ARMS[2]}.primed", f"{ARMS[1]}.primed"),
    }
    assert "## Output contracts" in outcome.folder.path.joinpath("report.md").read_text("utf-8")


def test_a_run_of_free_quotes_has_no_table(finished: Outcome) -> None:
    run = StoredRun(finished.folder)
    view = RunView(run.report_input(read_json(finished.folder.manifest), run.score()))
    assert not has_contracts(view)
    assert contract_differences_table(view) is None
    assert "Output contracts" not in finished.folder.path.joinpath("report.md").read_text("utf-8")
    assert {row.grammar_digest for row in run.requests} == {None}
