"""Runtime constraints: which versions of this package may read a capsule.

A constraint of kind ``runtime`` is ``capsules`` and comparisons joined by commas, all of which must
hold: ``capsules>=1,<2``. Versions are one to three numbers, missing ones are 0. Another package, or a
text of another form, cannot be shown to hold and is refused like a version that does not.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

RUNTIME = "1.0.0"
VERSION_PATTERN = r"[0-9]{1,9}(\.[0-9]{1,9}){0,2}"

_Version = tuple[int, ...]

_OPERATORS: dict[str, Callable[[_Version, _Version], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_COMPARISON = re.compile(rf"(==|!=|<=|>=|<|>)({VERSION_PATTERN})")
_NAME = "capsules"


def _version(text: str) -> _Version:
    numbers = [int(part) for part in text.split(".")]
    return tuple(numbers + [0] * (3 - len(numbers)))


def supports(constraint: str, runtime: str = RUNTIME) -> bool:
    """Whether a runtime version satisfies the text of a runtime constraint."""
    if not constraint.startswith(_NAME):
        return False
    found = _version(runtime)
    for part in constraint[len(_NAME) :].split(","):
        match = _COMPARISON.fullmatch(part)
        if match is None or not _OPERATORS[match[1]](found, _version(match[2])):
            return False
    return True
