"""Where a Markdown text is code, in which nothing is a citation mark.

* Fenced: from a line that begins with three or more backticks or tildes (after at most white space) to
  a line of at least as many of the same, or to the end of the text.
* Inline: from a run of backticks to the next run of the same length in the same paragraph. An unclosed
  run makes code of the rest of its line, unless the line closes it with as many apostrophes
  (````quoted''````, a way of quoting).
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[^\S\n]*(`{3,}(?=[^`\n]*$)|~{3,})", re.MULTILINE)
_RUN = re.compile(r"`+")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*(?=\n|\Z)")
_LINE_END = re.compile(r"\n|\Z")


def code_ranges(text: str) -> list[tuple[int, int]]:
    """The ranges of ``text`` that are code, in order."""
    ranges: list[tuple[int, int]] = []
    position = 0
    while position < len(text):
        fence = _FENCE.search(text, position)
        prose_end = fence.start() if fence else len(text)
        ranges += _inline(text, position, prose_end)
        if fence is None:
            break
        position = _fence_end(text, fence)
        ranges.append((fence.start(), position))
    return ranges


def _fence_end(text: str, fence: re.Match[str]) -> int:
    char, size = fence[1][0], len(fence[1])
    closing = re.compile(rf"^[^\S\n]*{char}{{{size},}}[^\S\n]*$", re.MULTILINE)
    closed = closing.search(text, fence.end())
    return closed.end() if closed else len(text)


def _inline(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Inline code between two positions."""
    ranges = []
    position = start
    while run := _RUN.search(text, position, end):
        paragraph = _PARAGRAPH_END.search(text, run.end(), end)
        limit = paragraph.start() if paragraph else end
        close = next((c for c in _RUN.finditer(text, run.end(), limit) if len(c[0]) == len(run[0])), None)
        if close:
            position = close.end()
            ranges.append((run.start(), position))
            continue
        position = run.end()
        line = _LINE_END.search(text, run.end(), end)
        line_end = line.start() if line else end
        if "'" * len(run[0]) not in text[run.end() : line_end]:
            ranges.append((run.start(), line_end))
            position = line_end
    return ranges
