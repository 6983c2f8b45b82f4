"""``capsule-bench rescore``: scores again, from stored bytes alone."""

from __future__ import annotations

import argparse

from bench.commands.output import print_json, print_text
from bench.completion import SCORES, derive_scores, require_manifest, update_manifest, write_files
from bench.run_store import find_run


def run(arguments: argparse.Namespace) -> int:
    """Compute the scores again and write them if they differ."""
    folder = find_run(arguments.target, arguments.results)
    require_manifest(folder)
    files = {SCORES: derive_scores(folder)}
    changed = write_files(folder.path, files)
    if changed:
        update_manifest(folder, files)
    if arguments.json:
        print_json({"run": str(folder.path), "changed": changed})
    else:
        print_text(f"{folder.scores}: {'written anew' if changed else 'unchanged, byte for byte'}")
    return 0
