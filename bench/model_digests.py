"""Digests of a model folder's files, computed once.

A record beside the files (or, for folders that are not ours, in the user cache) holds name, size, mtime and
BLAKE3 of every file that fixes what the model computes. A file whose size and mtime agree with the record
is not read again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blake3 import blake3

from capsules.canonical import canonical_bytes
from capsules.content_id import content_id

MANIFEST = "capsule-model.json"
_WEIGHTS = ".safetensors"
_OTHERS = (
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Digests:
    """ContentIds of a model folder; ``weights`` is empty where there are none."""

    weights: str
    tokenizer: str
    chat_template: str | None
    bytes: int


def folder_digests(path: Path, elsewhere: Path | None, *, extra: Mapping[str, str] | None = None) -> Digests:
    """Digests of a model folder, from its record where that still holds.

    Args:
        path: The folder.
        elsewhere: Folder for the record of a model folder that has none of its own; None writes it into
            ``path``.
        extra: Further facts for a record that is written.
    """
    record = path / MANIFEST
    if elsewhere is not None and not record.is_file():
        record = elsewhere / f"{blake3(os.fsencode(path.resolve())).hexdigest()}.json"
    known, kept = _read(record)
    files: dict[str, dict[str, Any]] = {}
    for file in _files(path):
        stat = file.stat()
        entry = known.get(file.name, {})
        if entry.get("size") != stat.st_size or entry.get("mtime_ns") != str(stat.st_mtime_ns):
            entry = {"size": stat.st_size, "mtime_ns": str(stat.st_mtime_ns), "b3": _digest(file)}
        files[file.name] = entry
    if files != known:
        _write(record, {"files": files, "extra": kept if extra is None else dict(extra)})
    return _digests(path, files)


def _digests(path: Path, files: Mapping[str, Mapping[str, Any]]) -> Digests:
    weights = [[name, entry["b3"]] for name, entry in sorted(files.items()) if name.endswith(_WEIGHTS)]
    tokenizer = files.get("tokenizer.json")
    return Digests(
        weights=content_id(canonical_bytes(weights)) if weights else "",
        tokenizer=tokenizer["b3"] if tokenizer else "",
        chat_template=_chat_template(path, files),
        bytes=sum(int(entry["size"]) for entry in files.values()),
    )


def _chat_template(path: Path, files: Mapping[str, Mapping[str, Any]]) -> str | None:
    if "chat_template.jinja" in files:
        return str(files["chat_template.jinja"]["b3"])
    if "tokenizer_config.json" not in files:
        return None
    template = json.loads((path / "tokenizer_config.json").read_bytes()).get("chat_template")
    return content_id(canonical_bytes(template)) if template else None


def _files(path: Path) -> list[Path]:
    return sorted(
        file
        for file in path.iterdir()
        if file.is_file() and (file.name in _OTHERS or file.suffix == _WEIGHTS)
    )


def _digest(file: Path) -> str:
    hasher = blake3(max_threads=blake3.AUTO)
    hasher.update_mmap(file)
    return f"b3:{hasher.hexdigest()}"


def _read(record: Path) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """What a record holds: files, extra facts. No record, or a torn one: the files are read again."""
    try:
        value = json.loads(record.read_bytes())
    except (FileNotFoundError, ValueError):
        return {}, {}
    parts = [value.get(key) for key in ("files", "extra")] if isinstance(value, dict) else [None, None]
    files, extra = (dict(part) if isinstance(part, dict) else {} for part in parts)
    return files, extra


def _write(record: Path, value: Mapping[str, object]) -> None:
    record.parent.mkdir(parents=True, exist_ok=True)
    temporary = record.with_name(f".{record.name}.{os.getpid()}.tmp")
    temporary.write_bytes(canonical_bytes(value))
    temporary.replace(record)
