"""Approximate search: where in a text a pattern stands with the fewest edits, and which edits.

Bit-parallel dynamic programming (Myers 1999, Hyyrö 2003) on Python's long integers: one column of the
table is two integers, one bit a code point of the pattern. Time is one handful of integer operations
a code point of the text, whatever the pattern's length up to some thousands.
"""

from __future__ import annotations

from collections.abc import Iterator

from capsules.quote_verdict import Edit

_Column = tuple[int, int, int]


def best_match(pattern: str, text: str, limit: int) -> tuple[int, int, int] | None:
    """The substring of ``text`` that is nearest to ``pattern``.

    Args:
        pattern: What to look for, not empty.
        text: Where to look.
        limit: The largest distance that counts.

    Returns:
        (distance, start, end), or ``None`` if no substring is within ``limit`` edits. Among equally
        near substrings the one that ends first, and of these the shortest.
    """
    size = len(pattern)
    best, end = size, 0
    for column, (distance, _, _) in enumerate(_columns(pattern, text, free_start=True), 1):
        if distance < best:
            best, end = distance, column
    if best > limit:
        return None
    window = text[max(0, end - size - best) : end][::-1]
    length = 0
    for column, (distance, _, _) in enumerate(_columns(pattern[::-1], window, free_start=False), 1):
        if distance == best:
            length = column
            break
    return best, end - length, end


def _columns(pattern: str, text: str, *, free_start: bool) -> Iterator[_Column]:
    """For each prefix of ``text``: the distance of ``pattern`` to it, and the column's bits.

    With ``free_start`` the distance is to the nearest suffix of the prefix. The bits say where going
    down the column adds one (first integer) or takes one away (second).
    """
    masks: dict[str, int] = {}
    for index, char in enumerate(pattern):
        masks[char] = masks.get(char, 0) | 1 << index
    every = (1 << len(pattern)) - 1
    last = len(pattern) - 1
    carried = 0 if free_start else 1
    plus, minus, distance = every, 0, len(pattern)
    for char in text:
        same = masks.get(char, 0)
        diagonal = (((same & plus) + plus) ^ plus) | same | minus
        right_plus = minus | (every & ~(diagonal | plus))
        right_minus = diagonal & plus
        distance += (right_plus >> last & 1) - (right_minus >> last & 1)
        right_plus = right_plus << 1 | carried
        plus = (right_minus << 1 | (every & ~(diagonal | right_plus))) & every
        minus = right_plus & diagonal & every
        yield distance, plus, minus


def edits(pattern: str, text: str) -> tuple[Edit, ...]:
    """The fewest edits that turn ``pattern`` into ``text``, runs of one kind joined."""
    columns = [(plus, minus) for _, plus, minus in _columns(pattern, text, free_start=False)]
    steps: list[tuple[str, str, str]] = []
    row, column = len(pattern), len(text)
    while row or column:
        if not column or (row and columns[column - 1][0] >> (row - 1) & 1):
            row -= 1
            steps.append(("delete", pattern[row], ""))
        elif not row or (column > 1 and columns[column - 2][1] >> (row - 1) & 1):
            column -= 1
            steps.append(("insert", "", text[column]))
        else:
            row, column = row - 1, column - 1
            same = pattern[row] == text[column]
            steps.append(("equal" if same else "replace", pattern[row], text[column]))
    return _joined(steps[::-1])


def _joined(steps: list[tuple[str, str, str]]) -> tuple[Edit, ...]:
    joined: list[Edit] = []
    for op, quote, source in steps:
        if joined and joined[-1].op == op:
            last = joined.pop()
            quote, source = last.quote + quote, last.source + source
        joined.append(Edit(op=op, quote=quote, source=source))
    return tuple(joined)
