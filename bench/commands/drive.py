"""What ``run`` and ``resume`` share: drive a run to its end, and say how it ended.

However it ends, the run's folder stands in one JSON line on stdout, and a run that can be continued (what
stopped it may pass: ``bench.errors``) comes with the command for it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from bench.commands.output import print_json
from bench.engines.replay import REPLAY
from bench.errors import describe_os_error, is_expected, may_pass
from bench.pipeline import Outcome, drive
from bench.plural import number_of
from bench.preparation import Prepared
from bench.progress import Reporter, fail
from bench.records_io import RowError
from bench.run_store import RunFolder
from bench.stored_run import StoredRun


def drive_to_end(folder: RunFolder, prepared: Prepared, reporter: Reporter) -> int:
    """Drive a run; returns the exit code.

    Raises:
        Exception: Whatever stopped it, after the line on stdout and the hint were printed.
    """
    reporter.say(f"run folder: {folder.path}")
    try:
        outcome = drive(folder, prepared, reporter)
    except BaseException as error:
        code = 130 if isinstance(error, KeyboardInterrupt) else 2
        print_json({"run": str(folder.path), "run_id": folder.run_id, "complete": False, "exit": code})
        word = "interrupted" if code == 130 else "stopped"
        if may_pass(error):
            fail(f"{word}; continue with: {resume_command(folder.path)}")
        raise
    say_end(outcome, reporter)
    return outcome.exit_code


def resume_command(path: Path) -> str:
    """The command that continues a run or a sweep, to be pasted into a shell."""
    return f"capsule-bench resume {shlex.quote(str(path))}"


def say_end(outcome: Outcome, reporter: Reporter) -> None:
    """Say how a complete run ended."""
    folder, counts = outcome.folder, outcome.counts
    skipped = sum(counts.skipped.values())
    reporter.say(
        f"{number_of(counts.planned, 'request')} planned: {counts.done} done, {counts.failed} failed, "
        f"{skipped} skipped"
    )
    if outcome.lost:
        reporter.say(
            f"{outcome.lost} of them because a compressor was lost; "
            f"to ask it again: {resume_command(folder.path)}"
        )
    for void in outcome.void:
        reporter.say(f"void cell: {void}")
    reporter.say(f"report: {folder.path / 'report.html'} (text: {folder.path / 'report.md'})")
    print_json(
        {
            "run": str(folder.path),
            "run_id": folder.run_id,
            "complete": True,
            "exit": outcome.exit_code,
            "counts": counts.to_value(),
            "void": list(outcome.void),
            "report": str(folder.path / "report.html"),
        }
    )


def ended(folder: RunFolder, reporter: Reporter) -> Outcome | None:
    """How a complete run ended, or ``None`` if its rows cannot be read any more."""
    try:
        stored = StoredRun(folder)
    except RowError as error:
        reporter.say(f"{error}: this run was complete and is no longer")
        return None
    replay = stored.spec.engine.name == REPLAY
    return Outcome(folder=folder, counts=stored.counts(), void=stored.void(), replay=replay)


def guarded(job: Callable[[], int], told: Callable[[str], None]) -> int:
    """The exit code of one job of a sweep; an expected error is a message and code 2.

    Args:
        job: What is done.
        told: Is given the message, too.
    """
    try:
        return job()
    except OSError as error:
        message = describe_os_error(error)
    except Exception as error:
        if not is_expected(error):
            raise
        message = str(error)
    fail(message)
    told(message)
    return 2
