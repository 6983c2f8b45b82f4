"""The runs of a comparison, each with what its config has that the others have not.

Rules that this module owns:

* Only complete runs are compared; a run is named by its manifest's digest, which papers can cite.
* A pair is a sample that both runs evaluated: the same id, question, sources, answers and gold. A sample
  of which any of these differs is no pair.
* What differs is told setting by setting, from the configs themselves, never from file names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.completion import require_manifest
from bench.config import flat, spec_value
from bench.report.view import RunView
from bench.run_store import RunError, RunFolder
from bench.scores_file import read_scores
from bench.stored_run import StoredRun
from capsules.content_id import content_id

SILENT = ("task.data_dir",)  # where data lies says nothing about what was run


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One complete run.

    Attributes:
        label: What tables call it.
        digest: ContentId of its manifest.
        settings: Its config, flat: ``arms.capsule.selection.k`` -> value.
    """

    label: str
    folder: RunFolder
    digest: str
    manifest: Mapping[str, Any]
    view: RunView
    settings: Mapping[str, object]

    def shared_with(self, other: Member) -> frozenset[str]:
        """Ids of the samples that are the same in both runs."""
        mine, theirs = self.view.index.samples, other.view.index.samples
        return frozenset(name for name, row in mine.items() if theirs.get(name) == row)


def load_member(folder: RunFolder, label: str) -> Member:
    """Read a complete run.

    Raises:
        RunError: The run is not complete.
    """
    manifest = require_manifest(folder)
    stored = StoredRun(folder)
    view = RunView(stored.report_input(manifest, read_scores(folder.scores)))
    return Member(
        label=label,
        folder=folder,
        digest=content_id(folder.manifest.read_bytes()),
        manifest=manifest,
        view=view,
        settings=dict(flat(spec_value(stored.spec))),
    )


def require_members(members: Sequence[Member]) -> None:
    """Refuse a comparison of less than two runs, or of a run with itself.

    Raises:
        RunError: Naming the runs.
    """
    if len(members) < 2:
        raise RunError(f"expected at least two complete runs to compare, found {len(members)}")
    seen: dict[str, str] = {}
    for member in members:
        if member.digest in seen:
            raise RunError(f"{member.label} and {seen[member.digest]} are the same run ({member.digest})")
        seen[member.digest] = member.label


def different_settings(members: Sequence[Member]) -> dict[str, tuple[object, ...]]:
    """Settings that are not the same in all members, with each member's value (``None``: not there)."""
    keys = sorted({key for member in members for key in member.settings})
    found = {key: tuple(member.settings.get(key) for member in members) for key in keys if key not in SILENT}
    return {key: values for key, values in found.items() if any(value != values[0] for value in values)}
