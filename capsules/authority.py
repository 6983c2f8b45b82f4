"""Authority: who may use a capsule, for what, through whom and when (half-open).

Valid at ``now`` if ``not_before <= now < expires_at``. Whether it covers a use is decided at
validation, with the clock passed in; a record only says what was granted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from capsules.arrays import Sorted, itself
from capsules.rules import Level, Name, Time
from capsules.shape import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority(Record):
    """What a principal may do with the prompt of one project."""

    principal: Name
    project: Name
    operations: Annotated[tuple[Name, ...], Sorted("name", itself)]
    providers: Annotated[tuple[Name, ...], Sorted("name", itself)]
    max_level: Level
    not_before: Time
    expires_at: Time
