"""Labels: visibility level and project, and how they join.

Levels are ordered, ``public`` lowest. The join of two labels is the higher level in one project; labels
of two projects do not join. No code path lowers a label.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from capsules.errors import SchemaError
from capsules.rules import LEVELS, Level, Name
from capsules.shape import Record

__all__ = ["LEVELS", "Visibility", "join_labels", "join_levels"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility(Record):
    """The label of a capsule."""

    level: Level
    project: Name


def join_levels(levels: Iterable[str]) -> str:
    """The most restricted of some levels.

    Raises:
        SchemaError: ``label.undetermined``: no level at all, so nothing says how public it is;
            ``schema.word``: not a level.
    """
    known = list(levels)
    for level in known:
        if level not in LEVELS:
            raise SchemaError("schema.word", f"expected one of {', '.join(LEVELS)}, found another word")
    if not known:
        raise SchemaError("label.undetermined", "expected at least one level to join, found none")
    return max(known, key=LEVELS.index)


def join_labels(labels: Iterable[Visibility]) -> Visibility:
    """The label of what derives from all of ``labels``.

    Raises:
        SchemaError: ``label.undetermined`` for none, ``scope.project.mismatch`` for two projects.
    """
    known = list(labels)
    level = join_levels(label.level for label in known)
    if len({label.project for label in known}) > 1:
        raise SchemaError("scope.project.mismatch", "expected labels of one project, found several")
    return Visibility(level=level, project=known[0].project)
