"""``capsule-bench resume``: continue a run from its own config."""

from __future__ import annotations

import argparse

from bench.commands.drive import drive_to_end, say_end
from bench.pipeline import Outcome, resume_run
from bench.progress import Reporter
from bench.records_io import RowError
from bench.run_store import RunFolder, find_run
from bench.stored_run import StoredRun


def run(arguments: argparse.Namespace) -> int:
    """Continue a run; one that is complete and clean is left alone."""
    reporter = Reporter()
    folder = find_run(arguments.target, arguments.results)
    if folder.complete:
        outcome = _outcome(folder, reporter)
        if outcome is not None and not outcome.counts.failed and not outcome.void:
            reporter.say(f"{folder.path} is complete: nothing to do")
            say_end(outcome, reporter)
            return outcome.exit_code
    return drive_to_end(folder, resume_run(folder, reporter), reporter)


def _outcome(folder: RunFolder, reporter: Reporter) -> Outcome | None:
    """How a complete run ended, or ``None`` if its rows cannot be read any more."""
    try:
        stored = StoredRun(folder)
    except RowError as error:
        reporter.say(f"{error}: this run was complete and is no longer")
        return None
    return Outcome(folder=folder, counts=stored.counts(), void=stored.void())
