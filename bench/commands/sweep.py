"""Runs a sweep's jobs, each to its end once, and gathers what they left.

Rules that this module owns:

* A job whose run is complete and clean is not run again; one that was begun is resumed from its own config;
  any other one is started. The same code serves a new sweep and a resumed one.
* A job that cannot be done costs that job: its exit code is 2, the others go on.
* The comparison holds every complete run; jobs without one are named at its top.
"""

from __future__ import annotations

from collections.abc import Sequence

from omegaconf import DictConfig

from bench.commands.drive import drive_to_end, ended, guarded
from bench.commands.output import print_json
from bench.comparison.document import comparison_files
from bench.comparison.members import Member, load_member
from bench.completion import write_files
from bench.config import config_digest, to_spec
from bench.config_checks import ConfigError
from bench.hydra_app import multirun
from bench.pipeline import resume_run, start_run
from bench.progress import Reporter
from bench.run_store import RunError, read_json
from bench.sweep_folder import Job, SweepFolder

WORST_FIRST = (130, 2, 3, 1)


def run_sweep(sweep: SweepFolder) -> int:
    """Bring every job of a sweep to its end and gather; returns the worst exit code."""
    reporter = Reporter()
    try:
        multirun(sweep.overrides, lambda number, overrides, cfg: run_job(sweep, number, overrides, cfg))
    except ConfigError:
        sweep.discard_if_unused()
        raise
    reporter.say(f"sweep folder: {sweep.path}")
    codes = {number: sweep.code(number) for number in sweep.numbers()}
    worst = next((code for code in WORST_FIRST if code in codes.values()), 0)
    gather(sweep, reporter)
    jobs = [
        {"job": number, "exit": code, "run": str(job.run.path) if (job := sweep.job(number)) else None}
        for number, code in codes.items()
    ]
    print_json({"sweep": str(sweep.path), "jobs": jobs, "exit": worst})
    return worst


def run_job(sweep: SweepFolder, number: int, overrides: Sequence[str], cfg: DictConfig) -> None:
    """Bring one job to its end, whatever of it is there."""
    sweep.start(number)
    sweep.end(number, guarded(lambda: _job(sweep, number, overrides, cfg)))


def _job(sweep: SweepFolder, number: int, overrides: Sequence[str], cfg: DictConfig) -> int:
    reporter = Reporter()
    reporter.say(f"job {number}: {' '.join(overrides) or '(no overrides)'}")
    job = sweep.job(number)
    if job is None:
        folder, prepared = start_run(cfg, sweep.results, reporter)
        sweep.begin(number, overrides, folder)
        return drive_to_end(folder, prepared, reporter)
    _require_same(job, overrides, cfg)
    outcome = ended(job.run, reporter) if job.run.complete else None
    if outcome is not None and outcome.clean:
        reporter.say(f"job {number}: {job.run.path} is complete")
        return outcome.exit_code
    return drive_to_end(job.run, resume_run(job.run, reporter), reporter)


def _require_same(job: Job, overrides: Sequence[str], cfg: DictConfig) -> None:
    if job.overrides != tuple(overrides):
        raise RunError(
            f"job {job.number} of this sweep was begun with {' '.join(job.overrides)}, "
            f"now it has {' '.join(overrides)}: start a new sweep"
        )
    if job.run.facts.is_file():
        known, found = read_json(job.run.facts)["config_digest"], config_digest(to_spec(cfg))
        if known != found:
            raise RunError(
                f"job {job.number} was begun with config digest {known}, now it has {found}: "
                "the configuration files changed; start a new sweep"
            )


def gather(sweep: SweepFolder, reporter: Reporter) -> list[str]:
    """Write the comparison of a sweep's complete runs; returns the names of the files that changed.

    With less than two complete runs there is nothing to compare, which is said.
    """
    members: list[Member] = []
    missing: list[str] = []
    for number in sweep.numbers():
        job = sweep.job(number)
        if job is not None and job.run.complete:
            members.append(load_member(job.run, f"job {number}"))
        else:
            missing.append(f"job {number} ({' '.join(job.overrides) if job else 'no run was made'})")
    if len(members) < 2:
        reporter.say(f"complete runs: {len(members)}; a comparison needs two")
        return []
    files = comparison_files(members, title=f"Sweep: {' '.join(sweep.overrides)}", missing=missing)
    changed = write_files(sweep.path, files)
    reporter.say(f"comparison: {sweep.path / 'comparison.html'} (text: {sweep.path / 'comparison.md'})")
    return changed
