"""``capsule-bench resume``: continue a run from its own config, or every unfinished job of a sweep."""

from __future__ import annotations

import argparse

from bench.commands.drive import drive_to_end, ended, say_end
from bench.commands.sweep import run_sweep
from bench.pipeline import resume_run
from bench.progress import Reporter
from bench.run_store import find_run
from bench.sweep_folder import find_sweep


def run(arguments: argparse.Namespace) -> int:
    """Continue a run or a sweep; what is complete and clean is left alone."""
    sweep = find_sweep(arguments.target, arguments.results)
    if sweep is not None:
        return run_sweep(sweep)
    reporter = Reporter()
    folder = find_run(arguments.target, arguments.results, to_continue=True)
    if folder.complete:
        outcome = ended(folder, reporter)
        if outcome is not None and outcome.clean:
            reporter.say(f"{folder.path} is complete: nothing to do")
            say_end(outcome, reporter)
            return outcome.exit_code
    return drive_to_end(folder, resume_run(folder, reporter), reporter)
