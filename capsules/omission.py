"""Omissions: everything that was a candidate and was not sent, with a closed reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    item: str | None  # span_id or constraint id; null for visibility.denied
    stage: str
    reason: str
    tokens: int | None
    required: bool
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    items: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedRange:
    item: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    items: tuple[str, ...]
    text: str
    compressor: str
    dropped: tuple[DroppedRange, ...]
    tokens_before: int
    tokens_sent: int
