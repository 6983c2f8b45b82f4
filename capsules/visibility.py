"""Labels: visibility level and project, and how they join."""

from __future__ import annotations

from dataclasses import dataclass

LEVELS = ("public", "internal", "confidential", "restricted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    level: str
    project: str
