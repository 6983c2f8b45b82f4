"""How two texts differ, in words.

Rules that this module owns: words are compared, with the white space after them; what is invisible is
written out; texts too long to compare word by word are compared from both ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from bench.report.visible import clipped, visible

LIMIT = 160
LONG = 20_000  # code points; comparing word by word takes time that grows with the square
MOST = 8

_WORDS = re.compile(r"\s*\S+|\s+\Z")


def quoted(text: str, limit: int = LIMIT) -> str:
    """The text between quotation marks, visible and not too long."""
    return f'"{clipped(visible(text), limit)}"'


def edits(left: str, right: str) -> list[tuple[int, str, str]]:
    """The edits that turn one text into the other: (position in ``left``, old, new), in order."""
    if left == right:
        return []
    if max(len(left), len(right)) > LONG:
        return [_from_both_ends(left, right)]
    old, new = _WORDS.findall(left), _WORDS.findall(right)
    starts = [0]
    for word in old:
        starts.append(starts[-1] + len(word))
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [
        (starts[a], "".join(old[a:b]), "".join(new[c:d]))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def edit_lines(left: str, right: str, names: tuple[str, str]) -> Iterator[str]:
    """The edits for people; the names say whose text is which."""
    found = edits(left, right)
    for position, old, new in found[:MOST]:
        where = f"from character {position}"
        if not old:
            yield f"{where}: only {names[1]} has {quoted(new)}"
        elif not new:
            yield f"{where}: only {names[0]} has {quoted(old)}"
        else:
            yield f"{where}: {quoted(old)} in {names[0]}, {quoted(new)} in {names[1]}"
    if len(found) > MOST:
        yield f"and {len(found) - MOST} more edits"


def _from_both_ends(left: str, right: str) -> tuple[int, str, str]:
    shortest = min(len(left), len(right))
    start = next((i for i in range(shortest) if left[i] != right[i]), shortest)
    end = next((i for i in range(shortest - start) if left[-1 - i] != right[-1 - i]), shortest - start)
    return start, left[start : len(left) - end], right[start : len(right) - end]
