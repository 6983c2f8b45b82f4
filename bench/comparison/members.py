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
    return differing([member.settings for member in members])


def differing(settings: Sequence[Mapping[str, object]]) -> dict[str, tuple[object, ...]]:
    """The same of flat configs.

    An arm that some have and others have not is one setting, ``arms.NAME``; its own settings are told where
    those that have it differ.
    """
    found: dict[str, tuple[object, ...]] = {}
    for key in sorted({key for one in settings for key in one}):
        if key in SILENT:
            continue
        values, arm = tuple(one.get(key) for one in settings), _arm(key)
        having = [arm is None or any(_arm(other) == arm for other in one) for one in settings]
        if not all(having):
            found[f"arms.{arm}"] = tuple("there" if has else None for has in having)
        known = [value for value, has in zip(values, having, strict=True) if has]
        if any(value != known[0] for value in known):
            found[key] = values
    return found


def _arm(key: str) -> str | None:
    """The arm that a setting belongs to."""
    group, _, rest = key.partition(".")
    return rest.partition(".")[0] if group == "arms" else None
