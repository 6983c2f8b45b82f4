"""``show`` and ``explain`` as commands: what is found where, at which time, and what is refused."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.commands.show import time_line
from bench.pipeline import Outcome
from bench.records import CellState
from bench.stored_run import StoredRun
from capsules.codec import read_stored, to_value, wire
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run(finished: Outcome) -> StoredRun:
    return StoredRun(finished.folder)


def prompts(run: StoredRun) -> Iterator[tuple[str, PromptCapsule]]:
    for row in run.builds:
        if row.prompt_capsule is not None:
            yield row.prompt_capsule, read_stored(run.store.get(row.prompt_capsule).data, PromptCapsule)


def test_a_run_in_short_names_its_prompts(run: StoredRun, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(run.folder.path)]) == 0
    out = capsys.readouterr().out
    assert re.search(r" (\d+) planned: \1 done, 0 failed, skipped: none, 0 to do\n", out)
    for digest, _ in prompts(run):
        assert digest in out


def test_the_share_of_time_outside_the_engine_is_worked_out() -> None:
    times = {"build_ms": 1000, "engine_start_ms": 5000, "requests_ms": 3000, "report_ms": 1000}
    cell = CellState(
        cell_id="naive.off", phase="quality", reset_verified=True, hits_before=0, hits_after=0,
        expected_hits=0, void=False, code=None, answered=3, wall_us=2_500_000,
    )  # fmt: skip
    line = time_line(times, [cell, replace(cell, phase="latency", wall_us=None)], whole=True)
    assert line == (  # 10 s in all, 5 + 2.5 of them the engine's
        "10.0 s (build 1.0 s, engine start 5.0 s, requests 3.0 s, report 1.0 s); outside the engine: 25.0%"
    )
    assert time_line(times, [cell], whole=False).endswith("outside the engine: unknown")
    assert time_line({}, [], whole=True).endswith("outside the engine: unknown")


def test_a_capsule_is_found_by_digest_in_the_latest_run(
    run: StoredRun, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    digest, prompt = next(prompts(run))
    results = str(run.folder.path.parent.parent)
    assert main(["show", digest, "--results", results, "--json"]) == 0
    assert json.loads(capsysbinary.readouterr().out) == {"digest": digest, "capsule": to_value(prompt)}


def test_a_digest_that_is_not_there_names_the_runs_that_were_searched(
    run: StoredRun, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = "b3:" + "0" * 64
    path = str(run.folder.path)
    assert main(["show", nowhere, "--run", path, "--run", path]) == 2
    err = capsys.readouterr().err
    assert (
        f"{nowhere} is not in the store of {path}, {path}; name the run that holds it with --run RUN" in err
    )
    assert main(["explain", nowhere, nowhere, "--run", path]) == 2
    assert f"is not in the store of {path};" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "found"), [("b3:00", 2), ("b3:", 0), ("b3:" + "A" * 64, 64), ("b3:" + "0" * 65, 65)]
)
def test_what_is_no_whole_digest_says_what_one_looks_like(
    run: StoredRun, capsys: pytest.CaptureFixture[str], name: str, found: int
) -> None:
    expected = (
        f'capsule-bench: {name} is no digest: expected "b3:" and 64 lower-case hex digits, found {found} '
        "characters after b3:; `capsule-bench show RUN` lists the whole digests of a run\n"
    )
    assert main(["show", name, "--run", str(run.folder.path)]) == 2
    assert capsys.readouterr().err == expected
    assert main(["explain", name, name, "--run", str(run.folder.path)]) == 2
    assert capsys.readouterr().err == expected


def test_ids_only_holds_no_text_of_the_data(run: StoredRun, tmp_path: Path) -> None:
    digest, prompt = next(prompts(run))
    texts = [prompt.active_object.text, *(c.text for c in prompt.constraints)]
    for ref in prompt.evidence_capsule_refs:
        evidence = read_stored(run.store.get(ref.id).data, EvidenceCapsule)
        texts += [span.exact for span in evidence.exact_spans]
    where = ["--run", str(run.folder.path), "--ids-only"]
    shown = [
        subprocess.run(
            [sys.executable, "-m", "bench", "show", digest, *where, *more],
            capture_output=True, check=True, cwd=ROOT,
        ).stdout.decode()
        for more in ([], ["--json"])
    ]  # fmt: skip
    page = tmp_path / "page.html"
    assert main(["show", digest, *where, "--html", str(page)]) == 0
    for output in (*shown, page.read_text("utf-8")):
        assert digest in output
        assert not [text for text in texts if text in output or text[:20] in output]


def test_a_page_is_written_where_it_was_asked_for(
    run: StoredRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    digest, _ = next(prompts(run))
    page = tmp_path / "page.html"
    assert main(["show", digest, "--run", str(run.folder.path), "--html", str(page)]) == 0
    assert capsys.readouterr().out == f"written: {page}\n"
    assert page.read_bytes().startswith(b"<!doctype html>")
    assert main(["show", str(run.folder.path), "--html", str(page)]) == 2
    assert "--html: expected the digest of a capsule" in capsys.readouterr().err


def test_a_capsule_is_judged_at_the_time_of_its_run_or_at_another(
    run: StoredRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    digest, prompt = next(prompts(run))
    where = ["--run", str(run.folder.path)]
    assert main(["show", digest, *where]) == 0
    assert "validity         valid at 2026-06-01T00:00:00Z: " in capsys.readouterr().out
    assert main(["show", digest, *where, "--now", "2101-01-01T00:00:00Z"]) == 0
    out = capsys.readouterr().out
    assert "validity         NOT VALID at 2101-01-01T00:00:00Z: " in out
    assert "authority.expired at /authority/expires_at" in out
    assert ": over at 2101-01-01T00:00:00Z" in out
    assert main(["show", digest, *where, "--now", "today"]) == 2
    file = tmp_path / "capsule.json"
    file.write_bytes(wire(prompt))
    capsys.readouterr()
    assert main(["show", str(file)]) == 0
    out = capsys.readouterr().out
    assert "validity         not judged: no time was given (--now TIME)" in out
    assert "not read         no store was given (--run RUN)" in out


def test_explain_takes_files_and_digests(
    run: StoredRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (first_id, first), (second_id, _) = list(prompts(run))[:2]
    file = tmp_path / "capsule.json"
    file.write_bytes(wire(first))
    where = ["--run", str(run.folder.path)]
    assert main(["explain", str(file), first_id, *where]) == 0
    assert "the same capsule: every byte is equal" in capsys.readouterr().out
    assert main(["explain", str(file), second_id, *where]) == 0
    out = capsys.readouterr().out
    assert "what is asked\n  active_object.ref: " in out
    assert "not compared" not in out
    assert main(["explain", str(file), str(file), "--results", str(tmp_path / "none")]) == 0
    file.write_bytes(wire(first).replace(b'"task":"synthetic"', b'"task":"synthetiC"'))
    assert main(["explain", str(file), first_id, *where]) == 2
    assert "bytes.digest.mismatch" in capsys.readouterr().err


def test_explain_says_what_it_could_not_compare(
    run: StoredRun, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (_, first), (_, second) = list(prompts(run))[:2]
    for name, capsule in (("a", first), ("b", second)):
        (tmp_path / name).write_bytes(wire(capsule))
    results = ["--results", str(tmp_path / "none")]
    assert main(["explain", str(tmp_path / "a"), str(tmp_path / "b"), "--json", *results]) == 0
    value = json.loads(capsysbinary.readouterr().out)
    assert value["not_compared"] == [ref.id for one in (first, second) for ref in one.evidence_capsule_refs]
    assert value["equal"] is False
    evidence = run.store.get(first.evidence_capsule_refs[0].id).data
    (tmp_path / "e").write_bytes(evidence)
    assert main(["explain", str(tmp_path / "a"), str(tmp_path / "e"), *results]) == 2
