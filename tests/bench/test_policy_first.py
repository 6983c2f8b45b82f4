"""The policy is asked before a server is: one that may have nothing is not contacted at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lamp import write_lamp

from bench.stored_run import StoredRun
from bench.verification import verify_run


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Six samples, every second one, the first too, with internal evidence."""
    return write_lamp(tmp_path / "own.jsonl", "The lamp is out.")


@pytest.mark.parametrize(("projects", "contacted"), [("[]", False), ("[other]", False), ("[bench]", True)])
def test_the_policy_is_asked_before_a_server_is_contacted(
    rows: Path, loopback: Any, run_small: Any, tmp_path: Path, projects: str, contacted: bool
) -> None:
    server = loopback.Server(loopback.says(loopback.reply(400, b"{}")))
    try:
        outcome = run_small(
            tmp_path, "task=custom", f"task.options.file={rows}", "task.examples=0", "limit=null",
            "~arm@arms.naive_volatile", "arms.naive.caches=[off]", "arms.capsule.caches=[served]",
            "arms.capsule.provider=cloud", "arms.capsule.authority.providers=[cloud]",
            "+provider@providers.cloud=vllm", f"providers.cloud.endpoint={server.url}/v1",
            f"providers.cloud.projects={projects}", "providers.cloud.server.model=m",
        )  # fmt: skip
    finally:
        server.close()
    assert (server.connections > 0) == contacted
    assert outcome.exit_code == 3
    run = StoredRun(outcome.folder)
    assert [start["group"] for start in run.engines] == ["off", *(["cloud-on"] if contacted else [])]
    answers = {row.request_id: row for row in run.responses}
    sent = {row.sample_id: answers[row.request_id] for row in run.requests if row.arm_id == "capsule"}
    assert len(sent) == 6
    codes = {sample: str(row.error).partition(":")[0] for sample, row in sent.items()}
    public = "provider.refused" if contacted else "provider.unauthorized"
    assert codes == {f"s{n}": public if n % 2 else "label.flow.denied" for n in range(6)}
    others = [answers[row.request_id].status for row in run.requests if row.arm_id == "naive"]
    assert set(others) == {"ok"}
    report = (outcome.folder.path / "report.md").read_text("utf-8")
    assert public in report
    assert all(check.result == "pass" for check in verify_run(outcome.folder, None))
