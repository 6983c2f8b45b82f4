"""``verify``: does a run folder still say what it said? From stored bytes, without engine or model.

Rules that this module owns:

* Every check runs; none stops another, except that rows which cannot be read leave the others without
  input. A check is ``pass``, ``fail`` (with the code and at most
  ``MAX_NAMED`` places) or ``not_evaluated`` with the reason.
* Scores and report are derived again and compared byte for byte; under other versions of the packages
  that decide about bytes, values and texts are compared instead, and the check says so.
* Validity is judged at the ``now`` of the manifest, or at the one that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bench.completion import SCORES, derive_report, require_manifest
from bench.config import config_digest
from bench.config_checks import ConfigError
from bench.plural import number_of
from bench.provenance import RENDERING_PACKAGES, code_state, package_versions
from bench.records_io import RowError
from bench.run_store import RunError, RunFolder
from bench.scorers.base import ScoringError
from bench.scores_file import read_scores, scores_bytes
from bench.stored_run import StoredRun
from bench.verify_capsules import capsule_findings
from bench.verify_compressions import compression_findings
from bench.verify_places import place_findings
from bench.verify_rows import (
    isolation_findings,
    prediction_findings,
    request_findings,
    response_findings,
    salt_findings,
)
from capsules.content_id import content_id
from capsules.errors import CapsuleError

MAX_NAMED = 5
TEXTS = (".md", ".csv", ".tex")

# What a changed file can make a check stumble over; anything else is a bug of ours.
EXPECTED = (CapsuleError, ScoringError, RowError, RunError, ValueError)


NAMES = (
    "rows",
    "files",
    "config.digest",
    "store.objects",
    "requests.identity",
    "requests.salts",
    "responses",
    "counts",
    "predictions",
    "capsules",
    "compressions",
    "places",
    "scores",
    "report",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One row of a verification."""

    check: str
    result: str  # pass | fail | not_evaluated
    detail: str

    def to_value(self) -> dict[str, str]:
        """Plain JSON data."""
        return {"check": self.check, "result": self.result, "detail": self.detail}


Make = Callable[[], Check | Iterable[str]]


def verify_run(folder: RunFolder, now: str | None, skip: Collection[str] = ()) -> list[Check]:
    """Check a complete run.

    Args:
        folder: The run.
        now: Judge validity at this time; ``None``: at the manifest's.
        skip: Checks that are not made (``report`` takes most of the time).

    Raises:
        RunError: The run is not complete.
        ConfigError: ``skip`` names no check.
    """
    manifest = require_manifest(folder)
    unknown = sorted(set(skip) - set(NAMES))
    if unknown:
        raise ConfigError(f"--skip: unknown check {unknown[0]!r}: expected one of {', '.join(NAMES)}")
    try:
        checks = _checks(folder, manifest, StoredRun(folder), now)
    except (ConfigError, RowError, RunError) as error:
        checks = _without_rows(folder, manifest, error)
    return [
        Check(check=name, result="not_evaluated", detail="skipped") if name in skip else _made(name, check)
        for name, check in checks.items()
    ]


def _checks(folder: RunFolder, manifest: dict[str, Any], run: StoredRun, now: str | None) -> dict[str, Make]:
    at = manifest["now"] if now is None else now
    other = _other_packages(manifest)
    return {
        "rows": lambda: (),
        "files": lambda: _file_findings(folder, manifest),
        "config.digest": lambda: _config_findings(run, manifest),
        "store.objects": lambda: _object_findings(run),
        "requests.identity": lambda: request_findings(run),
        "requests.salts": lambda: (*salt_findings(run), *isolation_findings(run)),
        "responses": lambda: response_findings(run),
        "counts": lambda: _count_findings(run, manifest),
        "predictions": lambda: prediction_findings(run),
        "capsules": lambda: capsule_findings(run, at),
        "compressions": lambda: compression_findings(run),
        "places": lambda: place_findings(run),
        "scores": lambda: _scores(run, other),
        "report": lambda: _report(folder, other),
    }


def _without_rows(folder: RunFolder, manifest: dict[str, Any], error: Exception) -> dict[str, Make]:
    """The checks of a run whose rows cannot be read."""
    checks: dict[str, Make] = {name: _blocked(name) for name in NAMES}
    return checks | {"rows": lambda: [str(error)], "files": lambda: _file_findings(folder, manifest)}


def _blocked(name: str) -> Make:
    return lambda: Check(check=name, result="not_evaluated", detail="blocked by rows")


def _made(name: str, check: Make) -> Check:
    try:
        made = check()
        if isinstance(made, Check):
            return made
        found = list(made)
    except EXPECTED as error:
        found = [str(error)]
    if not found:
        return Check(check=name, result="pass", detail="")
    more = f" (and {len(found) - MAX_NAMED} more)" if len(found) > MAX_NAMED else ""
    return Check(check=name, result="fail", detail="; ".join(found[:MAX_NAMED]) + more)


def _file_findings(folder: RunFolder, manifest: dict[str, Any]) -> Iterator[str]:
    for name, digest in manifest["files"].items():
        path = folder.path / name
        if not path.is_file():
            yield f"{name} is missing"
        elif (found := content_id(path.read_bytes())) != digest:
            yield f"{name}: expected {digest}, found {found}"


def _config_findings(run: StoredRun, manifest: dict[str, Any]) -> Iterator[str]:
    found = config_digest(run.spec)
    for where, known in (
        ("run.json", run.facts["config_digest"]),
        ("manifest.json", manifest["config_digest"]),
    ):
        if known != found:
            yield f"{where}: expected {known}, config.yaml has {found}"


def _object_findings(run: StoredRun) -> Iterator[str]:
    store = run.folder.store(read_only=True)
    for object_id in store.ids():
        try:
            store.get(object_id)
        except CapsuleError as error:
            yield f"{object_id}: {error.code}"


def _count_findings(run: StoredRun, manifest: dict[str, Any]) -> Iterator[str]:
    counts = run.counts()
    if counts.to_value() != manifest["counts"]:
        yield f"manifest.json: expected {manifest['counts']}, the rows give {counts.to_value()}"
    if counts.planned != counts.done + counts.failed + sum(counts.skipped.values()):
        yield f"planned {counts.planned} is not done + failed + skipped ({counts.missing} missing)"


def _other_packages(manifest: dict[str, Any]) -> str | None:
    """What differs in the packages and the code that decide about bytes; ``None`` if nothing does."""
    known, found = manifest["packages"], package_versions()
    different = [
        f"{name} {known.get(name)} then, {found.get(name)} now"
        for name in RENDERING_PACKAGES
        if known.get(name) != found.get(name)
    ]
    if manifest["code"]["files_digest"] != code_state()["files_digest"]:
        different.append("the code is not the one that wrote the run")
    return ", ".join(different) or None


def _scores(run: StoredRun, other_versions: str | None) -> Check:
    rows = run.score()
    if scores_bytes(rows) == run.folder.scores.read_bytes():
        return Check(
            check="scores", result="pass", detail=f"{number_of(len(rows), 'row')}, equal byte for byte"
        )
    stored = read_scores(run.folder.scores)
    if stored != rows:
        different = [(a, b) for a, b in zip(stored, rows, strict=False) if a != b]
        first = f"; first: {different[0][0]} stored, {different[0][1]} now" if different else ""
        return Check(
            check="scores",
            result="fail",
            detail=f"{SCORES}: {number_of(len(stored), 'row')} stored, {len(rows)} now, "
            f"{len(different)} differ{first}",
        )
    if other_versions:
        return Check(
            check="scores", result="pass", detail=f"equal values; bytes not compared: {other_versions}"
        )
    return Check(check="scores", result="fail", detail=f"{SCORES}: equal values, other bytes")


def _report(folder: RunFolder, other_versions: str | None) -> Check:
    files = derive_report(folder)
    different = [
        name
        for name, data in files.items()
        if not (folder.path / name).is_file() or (folder.path / name).read_bytes() != data
    ]
    if other_versions and different:
        texts = [name for name in different if name.endswith(TEXTS)]
        if not texts:
            detail = f"texts and tables equal; figures not compared: {other_versions}"
            return Check(check="report", result="pass", detail=detail)
        different = texts
    if different:
        names = ", ".join(different[:MAX_NAMED])
        return Check(
            check="report",
            result="fail",
            detail=f"{len(different)} of {number_of(len(files), 'file')} differ: {names}",
        )
    return Check(
        check="report", result="pass", detail=f"{number_of(len(files), 'file')}, equal byte for byte"
    )
