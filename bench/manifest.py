"""``manifest.json``: written last, its presence means that the run is complete.

It is no capsule: it may hold clock and host facts. Integers, strings, booleans and null only; times are
integer milliseconds. ``files`` holds the ContentId of every file that scores and report are made from
or consist of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.hardware import hardware_facts
from bench.provenance import code_state, interpreter, package_versions
from bench.run_store import RunFolder
from bench.stored_run import Counts, StoredRun
from capsules.content_id import content_id

MANIFEST_ID = "run-manifest/1"
ROW_FILES = (
    "config.yaml",
    "run.json",
    "samples.jsonl",
    "refused.jsonl",
    "builds.jsonl",
    "compressions.jsonl",
    "routes.jsonl",
    "isolation.jsonl",
    "engines.jsonl",
    "requests.jsonl",
    "responses.jsonl",
    "cells.jsonl",
    "rebuilt.jsonl",
)


def run_facts(run: StoredRun, counts: Counts, times: Mapping[str, int]) -> dict[str, Any]:
    """The manifest without the digests of files: what the report is told."""
    infos = [entry["info"] for entry in run.engines]
    return {
        "schema_id": MANIFEST_ID,
        **{key: value for key, value in run.facts.items() if key != "schema_id"},
        **interpreter(),
        "code": code_state(),
        "packages": package_versions(),
        "hardware": hardware_facts(),
        "engines": infos,
        "model_profile": infos[0]["profile"] if infos else None,
        "fake": any(info["fake"] for info in infos),
        "counts": counts.to_value(),
        "times_ms": dict(times),
    }


def file_digests(folder: RunFolder, written: Mapping[str, bytes]) -> dict[str, str]:
    """ContentIds of the row files and of what was written last (scores, report)."""
    digests = {
        name: content_id((folder.path / name).read_bytes())
        for name in ROW_FILES
        if (folder.path / name).is_file()
    }
    digests |= {name: content_id(data) for name, data in written.items()}
    return dict(sorted(digests.items()))
