"""Finds capsules for ``show`` and ``explain``: by digest in a run's store, or as a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bench.run_store import RunError, find_run
from capsules.codec import RECORD_TYPES, from_value, read_stored, seal
from capsules.content_id import content_id, is_content_id
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule
from capsules.store import Store
from capsules.strict_json import parse_strict

Capsule = PromptCapsule | EvidenceCapsule


def run_store(name: str, results: Path) -> Store:
    """The store of a run, read only."""
    return find_run(name, results).store(read_only=True)


def stored_capsule(digest: str, store: Store) -> Capsule:
    """A capsule by its digest.

    Raises:
        StoreError, CapsuleError: It is not there, or is no capsule.
    """
    return _typed(store.get(digest).data, digest)


def named_capsule(name: str, run_name: str, results: Path) -> tuple[str, Capsule]:
    """A capsule by digest or file: (digest, capsule).

    Raises:
        RunError: Neither a digest nor a file, or the wire form's digest is not that of its content.
    """
    if is_content_id(name):
        return name, stored_capsule(name, run_store(run_name, results))
    path = Path(name)
    if not path.is_file():
        raise RunError(f"{name}: expected a capsule file, or a digest b3:<64 hex> with --run")
    data = path.read_bytes()
    value = parse_strict(data)
    if isinstance(value, dict) and "digest" in value:
        stated = value.pop("digest")
        capsule = _from_value(value, name)
        found = seal(capsule).digest
        if stated != found:
            raise RunError(f"{name}: bytes.digest.mismatch: states {stated}, its content is {found}")
        return found, capsule
    return content_id(data), _typed(data, name)


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
