"""Sources: the raw bytes that evidence points into, and how a capsule refers to them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a source came from: data set name and row id (never a path or an address)."""

    dataset: str
    row: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRef:
    """What an EvidenceCapsule records about one source (``source_refs`` entry)."""

    source: str  # ContentId of the raw bytes
    bytes: int
    media_type: str
    origin: Origin
    license: str
    title: str | None
    retrieved_as_of: str | None
