"""Exact spans: half-open ranges of code points in the raw text of a source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactSpan:
    """A quoted range whose text, context and occurrence must all agree with the source."""

    span_id: str  # "<source>:<start>-<end>"
    source: str
    norm_id: str
    start: int
    end: int
    exact: str
    text_digest: str
    prefix: str
    suffix: str
    occurrence: int  # 1-based, overlapping occurrences counted
    occurrences: int
