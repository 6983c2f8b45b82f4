"""``capsule-bench run``: one run, or with ``-m`` one a combination of a sweep."""

from __future__ import annotations

import argparse
from pathlib import Path

from omegaconf import DictConfig

from bench.commands.drive import drive_to_end
from bench.commands.sweep import run_sweep
from bench.hydra_app import compose_config
from bench.pipeline import start_run
from bench.progress import Reporter
from bench.provenance import clock_now
from bench.sweep_folder import create_sweep


def run(arguments: argparse.Namespace) -> int:
    """Run an experiment."""
    if arguments.multirun:
        return run_sweep(create_sweep(arguments.results.resolve(), arguments.overrides, clock_now()))
    return run_one(compose_config(arguments.overrides), arguments.results)


def run_one(cfg: DictConfig, results: Path) -> int:
    """One run, from config to manifest."""
    reporter = Reporter()
    folder, prepared = start_run(cfg, results, reporter)
    return drive_to_end(folder, prepared, reporter)
