"""Lossy compressors in a run: collected, answered once, stored, repeated, verified."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from bench.commands.find_capsule import stored_capsule
from bench.compression_stage import read_output
from bench.engines.base import EngineError
from bench.engines.fake import FakeEngine
from bench.pipeline import Outcome, drive, resume_run
from bench.progress import Reporter
from bench.records import BuildRow, CompressionRow
from bench.records_io import read_rows, rows_bytes
from bench.run_store import DeadEndError, RunFolder
from bench.showing.gather import Setting, gather
from bench.showing.page import to_html
from bench.showing.text import lines
from bench.verification import verify_run

QUIET = Reporter(quiet=True)
ONE = ("~arm@arms.naive", "~arm@arms.naive_volatile", "arms.capsule.caches=[primed]", "limit=2")
SCORED = ("+arm@arms.si=capsule_self_information", "arms.si.caches=[primed]")
SCORED_RAW = ("+arm@arms.si_raw=capsule_self_information_raw", "arms.si_raw.caches=[primed]")
OWN = (
    "+arm@arms.own=capsule_self_information_raw",
    "arms.own.compression.name=own_texts:shorten",
    "arms.own.caches=[primed]",
)


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A user's module with a compressor that keeps every other word."""
    module = ModuleType("own_texts")
    module.calls = []  # type: ignore[attr-defined]

    def shorten(question: str, rate_bp: int, texts: list[str]) -> list[str]:
        module.calls.append(question)
        return [" ".join(text.split(" ")[::2]) for text in texts]

    module.shorten = shorten  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_texts", module)
    return module


@pytest.fixture(scope="module")
def scored(run_small: Callable[..., Outcome], tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A finished run with self_information, protected and raw."""
    return run_small(tmp_path_factory.mktemp("scored"), *ONE, *SCORED, *SCORED_RAW)


@pytest.fixture
def copied(scored: Outcome, tmp_path: Path) -> RunFolder:
    return RunFolder(Path(shutil.copytree(scored.folder.path, tmp_path / scored.folder.run_id)))


def failures(folder: RunFolder) -> dict[str, str]:
    found = verify_run(folder, None, ("report",))
    return {check.check: check.detail for check in found if check.result == "fail"}


def test_a_run_with_rewrites_is_whole_and_verifies(scored: Outcome) -> None:
    assert scored.exit_code == 0
    rows = read_rows(scored.folder.builds, BuildRow)
    for arm_id in ("si", "si_raw"):
        mine = [row for row in rows if row.arm_id == arm_id]
        assert all(
            row.status == "ok" and dict(row.laws) == dict.fromkeys(dict(row.laws), True) for row in mine
        )
        assert any(text.status == "rewritten" for row in mine for text in row.compressed)
        assert all(row.compressor_us > 0 for row in mine)
    assert len(read_rows(scored.folder.compressions, CompressionRow)) == 4
    assert failures(scored.folder) == {}


def test_rewrites_are_shown(scored: Outcome) -> None:
    row = next(r for r in read_rows(scored.folder.builds, BuildRow) if r.arm_id == "si_raw")
    store = scored.folder.store(read_only=True)
    digest = str(row.prompt_capsule)
    capsule = stored_capsule(digest, store)
    view = gather(digest, capsule, Setting(store=store, now=None))
    (shown,) = view.rewrites
    assert shown.name.startswith("self_information: ")
    names = [name for name, _ in shown.facts]
    assert names == ["dropped", "numbers lost", "numbers added", "negations lost", "names lost", "broken"]
    assert shown.facts[0][1] != "nothing"
    text = "\n".join(lines(view, colour=False, width=100))
    assert "rewrite self_information" in text
    assert "negations lost" in text
    assert "Rewrite self_information" in to_html(view)
    hidden = gather(digest, capsule, Setting(store=store, now=None, hide=True)).rewrites[0]
    assert hidden.text == f"({len(shown.text)} characters)"
    blind = gather(digest, capsule, Setting(store=None, now=None)).rewrites[0]
    assert blind.facts == (("lost", "unknown: a source is not in the store"),)


def test_a_resumed_run_repeats_the_stored_answers(copied: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the engine was asked again")

    monkeypatch.setattr(FakeEngine, "prompt_logprobs", never)
    before = copied.builds.read_bytes()
    copied.manifest.unlink()
    outcome = drive(copied, resume_run(copied, QUIET), QUIET)
    assert outcome.exit_code == 0
    assert copied.builds.read_bytes() == before


def test_a_torn_or_missing_answer_is_asked_for_again(copied: RunFolder) -> None:
    rows = read_rows(copied.compressions, CompressionRow)
    copied.compressions.write_bytes(rows_bytes(rows[:2]) + b'{"ask": "b3')
    copied.manifest.unlink()
    drive(copied, resume_run(copied, QUIET), QUIET)
    again = read_rows(copied.compressions, CompressionRow)
    assert [row.output for row in again] == [row.output for row in rows]
    assert failures(copied) == {}


def test_verify_finds_an_answer_to_another_ask(copied: RunFolder) -> None:
    first, second, *rest = read_rows(copied.compressions, CompressionRow)
    swapped = CompressionRow(ask=first.ask, output=second.output, us=first.us)
    copied.compressions.write_bytes(rows_bytes([swapped, second, *rest]))
    assert "answers" in failures(copied)["compressions"]
    copied.compressions.write_bytes(rows_bytes([second, *rest]))
    assert "is no stored answer of self_information" in failures(copied)["compressions"]
    copied.manifest.unlink()
    copied.compressions.write_bytes(rows_bytes([swapped]))
    with pytest.raises(DeadEndError, match="answers"):
        drive(copied, resume_run(copied, QUIET), QUIET)


def test_verify_finds_a_build_row_that_says_another_text(copied: RunFolder) -> None:
    text = copied.builds.read_text("utf-8")
    copied.builds.write_text(
        text.replace('"status":"rewritten","text":"', '"status":"rewritten","text":"x', 1)
    )
    assert "the capsule holds" in failures(copied)["compressions"]


def test_a_function_of_ones_own_is_asked_once_for_equal_asks(
    run_small: Callable[..., Outcome], own: ModuleType, tmp_path: Path
) -> None:
    twin = [word.replace("arms.own", "arms.twin") for word in OWN]
    outcome = run_small(tmp_path, *ONE, *OWN, *twin)
    assert outcome.exit_code == 0
    assert len(own.calls) == 2  # two samples; the twin arm asks the same
    assert all(own.calls)  # functions of one's own see the question
    assert failures(outcome.folder) == {}


def test_a_function_that_fails_costs_its_prompts_and_nothing_else(
    run_small: Callable[..., Outcome], own: ModuleType, tmp_path: Path
) -> None:
    real = own.shorten

    def fails_first(question: str, rate_bp: int, texts: list[str]) -> list[str]:
        found: list[str] = real(question, rate_bp, texts)
        if len(own.calls) == 1:
            raise MemoryError("secret text")
        return found

    own.shorten = fails_first  # type: ignore[attr-defined]
    outcome = run_small(tmp_path, *ONE, *OWN)
    assert outcome.exit_code == 3
    failed = [r for r in read_rows(outcome.folder.builds, BuildRow) if r.status == "error"]
    assert [row.error for row in failed] == ["compression.failed: own_texts:shorten raised MemoryError"]
    assert dict(outcome.counts.skipped) == {
        "compression.failed": outcome.counts.planned - outcome.counts.done
    }
    rows = read_rows(outcome.folder.compressions, CompressionRow)
    _, texts, error = read_output(outcome.folder.store(read_only=True), rows[0].output)
    assert (texts, error) == ((), "compression.failed: own_texts:shorten raised MemoryError")


def test_an_engine_that_dies_while_scoring_is_started_again(
    run_small: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = FakeEngine.prompt_logprobs, [0]

    def dies(self: FakeEngine, prompts: list[tuple[int, ...]]) -> list[list[float | None]]:
        calls[0] += 1
        if calls[0] == 2:  # the first is the one before the clock
            raise EngineError("gone")
        return real(self, prompts)

    monkeypatch.setattr(FakeEngine, "prompt_logprobs", dies)
    outcome = run_small(tmp_path, *ONE, *SCORED_RAW)
    errors = [row.error for row in read_rows(outcome.folder.builds, BuildRow) if row.status == "error"]
    assert errors == ["compression.failed: the compressor's process was lost"]
    assert outcome.exit_code == 3


def test_an_engine_that_cannot_score_is_said(
    run_small: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeEngine, "prompt_logprobs", None)
    with pytest.raises(EngineError, match="gives no log-probabilities of prompts"):
        run_small(tmp_path, *ONE, *SCORED)


def test_a_replayed_run_repeats_the_recorded_answers(
    run_small: Callable[..., Outcome], scored: Outcome, tmp_path: Path
) -> None:
    recorded = str(scored.folder.path)
    outcome = run_small(
        tmp_path,
        *ONE,
        *SCORED,
        *SCORED_RAW,
        "engine=replay",
        f"engine.recorded={recorded}",
        "engine.block_size=16",
    )
    assert outcome.counts.failed == 0
    answers = [read_rows(run.folder.compressions, CompressionRow) for run in (scored, outcome)]
    assert answers[0] == answers[1]
    builds = [read_rows(run.folder.builds, BuildRow) for run in (scored, outcome)]
    assert builds[0] == builds[1]
