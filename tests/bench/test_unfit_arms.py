"""An arm, or one sample of one, that fits no prompt: scored as an error, told at the top; the run goes on."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.completion import derive_report, derive_scores
from bench.hydra_app import compose_config
from bench.pipeline import Outcome, build_only, drive, resume_run, start_run
from bench.progress import Reporter
from bench.rebuild_check import rebuild
from bench.records import BuildRow
from bench.run_store import DeadEndError, RunError, RunFolder
from bench.scores_file import read_scores
from bench.stored_run import StoredRun
from bench.unbuilt import tally
from bench.verification import verify_run
from capsules.canonical import canonical_bytes

QUIET = Reporter(quiet=True)
CODE = "budget.required.unfit"
UNFIT = "arms.capsule.budget.evidence_limit=60"  # bytes: less than any required sentence of the task
CAPSULE = 3 * (3 + 1) + 2  # three cache states, three samples and one timed; caching off asks two again
NAIVE = CAPSULE + (3 + 1)  # and naive_volatile in one state


@pytest.fixture(scope="module")
def unfit(run_small: Callable[..., Outcome], tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A run whose arm ``capsule`` has no prompt for any sample, with probes and rebuild."""
    folder = tmp_path_factory.mktemp("unfit")
    return run_small(folder, UNFIT, "isolation_samples=1", "rebuild=true")


def test_the_run_goes_on_without_the_arm_and_ends_with_3(unfit: Outcome) -> None:
    assert unfit.counts.to_value() == {
        "planned": CAPSULE + NAIVE, "done": NAIVE, "failed": 0, "skipped": {CODE: CAPSULE},
    }  # fmt: skip
    assert (unfit.exit_code, unfit.void, unfit.folder.complete) == (3, (), True)


def test_its_samples_stay_in_the_denominators_as_errors(unfit: Outcome) -> None:
    rows = read_scores(unfit.folder.scores)
    exact = Counter((r.arm_id, r.status, r.code) for r in rows if r.metric == "exact_citation")
    assert exact["capsule", "error", CODE] == 3 * 3  # cache states, samples
    assert sum(n for (arm, _, _), n in exact.items() if arm == "capsule") == 3 * 3
    timed = Counter((r.arm_id, r.status) for r in rows if r.metric == "e2e_us")
    assert timed["capsule", "error"] == 3
    tables = unfit.folder.path / "tables"
    (row,) = [
        line.split(",")
        for line in (tables / "arms.csv").read_text().splitlines()
        if line.startswith("capsule.primed,treatment,exact_citation,")
    ]
    # n 3, headline 0, no interval of one set of sources, no mean of none ok, 3 errors; then the bounds
    assert row[3:] == ["3", "0", "", "", "0", "", "3", "0", "0", "0", "1"]


def test_the_top_of_the_report_names_arm_samples_code_and_cause(unfit: Outcome) -> None:
    head = unfit.folder.path.joinpath("report.md").read_text().replace("\\", "").split("| --- | --- |")[0]
    assert "ERRORS: 0 of 18 requests failed, 3 of 9 prompts could not be built." in head
    assert f"NO PROMPT: capsule, 3 of 3 samples: {CODE} (expected required items" in head
    assert "within evidence_limit 60, found" in head
    assert "not by the model's own" in head
    table = unfit.folder.path.joinpath("tables", "unbuilt.csv").read_text().splitlines()
    assert table[0] == "arm_id,code,samples,of,first_sample_id,said"
    assert len(table) == 2
    assert table[1].startswith(f"capsule,{CODE},3,3,")


def test_the_same_bytes_again_and_every_check_holds(unfit: Outcome) -> None:
    folder = unfit.folder
    assert derive_scores(folder) == folder.scores.read_bytes()
    assert all((folder.path / name).read_bytes() == data for name, data in derive_report(folder).items())
    assert {check.result for check in verify_run(folder, None, skip=["report"])} == {"pass", "not_evaluated"}
    rebuilt = rebuild(folder)
    assert {row.arm_id for row in rebuilt} == {"naive", "naive_volatile"}
    assert all(row.requests == row.equal for row in rebuilt)


def test_show_and_resume_say_which_arm_has_no_prompt(
    unfit: Outcome, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(unfit.folder.path)]) == 0
    out = capsys.readouterr().out
    assert f"no prompt  capsule: 3 of 3 samples without a prompt, {CODE} (the first, " in out
    assert f"{CAPSULE + NAIVE} planned: {NAIVE} done, 0 failed, skipped: {CODE} {CAPSULE}, 0 to do" in out
    assert main(["resume", str(unfit.folder.path)]) == 3
    assert "is complete: nothing to do" in capsys.readouterr().err


def test_compare_takes_a_run_with_an_arm_without_requests(
    unfit: Outcome, finished: Outcome, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(unfit.folder.path), str(finished.folder.path)]) == 0
    assert "capsule.primed" in capsys.readouterr().out.replace("\\", "")


def test_one_sample_that_fits_no_prompt_costs_itself_alone(
    run_small: Callable[..., Outcome], tmp_path: Path
) -> None:
    rows = [
        {
            "id": name,
            "question": "How high stands the lamp?",
            "sources": [{"id": "guide", "text": f"The lamp stands {'very ' * length}high, 40 m."}],
            "answers": ["40 m"],
        }
        for name, length in (("s1", 1), ("s2", 90), ("s3", 1))  # s2: one sentence of 478 bytes
    ]
    file = tmp_path / "own.jsonl"
    file.write_bytes(b"\n".join(canonical_bytes(row) for row in rows))
    outcome = run_small(
        tmp_path, "task=custom", f"task.options.file={file}", "task.examples=0", "limit=null",
        "arms.capsule.budget.evidence_limit=300", "arms.capsule.caches=[primed]", "latency_samples=3",
    )  # fmt: skip
    assert outcome.counts.skipped == {CODE: 2}  # its quality and its timed request in one cache state
    assert outcome.exit_code == 3
    scores = [r for r in read_scores(outcome.folder.scores) if r.arm_id == "capsule"]
    assert {r.sample_id for r in scores if r.status == "error"} == {"s2"}
    assert sum(r.metric == "exact_citation" for r in scores) == 3
    (told,) = tally(StoredRun(outcome.folder).builds).unbuilt()
    assert (told.arm_id, told.code, told.samples, told.of, told.sample_id) == ("capsule", CODE, 1, 3, "s2")


def test_an_interrupted_run_with_such_an_arm_is_continued(unfit: Outcome, tmp_path: Path) -> None:
    folder = RunFolder(Path(shutil.copytree(unfit.folder.path, tmp_path / unfit.folder.run_id)))
    lines = folder.responses.read_bytes().splitlines(keepends=True)
    folder.responses.write_bytes(b"".join(lines[:7]))
    folder.manifest.unlink()
    left = StoredRun(folder).counts()
    assert (left.done, left.missing, left.skipped) == (7, NAIVE - 7, {CODE: CAPSULE})
    outcome = drive(folder, resume_run(folder, QUIET), QUIET)
    assert outcome.counts == unfit.counts
    assert {check.result for check in verify_run(folder, None, skip=["report"])} == {"pass", "not_evaluated"}


def test_where_no_arm_has_a_prompt_every_arm_is_named_with_code_and_cause(
    small: Callable[..., list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arms = ("naive", "naive_volatile", "capsule")
    windows = [f"arms.{arm}.budget.window=700" for arm in arms]
    limits = [f"arms.{arm}.budget.evidence_limit=600" for arm in arms]
    folder, prepared = start_run(
        compose_config(small("engine.window=700", *windows, *limits)), tmp_path, QUIET
    )
    with pytest.raises(DeadEndError) as stopped:
        drive(folder, prepared, QUIET)
    first, *told = str(stopped.value).splitlines()
    assert first.startswith("no prompt can be built for any arm (tokens are counted with tokenizer=hf:")
    assert [line.split(":")[0].strip() for line in told] == list(arms)
    for line in told:
        assert "3 of 3 samples without a prompt, budget.protected.truncated (the first, " in line
        assert "expected at most 700 tokens (budget.window), found " in line
    assert not folder.complete
    assert not folder.engines.exists()
    assert main(["show", str(folder.path)]) == 0
    out = capsys.readouterr().out
    assert "requests   not planned: building the prompts has not finished\n" in out
    assert " 0 planned" not in out
    assert main(["show", "--json", str(folder.path)]) == 0
    assert '"counts":null' in capsys.readouterr().out


def test_a_dry_build_counts_the_other_arms_where_a_lossy_one_is_not_run(
    small: Callable[..., list[str]], tmp_path: Path
) -> None:
    more = small("+arm@arms.capsule_self_information=capsule_self_information")
    _, _, plan = build_only(compose_config(more), tmp_path, QUIET)
    assert set(plan.skipped) == {"compression.unavailable"}
    assert len(plan.quality["capsule.primed"]) == 3


def row(sample_id: str, arm_id: str, error: str | None) -> BuildRow:
    return BuildRow(
        sample_id=sample_id, arm_id=arm_id, status="ok" if error is None else "error", error=error,
        prompt_capsule=None, evidence_capsules=(), ids_digest=None, n_prompt=0, pieces=(), shown=(),
        stages=(), silent_omissions=0, silent_tokens=0, omissions=(), laws=(), flags=(), compressor_us=0,
    )  # fmt: skip


def test_what_could_not_be_built_is_counted_by_arm_and_code() -> None:
    rows = [
        row("s1", "b", None), row("s1", "a", "x.y: one: two"),
        row("s2", "b", "z.z: why"), row("s2", "a", "x.x: other"),
        row("s3", "b", None), row("s3", "a", "x.y: three"),
    ]  # fmt: skip
    counts = tally(rows)
    counts.require_prompts("bytes")  # two prompts of one arm are enough
    assert [one.line() for one in counts.unbuilt()] == [
        "b: 1 of 3 samples without a prompt, z.z (the first, s2: why)",
        "a: 2 of 3 samples without a prompt, x.y (the first, s1: one: two)",
        "a: 1 of 3 samples without a prompt, x.x (the first, s2: other)",
    ]
    tally([]).require_prompts("bytes")
    tally([row("s1", "a", "compression.unavailable: dry")]).require_prompts("bytes")
    with pytest.raises(DeadEndError, match=r"tokenizer=bytes\):\n  a: 1 of 1 sample without a prompt, x.y"):
        tally([row("s1", "a", "x.y: z")]).require_prompts("bytes")
    for replay, kind in ((False, RunError), (True, DeadEndError)):  # a replay's record is what it is
        with pytest.raises(RunError) as stopped:
            tally([row("s1", "a", "compression.lost: z")]).require_prompts("bytes", replay=replay)
        assert type(stopped.value) is kind


def test_a_prompt_that_may_not_be_sent_is_an_error_with_its_reason(
    run_small: Callable[..., Outcome], tmp_path: Path
) -> None:
    done = run_small(tmp_path, "arms.naive.authority.providers=[elsewhere]", "rebuild=false")
    rows = [row for row in read_scores(done.folder.scores) if row.arm_id == "naive"]
    exact = Counter((row.status, row.code) for row in rows if row.metric == "exact_citation")
    assert exact == {("error", "provider.unauthorized"): 3 * 3}
    assert {row.status for row in rows if row.metric == "tokens_prompt"} == {"ok"}  # it was built
    head = done.folder.path.joinpath("report.md").read_text().replace("\\", "").split("| --- | --- |")[0]
    assert (
        "0 of 9 prompts could not be built, 3 of 9 were built and not sent (provider.unauthorized 3)." in head
    )
    assert done.counts.skipped == {"provider.unauthorized": CAPSULE}  # the same cells as the capsule
