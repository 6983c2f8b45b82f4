"""Which stage of a build takes how long.

Rules that this module owns: a builder says that a stage has *ended* by calling its context's ``lap`` with
the stage's name; what passed since the last call belongs to that stage, so that the stages of a build add up
to all of it. A stage that runs several times is the sum of its runs. Nothing that is built depends on it: the
default does nothing, and the clock is passed in.
"""

from __future__ import annotations

from collections.abc import Callable

Lap = Callable[[str], None]

STAGES = (
    "prefix",
    "candidates",
    "retrieval",
    "selection",
    "contradictions",
    "compression",
    "claims",
    "sealing",
    "rendering",
    "tokenizing",
    "laws",
    "other",
    "storing",
    "validation",
)
"""Every stage, in the order of a build; ``other``: what a builder does not tell apart."""


def no_lap(stage: str) -> None:
    """Take no time."""


class StopWatch:
    """Adds up times by stage.

    Args:
        clock: Nanoseconds, never falling.
    """

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._spent: dict[str, int] = {}
        self._last = clock()

    def __call__(self, stage: str) -> None:
        """Give what passed since the last call to ``stage``."""
        now = self._clock()
        self._spent[stage] = self._spent.get(stage, 0) + now - self._last
        self._last = now

    def take(self) -> dict[str, int]:
        """Nanoseconds by stage since the watch was last taken; starts anew."""
        spent, self._spent = self._spent, {}
        self._last = self._clock()
        return spent
