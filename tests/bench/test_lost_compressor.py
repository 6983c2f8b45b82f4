"""A compressor that does not start, or dies for good: its prompts are errors, the rest goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from scripted_library import (
    ALONE,
    BESIDE,
    CAUSE,
    FAILED,
    LOST,
    TWO,
    ScriptedLibrary,
    answers,
    errors,
    failures,
    sent,
)  # fmt: skip

from bench.__main__ import main
from bench.completion import derive_report, derive_scores
from bench.compression.library_env import SetUpError
from bench.engines.base import EngineAbsentError, EngineSettingError
from bench.engines.fake import FakeEngine
from bench.errors import may_pass
from bench.hydra_app import compose_config
from bench.pipeline import Outcome, drive, resume_run, start_run
from bench.progress import Reporter
from bench.rebuild_check import rebuild
from bench.records import RebuiltRow, RequestRow
from bench.records_io import read_rows
from bench.run_store import RunError
from bench.scores_file import read_scores
from bench.verification import verify_run

QUIET = Reporter(quiet=True)


def test_the_run_goes_on_without_it_and_ends_with_3(unstarted: tuple[Outcome, str]) -> None:
    outcome, _ = unstarted
    assert outcome.counts.to_value() == {"planned": 8, "done": 4, "failed": 0, "skipped": {LOST: 4}}
    assert (outcome.exit_code, outcome.clean, outcome.folder.complete) == (3, False, True)
    assert errors(outcome.folder) == [f"{LOST}: {CAUSE}"] * 3
    assert errors(outcome.folder, "capsule") == [None] * 3
    assert answers(outcome.folder) == [f"{LOST}: {CAUSE}"] * 3
    assert sent(outcome.folder) == {"capsule": 4}


def test_it_is_said_at_once_with_arm_cause_and_log(unstarted: tuple[Outcome, str]) -> None:
    said = unstarted[1]
    assert said.count("WARNING") == 1
    assert (
        "WARNING: llmlingua2 is lost, 3 of 3 asks have no answer: arm two cannot be built for them "
        "(compression.lost), and they will count as errors. The rest of the run goes on." in said
    )
    assert f"{CAUSE}. Last lines of " in said
    assert "  | no such luck\n" in said
    assert said.index("WARNING") < said.index("building capsules") < said.index("starting the engine")


def test_its_samples_stay_in_the_denominators_and_the_top_says_why(unstarted: tuple[Outcome, str]) -> None:
    folder = unstarted[0].folder
    rows = [row for row in read_scores(folder.scores) if row.arm_id == "two"]
    exact = Counter((row.status, row.code) for row in rows if row.metric == "exact_citation")
    assert exact == {("error", LOST): 3}
    (row,) = [
        line.split(",")
        for line in (folder.path / "tables" / "arms.csv").read_text().splitlines()
        if line.startswith("two.primed,treatment,exact_citation,")
    ]
    assert row[3:] == ["3", "0", "", "", "0", "", "3", "0", "0", "0", "1"]  # as in test_unfit_arms
    head = folder.path.joinpath("report.md").read_text().replace("\\", "").split("| --- | --- |")[0]
    assert "ERRORS: 0 of 4 requests failed, 3 of 6 prompts could not be built." in head
    assert f"NO PROMPT: two, 3 of 3 samples: {LOST} ({CAUSE})." in head
    assert str(folder.path.parent) not in head


def test_the_same_bytes_again_and_every_check_holds(unstarted: tuple[Outcome, str]) -> None:
    folder = unstarted[0].folder
    assert derive_scores(folder) == folder.scores.read_bytes()
    assert all((folder.path / name).read_bytes() == data for name, data in derive_report(folder).items())
    assert {check.result for check in verify_run(folder, None, skip=["report"])} == {"pass", "not_evaluated"}
    rebuilt = rebuild(folder)
    assert {(row.arm_id, row.requests - row.equal) for row in rebuilt} == {("capsule", 0)}
    assert read_rows(folder.rebuilt, RebuiltRow) == rebuilt  # and so does another process


def test_a_replay_repeats_the_loss(
    unstarted: tuple[Outcome, str], begun: Callable[..., tuple[Outcome, str]], library: ScriptedLibrary,
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    library.whole()
    recorded = ("engine=replay", f"engine.recorded={unstarted[0].folder.path}", "engine.block_size=16")
    outcome, said = begun(tmp_path, *BESIDE, *TWO, *recorded)
    assert outcome.counts == unstarted[0].counts
    assert errors(outcome.folder) == [f"{LOST}: {CAUSE}"] * 3
    assert (library.texts(), "WARNING" in said) == (0, False)
    assert failures(outcome.folder) == {}
    assert (outcome.exit_code, outcome.clean) == (3, True)
    capsys.readouterr()
    assert main(["resume", str(outcome.folder.path)]) == 3
    again = capsys.readouterr().err
    assert ("is complete: nothing to do" in again, "to ask it again" in again) == (True, False)
    other, _ = begun(tmp_path, *BESIDE, *TWO, f"engine.recorded={unstarted[0].folder.path}")
    assert (other.exit_code, library.texts()) == (0, 3)  # an engine's run asks for what is not recorded


def test_a_worker_that_is_killed_for_good_costs_what_it_did_not_answer(
    begun: Callable[..., tuple[Outcome, str]], library: ScriptedLibrary, tmp_path: Path
) -> None:
    library.whole(last=2)
    outcome, said = begun(tmp_path, *BESIDE, *TWO, "limit=7", "floor_samples=0", "rebuild=true")
    process = f"{FAILED}: the compressor's process was lost"
    lost = f"{LOST}: shortening 1 text: the engine process ended (signal 9)"
    # 1 and 2 are answered; the worker is killed at 3 and 4 and started again; at 5 it is lost for good
    assert errors(outcome.folder) == [None, None, process, process, lost, lost, lost]
    assert answers(outcome.folder) == errors(outcome.folder)
    assert library.texts() == 5
    assert "WARNING: llmlingua2 is lost, 3 of 7 asks have no answer" in said
    counts = outcome.counts
    assert outcome.exit_code == 3
    assert (counts.planned, counts.failed, set(counts.skipped)) == (16, 0, {FAILED, LOST})
    assert counts.done + sum(counts.skipped.values()) == 16
    scores = [row for row in read_scores(outcome.folder.scores) if row.arm_id == "two"]
    exact = Counter(row.code for row in scores if row.metric == "exact_citation" and row.status == "error")
    assert exact == {FAILED: 2, LOST: 3}
    assert sum(row.metric == "exact_citation" for row in scores) == 7
    assert failures(outcome.folder) == {}
    requests = len(read_rows(outcome.folder.requests, RequestRow))
    assert sum(row.equal for row in read_rows(outcome.folder.rebuilt, RebuiltRow)) == requests == counts.done
    head = outcome.folder.path.joinpath("report.md").read_text().replace("\\", "").split("| --- | --- |")[0]
    assert f"two, 3 of 7 samples: {LOST} (shortening 1 text: the engine process ended (signal 9))" in head
    assert f"two, 2 of 7 samples: {FAILED} (the compressor's process was lost)" in head

    before = outcome.folder.responses.read_bytes()
    library.whole()
    again = drive(outcome.folder, resume_run(outcome.folder, QUIET), QUIET)
    assert library.texts() == 3  # what it answered and what killed it is not asked again
    assert errors(outcome.folder) == [None, None, process, process, None, None, None]
    assert set(again.counts.skipped) == {FAILED}
    assert outcome.folder.responses.read_bytes().startswith(before)
    assert sum(sent(outcome.folder).values()) == again.counts.done == 16 - again.counts.skipped[FAILED]
    assert failures(outcome.folder) == {}


def test_where_every_arm_needs_it_the_run_stops_and_can_be_resumed(
    small: Callable[..., list[str]], library: ScriptedLibrary, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    library.broken()
    words = small(*ALONE, f"arms.two.compression.model={library.model}")
    folder, prepared = start_run(compose_config(words), tmp_path, QUIET)
    with pytest.raises(RunError) as stopped:
        drive(folder, prepared, QUIET)
    assert may_pass(stopped.value)
    assert f"\n  two: 3 of 3 samples without a prompt, {LOST} (the first, " in str(stopped.value)
    assert f": {CAUSE})" in str(stopped.value)
    assert not any(path.exists() for path in (folder.manifest, folder.builds, folder.engines, folder.scores))
    assert main(["resume", str(folder.path)]) == 2
    out, said = capsys.readouterr()
    assert '"complete":false,"exit":2' in out
    assert f"stopped; continue with: capsule-bench resume {folder.path}" in said
    library.whole()
    assert main(["resume", str(folder.path)]) == 0
    assert sent(folder) == {"two": 4}


def test_an_environment_that_cannot_be_made_costs_its_arms(
    begun: Callable[..., tuple[Outcome, str]], small: Callable[..., list[str]], library: ScriptedLibrary,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    (tmp_path / "file").write_text("x", "utf-8")
    monkeypatch.setenv("CAPSULE_CACHE", str(tmp_path / "file"))
    outcome, said = begun(tmp_path / "beside", *BESIDE, *TWO, "rebuild=true")
    assert outcome.counts.to_value() == {"planned": 8, "done": 4, "failed": 0, "skipped": {LOST: 4}}
    cause = "cannot make the compressors' environment: Not a directory"
    assert errors(outcome.folder) == [f"{LOST}: {cause}"] * 3
    assert f"{cause}. In {tmp_path}" in said
    assert sum(row.equal for row in read_rows(outcome.folder.rebuilt, RebuiltRow)) == 4
    words = small(*ALONE, f"arms.two.compression.model={library.model}")
    with pytest.raises(SetUpError, match=cause):
        start_run(compose_config(words), tmp_path / "alone", QUIET)
    assert not (tmp_path / "alone").exists()


def test_what_the_config_gets_wrong_is_refused_before_anything_is_made(
    small: Callable[..., list[str]], library: ScriptedLibrary, tmp_path: Path
) -> None:
    with pytest.raises(EngineSettingError, match=r"^arm two: compression\.model: expected a folder or"):
        start_run(
            compose_config(small(*BESIDE, *TWO, "arms.two.compression.model=nowhere")), tmp_path / "r", QUIET
        )
    assert not (tmp_path / "r").exists()


def test_an_engine_that_does_not_start_to_score_costs_its_arm(
    run_small: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(self: FakeEngine, prompts: list[tuple[int, ...]]) -> list[list[float | None]]:
        raise EngineAbsentError("out of memory", "last lines")

    monkeypatch.setattr(FakeEngine, "prompt_logprobs", absent)
    outcome = run_small(tmp_path, *BESIDE, "+arm@arms.si=capsule_self_information", "arms.si.caches=[primed]")
    assert errors(outcome.folder, "si") == [f"{LOST}: out of memory"] * 3
    assert (outcome.exit_code, outcome.counts.done) == (3, 4)
