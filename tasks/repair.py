"""Gold offsets that do not point at their text, and the only two rules that may repair them.

1. *Unit*: when code points do not fit all answers of one document but UTF-16 units or UTF-8
   bytes fit every one of them, the offsets of that document are in that unit (class ``utf16``,
   ``utf8``).
2. *Nearest*: else the exact occurrence of the answer text nearest to the stated offset, within
   a window of code points; on a tie the earlier one (class ``nearest`` and the way: ``nearest-1``).
   White space and letters are part of the text: nothing is trimmed or folded to make it fit.

Everything else is refused. Without a window (``0``) neither rule applies. Each repair is counted
under its class, so that a report can say how much of the gold is as published.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Answer = tuple[str, int]  # text, stated offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """Where an answer really is; ``repair`` is ``None`` when its offset was right."""

    start: int
    end: int
    repair: str | None


def fits(context: str, answer: Answer) -> bool:
    """Whether the stated offset, in code points, points at exactly the text."""
    text, start = answer
    return start >= 0 and bool(text) and context.startswith(text, start)


def document_unit(context: str, answers: Iterable[Answer]) -> str | None:
    """Name the unit in which all offsets of a document agree: ``code_points``, ``utf16``, ``utf8``.

    Returns:
        The first unit that fits all, or ``None``.
    """
    known = tuple(answers)
    if all(fits(context, answer) for answer in known):
        return "code_points"
    others = (("utf16", max(context, default="") > "\uffff"), ("utf8", not context.isascii()))
    for unit, differs in others:
        if differs and all(fits(context, (text, from_unit(context, start, unit))) for text, start in known):
            return unit
    return None


def from_unit(context: str, offset: int, unit: str) -> int:
    """Convert an offset in another unit to code points; -1 when it cuts a character."""
    if offset < 0:
        return -1
    encoding, width = ("utf-16-le", 2) if unit == "utf16" else ("utf-8", 1)
    # Cut the context first: a code point is at least one unit, so no more can be needed.
    data = context[:offset].encode(encoding)[: offset * width]
    if len(data) < offset * width:
        return -1
    try:
        return len(data.decode(encoding))
    except UnicodeDecodeError:
        return -1


def nearest(context: str, answer: Answer, window: int) -> int | None:
    """Find the start of the occurrence nearest to the stated offset, within the window."""
    text, stated = answer
    if not text:
        return None
    found = [at for at in _occurrences(context, text) if abs(at - stated) <= window]
    return min(found, key=lambda at: (abs(at - stated), at), default=None)


def _occurrences(context: str, text: str) -> Iterable[int]:
    at = context.find(text)
    while at >= 0:
        yield at
        at = context.find(text, at + 1)


def locate(
    context: str, answers: Sequence[Answer], unit: str | None, window: int
) -> tuple[Located | None, ...]:
    """Locate the answers of one row.

    Args:
        context: The document.
        answers: The row's answers.
        unit: What :func:`document_unit` said of all answers of the document.
        window: Size of the window of rule 2, in code points; 0 allows no repair at all.

    Returns:
        One entry an answer; ``None`` where the gold must be refused.
    """
    located: list[Located | None] = []
    for text, stated in answers:
        start: int | None = None
        repair: str | None = None
        if fits(context, (text, stated)):
            start = stated
        elif window > 0 and unit in ("utf16", "utf8"):
            start, repair = from_unit(context, stated, unit), unit
        elif window > 0:
            start = nearest(context, (text, stated), window)
            repair = None if start is None else f"nearest{start - stated:+d}"
        place = None if start is None else Located(start=start, end=start + len(text), repair=repair)
        located.append(place)
    return tuple(located)
