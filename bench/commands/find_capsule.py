"""Finds capsules for ``show`` and ``explain``: by digest in the stores of runs, or as a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.run_store import RunError, RunFolder, find_run
from capsules.codec import RECORD_TYPES, from_value, read_stored, seal
from capsules.content_id import CONTENT_ID_EXPECTED, content_id, is_content_id
from capsules.errors import StoreError
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule
from capsules.store import Store, VerifiedBytes
from capsules.strict_json import parse_strict

Capsule = PromptCapsule | EvidenceCapsule


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A capsule, its id and the run whose store held it (``None`` for a file)."""

    digest: str
    capsule: Capsule
    folder: RunFolder | None


class Stores:
    """The stores of some runs, asked in their order; read only.

    Raises:
        RunError: A name is that of no run.
    """

    def __init__(self, names: Sequence[str], results: Path) -> None:
        self._folders = [find_run(name, results) for name in names]

    def object(self, digest: str) -> tuple[VerifiedBytes, RunFolder]:
        """An object and the run that holds it.

        Raises:
            RunError: No run holds it; the message names those that were asked.
            StoreError: A store cannot be read, or holds other bytes under this id.
        """
        for folder in self._folders:
            try:
                return folder.store(read_only=True).get(digest), folder
            except StoreError as error:
                if error.code not in ("object.missing", "store.not_found"):
                    raise
        asked = ", ".join(str(folder.path) for folder in self._folders)
        raise RunError(f"{digest} is not in the store of {asked}; name the run that holds it with --run RUN")

    def capsule(self, digest: str) -> Found:
        """A capsule by its digest.

        Raises:
            RunError: No run holds it, or it is no capsule.
            CapsuleError: What :meth:`object` raises, or it is damaged.
        """
        found, folder = self.object(digest)
        return Found(digest=digest, capsule=_typed(found.data, digest), folder=folder)


def require_whole(name: str) -> None:
    """Refuse what begins as a digest and is none: a store finds whole digests alone, no prefix of one.

    Raises:
        RunError: Saying what a digest looks like.
    """
    if name.startswith("b3:") and not is_content_id(name):
        raise RunError(
            f"{name} is no digest: expected {CONTENT_ID_EXPECTED}, found {len(name) - 3} characters after "
            "b3:; `capsule-bench show RUN` lists the whole digests of a run"
        )


def stored_capsule(digest: str, store: Store) -> Capsule:
    """A capsule by its digest.

    Raises:
        StoreError, CapsuleError: It is not there, or is no capsule.
    """
    return _typed(store.get(digest).data, digest)


def named_capsule(name: str, runs: Sequence[str], results: Path) -> Found:
    """A capsule by digest or file.

    Raises:
        RunError: Neither a digest nor a file, no run holds it, or the wire form's digest is not that of its
            content.
    """
    if is_content_id(name):
        return Stores(runs, results).capsule(name)
    path = Path(name)
    if not path.is_file():
        require_whole(name)
        raise RunError(f"{name}: expected a capsule file, or a digest b3:<64 hex> with --run")
    data = path.read_bytes()
    value = parse_strict(data)
    if isinstance(value, dict) and "digest" in value:
        stated = value.pop("digest")
        capsule = _from_value(value, name)
        found = seal(capsule).digest
        if stated != found:
            raise RunError(f"{name}: bytes.digest.mismatch: states {stated}, its content is {found}")
        return Found(digest=found, capsule=capsule, folder=None)
    return Found(digest=content_id(data), capsule=_typed(data, name), folder=None)


def _typed(data: bytes, name: str) -> Capsule:
    value = parse_strict(data)
    schema_id = value.get("schema_id") if isinstance(value, dict) else None
    for known, cls in RECORD_TYPES.items():
        if known == schema_id and cls in (PromptCapsule, EvidenceCapsule):
            record = read_stored(data, cls)
            if isinstance(record, PromptCapsule | EvidenceCapsule):
                return record
    raise RunError(f"{name}: expected a capsule, found {schema_id or type(value).__name__}")


def _from_value(value: Mapping[str, object], name: str) -> Capsule:
    cls = RECORD_TYPES.get(str(value.get("schema_id")))
    record = from_value(cls, value) if cls is not None else None
    if not isinstance(record, PromptCapsule | EvidenceCapsule):
        raise RunError(f"{name}: expected a capsule, found {value.get('schema_id')}")
    return record
