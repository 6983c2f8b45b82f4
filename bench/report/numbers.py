"""How numbers are written for people: English, thousands separators, a true minus sign.

Unknown is written as a word or a dash with a reason beside it, never as 0.
"""

from __future__ import annotations

from bench.metrics.bootstrap import Interval

MISSING = "–"
_TOGETHER = "\u00a0"  # no line break inside an interval


def share(value: float | None) -> str:
    """A share between 0 and 1, three decimals."""
    return MISSING if value is None else _signed_minus(f"{value:.3f}")


def amount(value: float | None) -> str:
    """Mean tokens, items, code points: one decimal below 1,000, none above."""
    if value is None:
        return MISSING
    return _signed_minus(f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}")


def milliseconds(microseconds: float | None) -> str:
    """Microseconds shown as milliseconds: one decimal below 100 ms, none above."""
    if microseconds is None:
        return MISSING
    value = microseconds / 1000
    return _signed_minus(f"{value:,.1f}" if abs(value) < 100 else f"{value:,.0f}")


def in_unit(unit: str, value: float | None) -> str:
    """A value of a metric in the form of its unit (``us`` is shown in ms)."""
    return {"share": share, "us": milliseconds}.get(unit, amount)(value)


def difference(unit: str, value: float | None) -> str:
    """A difference: as ``in_unit``, with an explicit plus sign."""
    text = in_unit(unit, value)
    return f"+{text}" if value is not None and value > 0 else text


def interval(unit: str, limits: Interval | None) -> str:
    """``[low, high]``, with a dagger where all values were equal; empty without an interval."""
    if limits is None:
        return ""
    text = f"[{in_unit(unit, limits.low)},{_TOGETHER}{in_unit(unit, limits.high)}]"
    return f"{text}†" if limits.flat else text


def with_interval(text: str, unit: str, limits: Interval | None) -> str:
    """``text`` followed by its interval, if there is one."""
    shown = interval(unit, limits)
    return f"{text} {shown}" if shown else text


def count_of(part: int, whole: int) -> str:
    """``12 of 1,600``."""
    return f"{part:,} of {whole:,}"


def shown_unit(unit: str) -> str:
    """The unit as written in a head: ``ms`` for microseconds."""
    return "ms" if unit == "us" else unit


def _signed_minus(text: str) -> str:
    if text.startswith("-"):
        bare = text[1:]
        return bare if not bare.strip("0.,") else f"−{bare}"
    return text
