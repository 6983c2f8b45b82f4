"""``capsule-bench report``: the report again, from stored bytes alone."""

from __future__ import annotations

import argparse

from bench.commands.output import print_json, print_text
from bench.completion import derive_report, update_manifest, write_files
from bench.run_store import find_run


def run(arguments: argparse.Namespace) -> int:
    """Derive the report again and write the files that differ."""
    folder = find_run(arguments.target, arguments.results)
    files = derive_report(folder)
    changed = write_files(folder, files)
    if changed:
        update_manifest(folder, files)
    if arguments.json:
        print_json({"run": str(folder.path), "files": len(files), "changed": changed})
    else:
        state = f"{len(changed)} written anew" if changed else "unchanged, byte for byte"
        print_text(f"{folder.path / 'report.html'}: {len(files)} files, {state}")
    return 0
