"""What an answer to a prompt may quote: the shown text under each number.

Rules that this module owns:

* A passage is what the prompt shows of a source without a break. Ranges with nothing but white space
  between them are one, as for the verdict on a quote.
* The tags of an answer end a quote. A passage that holds ``<q>`` or ``</q>`` is cut inside each of them, in
  two overlapping parts: every quote without a whole tag stays expressible, and no quote can close itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bench.build.base import ShownSource
from capsules.prompt_quote import merge_shown

TAG = re.compile("</?q>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """What stands under one number, in parts that a quote cannot leave."""

    number: int
    parts: tuple[str, ...]


def passages(shown: Sequence[ShownSource], texts: Callable[[str], str]) -> tuple[Passages, ...]:
    """The quotable parts of every shown source.

    Args:
        shown: What the prompt shows under which number.
        texts: ContentId -> raw text.
    """
    found = []
    for source in shown:
        text = texts(source.source)
        ranges = merge_shown(text, source.ranges)
        parts = [part for start, end in ranges for part in _cut(text[start:end])]
        found.append(Passages(number=source.number, parts=tuple(parts)))
    return tuple(found)


def _cut(text: str) -> Iterator[str]:
    start = 0
    for tag in TAG.finditer(text):
        yield text[start : tag.end() - 1]
        start = tag.start() + 1
    yield text[start:]
