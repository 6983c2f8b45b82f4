"""A run whose compressor was lost, continued: it is asked again; no finished sample is lost or doubled."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scripted_library import BESIDE, FAILED, LOST, TWO, ScriptedLibrary, answers, errors, failures, sent

from bench.__main__ import main
from bench.build_file import BuildRows
from bench.compression.library_env import SetUpError
from bench.compressor_start import compressor_starter
from bench.config import to_spec
from bench.engines.process import process_record
from bench.hydra_app import compose_config
from bench.lock import RunLock
from bench.pipeline import Outcome, _store_routes, drive, resume_run
from bench.progress import Reporter
from bench.records import BuildRow, RouteRow
from bench.records_io import read_rows, rows_bytes
from bench.run_store import DeadEndError, RunError, RunFolder

QUIET = Reporter(quiet=True)


@pytest.fixture
def copied(unstarted: tuple[Outcome, str], tmp_path: Path) -> RunFolder:
    folder = unstarted[0].folder
    return RunFolder(Path(shutil.copytree(folder.path, tmp_path / folder.run_id)))


def test_resume_asks_again_and_keeps_what_was_finished(
    copied: RunFolder, library: ScriptedLibrary, capsys: pytest.CaptureFixture[str]
) -> None:
    library.whole()
    before = {path: path.read_bytes() for path in (copied.requests, copied.responses)}
    capsule = [row for row in read_rows(copied.builds, BuildRow) if row.arm_id == "capsule"]
    assert main(["resume", str(copied.path)]) == 0
    assert "8 requests planned: 8 done, 0 failed, 0 skipped" in capsys.readouterr().err
    assert library.texts() == 3
    assert sent(copied) == {"capsule": 4, "two": 4}
    assert all(path.read_bytes().startswith(data) for path, data in before.items())
    rows = read_rows(copied.builds, BuildRow)
    assert [row for row in rows if row.arm_id == "capsule"] == capsule
    assert [(row.arm_id, row.status) for row in rows] == [("capsule", "ok"), ("two", "ok")] * 3
    assert answers(copied) == [None] * 3
    assert failures(copied) == {}
    assert "NO PROMPT" not in copied.path.joinpath("report.md").read_text()
    assert main(["resume", str(copied.path)]) == 0
    assert "is complete: nothing to do" in capsys.readouterr().err


def test_an_interrupted_run_is_continued_with_the_compressor(
    copied: RunFolder, library: ScriptedLibrary
) -> None:
    library.whole()
    lines = copied.responses.read_bytes().splitlines(keepends=True)
    copied.responses.write_bytes(b"".join(lines[:2]))
    copied.manifest.unlink()
    outcome = drive(copied, resume_run(copied, QUIET), QUIET)
    assert (outcome.exit_code, outcome.counts.done) == (0, 8)
    assert copied.responses.read_bytes().startswith(b"".join(lines[:2]))
    assert sent(copied) == {"capsule": 4, "two": 4}
    assert failures(copied) == {}


def test_lost_again_is_the_same_run_again(
    copied: RunFolder, library: ScriptedLibrary, capsys: pytest.CaptureFixture[str]
) -> None:
    library.broken()
    paths = (copied.builds, copied.compressions, copied.requests, copied.responses, copied.scores)
    before = [path.read_bytes() for path in paths]
    assert main(["resume", str(copied.path)]) == 3
    assert [path.read_bytes() for path in paths] == before
    said = capsys.readouterr().err
    assert "WARNING: llmlingua2 is lost, 3 of 3" in said
    assert (
        f"4 of them because a compressor was lost; to ask it again: capsule-bench resume {copied.path}"
        in said
    )
    library.python.unlink()  # lost again, for another reason
    assert main(["resume", str(copied.path)]) == 3
    cause = "cannot start the engine process: No such file or directory"
    assert errors(copied) == [f"{LOST}: {cause}"] * 3
    library.without_memory()
    assert main(["resume", str(copied.path)]) == 3
    assert errors(copied) == [f"{LOST}: starting llmlingua2: MemoryError"] * 3
    assert failures(copied) == {}


def test_nothing_goes_on_beside_a_process_that_the_compressor_left(
    small: Callable[..., list[str]], tmp_path: Path
) -> None:
    bench: Any = SimpleNamespace(
        spec=to_spec(compose_config(small(*BESIDE, *TWO, "arms.two.compression.model=m")))
    )
    prepared: Any = SimpleNamespace(model=None, not_set_up=SetUpError("no disk"))
    with RunLock(RunFolder(tmp_path), QUIET.say) as lock, subprocess.Popen(["sleep", "60"]) as left:
        start = compressor_starter(bench, RunFolder(tmp_path), prepared, lock, QUIET)
        with pytest.raises(SetUpError):
            start("llmlingua2", "m")
        lock.add_engine(process_record(left.pid, token="left", tmp_dir=str(tmp_path)))
        try:
            with pytest.raises(RunError, match="still lives"):
                start("llmlingua2", "m")
        finally:
            left.kill()
            left.wait()


def row(error: str | None) -> BuildRow:
    return BuildRow(
        sample_id="s", arm_id="a", status="ok" if error is None else "error", error=error,
        prompt_capsule=None, evidence_capsules=(), ids_digest=None, n_prompt=0, pieces=(), shown=(),
        stages=(), silent_omissions=0, silent_tokens=0, omissions=(), laws=(), flags=(), compressor_us=0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("known", "now", "refused"),
    [
        (f"{LOST}: x", None, None),
        (f"{LOST}: x", f"{FAILED}: y", None),
        (f"{FAILED}: x", None, DeadEndError),
        (f"{LOST}ly: x", None, DeadEndError),
        (None, f"{FAILED}: x", DeadEndError),
        (None, f"{LOST}: x", RunError),
    ],
)
def test_only_a_lost_prompt_may_become_another(
    known: str | None, now: str | None, refused: type[RunError] | None, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path)
    other = BuildRow(**{name: getattr(row(None), name) for name in BuildRow.__slots__} | {"sample_id": "t"})
    folder.builds.write_bytes(rows_bytes([row(known), other]))
    folder.samples.write_bytes(b"")
    with BuildRows(folder, "bytes") as rows:
        if refused is not None:
            with pytest.raises(refused) as stopped:
                rows.add(row(now))
            assert type(stopped.value) is refused  # what may pass is no dead end
            return
        rows.add(row(now))
        rows.add(other)
        assert read_rows(folder.builds, BuildRow) == [row(known), other]  # until it is whole
        rows.finish((), ())
    assert read_rows(folder.builds, BuildRow) == [row(now), other]
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_routes_of_prompts_that_came_back_are_added_and_no_other_changes(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    one, two, three = (
        RouteRow(sample_id=name, arm_id="a", provider="local", hops=()) for name in ("s", "t", "u")
    )
    _store_routes(folder, [])
    assert not folder.routes.exists()
    _store_routes(folder, [two])
    _store_routes(folder, [one, two, three])
    assert read_rows(folder.routes, RouteRow) == [one, two, three]
    before = folder.routes.stat().st_ino
    _store_routes(folder, [one, two, three])
    assert folder.routes.stat().st_ino == before
    for now in ([one, three], [one, replace(two, provider=None), three], [two, one, three]):
        with pytest.raises(DeadEndError, match="decides otherwise"):
            _store_routes(folder, now)
    assert read_rows(folder.routes, RouteRow) == [one, two, three]
