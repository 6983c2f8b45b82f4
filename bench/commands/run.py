"""``capsule-bench run``: one run, or with ``-m`` one a combination of a sweep."""

from __future__ import annotations

import argparse
from pathlib import Path

from omegaconf import DictConfig

from bench.commands.drive import drive_to_end, guarded
from bench.hydra_app import compose_config, multirun
from bench.pipeline import start_run
from bench.progress import Reporter


def run(arguments: argparse.Namespace) -> int:
    """Run an experiment."""
    if not arguments.multirun:
        return run_one(compose_config(arguments.overrides), arguments.results)
    codes = multirun(arguments.overrides, lambda cfg: guarded(lambda: run_one(cfg, arguments.results)))
    return next((code for code in (130, 2, 3, 1) if code in codes), 0)


def run_one(cfg: DictConfig, results: Path) -> int:
    """One run, from config to manifest."""
    reporter = Reporter()
    folder, prepared = start_run(cfg, results, reporter)
    return drive_to_end(folder, prepared, reporter)
