"""Times: RFC 3339 in exactly one form, ``YYYY-MM-DDTHH:MM:SSZ``.

UTC only, whole seconds, upper-case T and Z, years 0001 to 9999, no leap second: one instant has one
spelling, so equal times are equal strings and the order of the strings is the order of time. The
clock is never read here; whoever needs "now" passes it in.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from capsules.described import described
from capsules.errors import SchemaError

TIME_PATTERN = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
TIME_EXPECTED = "a time YYYY-MM-DDTHH:MM:SSZ (UTC)"

_TIME = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})Z")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


def _instant(value: object) -> datetime | None:
    return _instant_of(value) if isinstance(value, str) else None


@lru_cache(maxsize=1 << 12)  # a run has few times: its clock, and those of grants and sources
def _instant_of(value: str) -> datetime | None:
    match = _TIME.fullmatch(value)
    if match is None:
        return None
    try:
        return datetime(*map(int, match.groups()), tzinfo=UTC)  # type: ignore[misc, arg-type]
    except ValueError:  # the 30th of February, hour 24, second 60
        return None


def is_time(value: object) -> bool:
    """Whether ``value`` is a time in the one form, and on the calendar."""
    return _instant(value) is not None


def parse_time(value: str, at: str = "") -> int:
    """Seconds since 1970-01-01T00:00:00Z.

    Raises:
        SchemaError: ``time.malformed``.
    """
    instant = _instant(value)
    if instant is None:
        raise SchemaError("time.malformed", f"expected {TIME_EXPECTED}, found {described(value)}", at=at)
    return (instant - _EPOCH) // _SECOND


def format_time(seconds: int) -> str:
    """The one form of an instant given in seconds since 1970-01-01T00:00:00Z.

    Raises:
        SchemaError: ``time.malformed``: outside the years 0001 to 9999.
    """
    try:
        instant = _EPOCH + timedelta(seconds=seconds)
    except OverflowError as error:
        raise SchemaError(
            "time.malformed", f"expected an instant in the years 0001 to 9999, found {seconds} s"
        ) from error
    # not strftime("%Y"): it does not pad years below 1000 on every platform
    return instant.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
