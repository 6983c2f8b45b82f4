"""Scores, report and manifest of a run whose requests are all answered, and the same once more.

Rules that this module owns:

* Scores and report are functions of the stored rows and of the manifest's facts; ``rescore`` and
  ``report`` therefore give the same bytes under the same package versions.
* A file is written only when it differs, whole; files of an older report that are no longer part of it
  are removed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.manifest import MANIFEST_ID, file_digests, run_facts
from bench.progress import Reporter
from bench.report import render_report
from bench.run_store import RunError, RunFolder, read_json, write_atomic, write_json
from bench.scores_file import read_scores, scores_bytes
from bench.stored_run import Counts, StoredRun

SCORES = "scores.parquet"
MANIFEST_KEYS = ("schema_id", "run_id", "now", "counts", "times_ms", "files")  # what every reader needs
FOLDERS = ("figures", "tables")  # hold what the report wrote and nothing else


def complete(folder: RunFolder, times: Mapping[str, int], reporter: Reporter) -> tuple[StoredRun, Counts]:
    """Score, report and write the manifest.

    Raises:
        RunError: Requests are missing.
        ScoringError: The rows contradict each other.
    """
    began = time.monotonic()
    run = StoredRun(folder)
    counts = run.require_finished()
    reporter.say("scoring ...")
    scores = run.score()
    scored = time.monotonic()
    facts = run_facts(run, counts, {**times, "score_ms": round((scored - began) * 1000)})
    reporter.say("writing the report ...")
    files = {SCORES: scores_bytes(scores), **render_report(run.report_input(facts, scores))}
    write_files(folder.path, files)
    facts["times_ms"]["report_ms"] = round((time.monotonic() - scored) * 1000)
    write_json(folder.manifest, {**facts, "files": file_digests(folder, files)})
    return run, counts


def derive_scores(folder: RunFolder) -> bytes:
    """The bytes of ``scores.parquet``, from the stored rows.

    Raises:
        RunError: Requests are missing.
        ScoringError: The rows contradict each other.
    """
    run = StoredRun(folder)
    run.require_finished()
    return scores_bytes(run.score())


def derive_report(folder: RunFolder) -> dict[str, bytes]:
    """The bytes of every file of the report, from rows, scores and manifest.

    Raises:
        RunError: The run is not complete.
    """
    return render_report(StoredRun(folder).report_input(require_manifest(folder), read_scores(folder.scores)))


def require_manifest(folder: RunFolder) -> dict[str, Any]:
    """The manifest of a complete run.

    Raises:
        RunError: There is none, or it is damaged.
    """
    if folder.dry:
        raise RunError(f"{folder.path} holds what `capsule-bench build` left: no run, so no scores or report")
    if not folder.complete:
        raise RunError(
            f"{folder.path} is not complete (it has no manifest.json); continue it with "
            f"`capsule-bench resume {folder.path}`"
        )
    manifest = read_json(folder.manifest)
    missing = [key for key in MANIFEST_KEYS if key not in manifest]
    if missing or manifest["schema_id"] != MANIFEST_ID:
        what = f"no {', '.join(missing)}" if missing else f"schema_id {manifest['schema_id']!r}"
        raise RunError(f"{folder.manifest} is damaged: expected a {MANIFEST_ID}, found {what}")
    return manifest


def write_files(folder: Path, files: Mapping[str, bytes]) -> list[str]:
    """Write files of a folder that are not there with these bytes; returns their names."""
    changed = []
    if any(name.split("/", 1)[0] in FOLDERS for name in files):
        _remove_stale(folder, files)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if not path.is_file() or path.read_bytes() != data:
            write_atomic(path, data)
            changed.append(name)
    return changed


def update_manifest(folder: RunFolder, files: Mapping[str, bytes]) -> None:
    """Put the digests of files that were derived again into the manifest."""
    manifest = require_manifest(folder)
    digests = {**manifest["files"], **file_digests(folder, files)}
    write_json(folder.manifest, {**manifest, "files": dict(sorted(digests.items()))})


def _remove_stale(folder: Path, files: Mapping[str, bytes]) -> None:
    for name in FOLDERS:
        for path in (folder / name).glob("*"):
            if path.is_file() and f"{name}/{path.name}" not in files:
                path.unlink()
