"""Runs a sweep's jobs, each to its end once, and gathers what they left.

Rules that this module owns:

* A job whose run is complete and clean is not run again; one that was begun is resumed from its own config;
  any other one is started. The same code serves a new sweep and a resumed one.
* A job that cannot be done costs that job: its exit code is 2, the others go on. An interruption ends the
  sweep, and says how it goes on.
* A job that is refused before anything of it is done (it was begun under another configuration, its files are
  damaged or gone, another process runs it) keeps the exit code with which it ended; the sweep ends with 2.
* The comparison holds every complete run; jobs without one, or whose run cannot be read, are named at its
  top, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from omegaconf import DictConfig

from bench.commands.drive import drive_to_end, ended, guarded, resume_command
from bench.commands.output import print_json
from bench.comparison.document import comparison_files
from bench.comparison.members import Member, load_member
from bench.completion import write_files
from bench.config import config_digest, to_spec
from bench.config_checks import ConfigError
from bench.errors import is_expected
from bench.hydra_app import multirun
from bench.pipeline import resume_run, start_run
from bench.progress import Reporter, fail
from bench.run_store import RunError, read_json
from bench.sweep_folder import InUseError, Job, SweepFolder

INTERRUPTED = 130
WORST_FIRST = (INTERRUPTED, 2, 3, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What a comparison holds.

    Attributes:
        runs: Number of runs in it.
        missing: Jobs that are not, with the reason.
        changed: Names of the files that were written anew.
    """

    runs: int
    missing: tuple[str, ...]
    changed: tuple[str, ...] = ()


def run_sweep(sweep: SweepFolder) -> int:
    """Bring every job of a sweep to its end and gather; returns the worst exit code.

    Raises:
        ConfigError: A combination does not compose: no job was started.
        RunError: Another process drives it.
        KeyboardInterrupt: After the line on stdout and the hint were printed.
    """
    reporter = Reporter()
    with sweep.held():
        try:
            multirun(sweep.overrides, lambda number, overrides, cfg: run_job(sweep, number, overrides, cfg))
        except ConfigError:
            sweep.discard_if_unused()
            raise
        except KeyboardInterrupt:
            print_json({"sweep": str(sweep.path), "jobs": _jobs(sweep), "exit": INTERRUPTED})
            fail(f"the sweep was interrupted; continue with: {resume_command(sweep.path)}")
            raise
        reporter.say(f"sweep folder: {sweep.path}")
        gather(sweep, reporter)
        jobs = _jobs(sweep)
        codes = {2 if job["refused"] else 0 for job in jobs} | {job["exit"] for job in jobs}
        worst = next((code for code in WORST_FIRST if code in codes), 0)
        print_json({"sweep": str(sweep.path), "jobs": jobs, "exit": worst})
    return worst


def _jobs(sweep: SweepFolder) -> list[dict[str, Any]]:
    """Number, exit code, run folder of every job that was reached, and whether it was refused this time."""
    found = []
    for number in sweep.numbers():
        try:
            job = sweep.job(number)
        except RunError:  # what is damaged was said when the job was reached
            job = None
        found.append(
            {
                "job": number,
                "exit": sweep.code(number),
                "run": str(job.run.path) if job else None,
                "refused": sweep.refused(number),
            }
        )
    return found


def run_job(sweep: SweepFolder, number: int, overrides: Sequence[str], cfg: DictConfig) -> None:
    """Bring one job to its end, whatever of it is there."""
    why: list[str] = []

    def alone() -> int:
        try:
            return _run_alone(sweep, number, overrides, cfg)
        except InUseError as error:  # the other process writes down what becomes of it
            fail(str(error))
            return 0

    if guarded(alone, why.append) != 0:
        sweep.refuse(number, *why)


def _run_alone(sweep: SweepFolder, number: int, overrides: Sequence[str], cfg: DictConfig) -> int:
    """Run one job and write down how it ended; an error is a refusal, and nothing was done."""
    with sweep.running(number):
        job = sweep.job(number)
        if job is not None:
            _require_same(job, overrides, cfg)
            _require_config(sweep, job)
        sweep.start(number)
        why: list[str] = []
        try:
            code = guarded(lambda: _job(sweep, number, overrides, cfg, job), why.append)
        except KeyboardInterrupt:
            sweep.end(number, INTERRUPTED, "it was interrupted")
            raise
        sweep.end(number, code, *why)
    return 0


def _job(sweep: SweepFolder, number: int, overrides: Sequence[str], cfg: DictConfig, job: Job | None) -> int:
    reporter = Reporter()
    reporter.say(f"job {number} of {sweep.path}: {' '.join(overrides) or '(no overrides)'}")
    if job is None:
        folder, prepared = start_run(cfg, sweep.results, reporter)
        sweep.begin(number, overrides, folder)
        return drive_to_end(folder, prepared, reporter)
    outcome = ended(job.run, reporter) if job.run.complete else None
    if outcome is not None and outcome.clean:
        reporter.say(f"job {number}: {job.run.path} is complete")
        return outcome.exit_code
    return drive_to_end(job.run, resume_run(job.run, reporter), reporter)


def _require_config(sweep: SweepFolder, job: Job) -> None:
    if not job.run.config.is_file():
        raise RunError(
            f"the run folder {job.run.path} of job {job.number} is gone; to run the job anew, delete "
            f"{sweep.job_file(job.number)} and resume the sweep"
        )


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


def gather(sweep: SweepFolder, reporter: Reporter) -> Gathered:
    """Write the comparison of a sweep's complete runs.

    With less than two complete runs there is nothing to compare, which is said.
    """
    members: list[Member] = []
    missing: list[str] = []
    for number in sweep.numbers():
        found = _member(sweep, number)
        if isinstance(found, Member):
            members.append(found)
        else:
            missing.append(found)
    for line in missing:
        reporter.say(f"not in the comparison: {line}")
    if len(members) < 2:
        reporter.say(f"complete runs: {len(members)}; a comparison needs two")
        return Gathered(runs=len(members), missing=tuple(missing))
    files = comparison_files(members, title=f"Sweep: {' '.join(sweep.overrides)}", missing=missing)
    changed = write_files(sweep.path, files)
    reporter.say(f"comparison: {sweep.path / 'comparison.html'} (text: {sweep.path / 'comparison.md'})")
    return Gathered(runs=len(members), missing=tuple(missing), changed=tuple(changed))


def _member(sweep: SweepFolder, number: int) -> Member | str:
    """The complete run of a job, or in words why there is none."""
    try:
        job = sweep.job(number)
        if job is None:
            return f"job {number}: no run was made: {sweep.reason(number)}"
        if not job.run.complete:
            return f"job {number} ({' '.join(job.overrides)}): {sweep.reason(number)}"
        return load_member(job.run, f"job {number}")
    except Exception as error:
        if not (is_expected(error) or isinstance(error, OSError)):
            raise
        return f"job {number}: {str(error).splitlines()[0]}"
