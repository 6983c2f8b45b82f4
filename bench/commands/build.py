"""``capsule-bench build``: capsules only, without an engine."""

from __future__ import annotations

import argparse

from bench.commands.output import print_json
from bench.dry_arms import count_arms, count_refused, lines, stored_counts
from bench.dry_run import CellCount, count_cells
from bench.hydra_app import compose_config
from bench.pipeline import build_only
from bench.progress import Reporter
from bench.run_store import write_json


def run(arguments: argparse.Namespace) -> int:
    """Build and store every capsule; 3 if a prompt cannot be built."""
    reporter = Reporter()
    folder, spec, plan = build_only(compose_config(arguments.overrides), arguments.results, reporter)
    cells, arms, refused = count_cells(spec, plan), count_arms(folder, spec), count_refused(folder)
    data = stored_counts(folder)
    for line in [*_lines(cells), *lines(arms, refused), *(data.lines() if data else ())]:
        reporter.say(line)
    value = {
        "run": str(folder.path),
        "run_id": folder.run_id,
        "exit": 3 if plan.skipped else 0,
        "arms": [arm.to_value() for arm in arms],
        "cells": [cell.to_value() for cell in cells],
        "refused": refused,
        "data": data.to_value() if data else None,
        "skipped": dict(sorted(plan.skipped.items())),
    }
    write_json(folder.dry_counts, {k: v for k, v in value.items() if k != "run"})
    print_json(value)
    return 3 if plan.skipped else 0


def _lines(cells: list[CellCount]) -> list[str]:
    head = f"{'cell':<28} {'prompts':>8} {'tokens':>9} {'longest':>8} {'stable':>7} {'predicted cached':>17}"
    rows = [
        f"{c.cell_id:<28} {c.prompts:>8} {c.tokens:>9} {c.longest:>8} {c.stable:>7} "
        f"{c.cached:>9} ({c.share_bp / 100:.1f} %)"
        for c in cells
    ]
    return [head, *rows]
