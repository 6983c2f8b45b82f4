"""The clock: passed in, read at each decision and again at each send, never believed when it goes back.

Nothing in the core reads the time by itself. A ``Clock`` is a function that returns whole seconds since
1970-01-01T00:00:00Z; a run that judges validity at one fixed time passes a constant.
"""

from __future__ import annotations

from collections.abc import Callable

from capsules.errors import CapsuleError
from capsules.timestamp import format_time

Clock = Callable[[], int]

ROLLBACK = "clock.rollback"


class ClockError(CapsuleError):
    """The clock went back (``clock.rollback``): what was valid then cannot be judged by it now."""


class Watch:
    """A clock that remembers its latest reading and refuses an earlier one.

    Args:
        clock: Where the time comes from.
        start: A time that has been reached already, such as the ``now`` of the run.
    """

    __slots__ = ("_clock", "_latest")

    def __init__(self, clock: Clock, start: int) -> None:
        self._clock = clock
        self._latest = start

    def __call__(self) -> int:
        """The time, in seconds.

        Raises:
            ClockError: ``clock.rollback``: earlier than a time that was reached already.
        """
        now = self._clock()
        if now < self._latest:
            raise ClockError(
                ROLLBACK, f"expected {format_time(self._latest)} or later, found {format_time(now)}"
            )
        self._latest = now
        return now
