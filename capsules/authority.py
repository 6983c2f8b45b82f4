"""Authority: who may use a capsule, for what, through whom and when (half-open)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    principal: str
    project: str
    operations: tuple[str, ...]
    providers: tuple[str, ...]
    max_level: str
    not_before: str
    expires_at: str
