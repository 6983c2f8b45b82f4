"""``capsule-bench report``: the report of a run, or the comparison of a sweep, from stored bytes alone."""

from __future__ import annotations

import argparse

from bench.commands.output import print_json, print_text
from bench.commands.sweep import gather
from bench.completion import derive_report, update_manifest, write_files
from bench.plural import number_of
from bench.progress import Reporter
from bench.run_store import find_run
from bench.sweep_folder import SweepFolder, find_sweep


def run(arguments: argparse.Namespace) -> int:
    """Derive the report again and write the files that differ."""
    sweep = find_sweep(arguments.target, arguments.results)
    if sweep is not None:
        return _comparison(sweep, arguments.json)
    folder = find_run(arguments.target, arguments.results)
    files = derive_report(folder)
    changed = write_files(folder.path, files)
    if changed:
        update_manifest(folder, files)
    if arguments.json:
        print_json({"run": str(folder.path), "files": len(files), "changed": changed})
    else:
        state = f"{len(changed)} written anew" if changed else "unchanged, byte for byte"
        print_text(f"{folder.path / 'report.html'}: {number_of(len(files), 'file')}, {state}")
    return 0


def _comparison(sweep: SweepFolder, as_json: bool) -> int:
    found = gather(sweep, Reporter(quiet=as_json))
    if as_json:
        print_json(
            {
                "sweep": str(sweep.path),
                "runs": found.runs,
                "missing": list(found.missing),
                "changed": list(found.changed),
            }
        )
    elif found.runs > 1:
        state = (
            f"{number_of(len(found.changed), 'file')} written anew"
            if found.changed
            else "unchanged, byte for byte"
        )
        print_text(f"{sweep.path / 'comparison.html'}: {number_of(found.runs, 'run')}, {state}")
    return 0 if found.runs > 1 else 2
