"""A text that a lossy compressor wrote, laid over the items that it stands for.

Rules that this module owns:

* What a rewrite keeps is the code points of its items that it does not list as dropped. They stand in
  its text in order (:func:`holds_kept`); whatever else stands there is not of the items: altered text.
* :func:`align` finds the longest common sequence of words, white space and marks, and inside a changed
  word what it shares at both ends. It is exact for a compressor that only drops words.
* An offset map leads from every kept piece of the text to its raw range in the source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from capsules.omission import DroppedRange, Rewrite
from capsules.words import tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A piece of a rewrite's text that is verbatim of an item.

    Attributes:
        start: First code point in the rewrite's text.
        end: One past the last.
        item: span_id.
        source_start: Where it stands in the raw source; it is as long there.
    """

    start: int
    end: int
    item: str
    source_start: int


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    at: int  # in the rewrite's text, or in the raw source
    item: str = ""


def align(text: str, items: Sequence[tuple[str, str]]) -> tuple[Placed, ...]:
    """The offset map of a text over items.

    Args:
        text: What the compressor wrote.
        items: (span_id, exact text), in prompt order.
    """
    source = [token for item, exact in items for token in _tokens(exact, _start(item), item)]
    written = list(_tokens(text, 0))
    pairs = _common([t.text for t in source], [t.text for t in written])
    found: list[Placed] = []
    for (i, j), (next_i, next_j) in pairwise([(-1, -1), *pairs, (len(source), len(written))]):
        if i >= 0:
            found.append(_placed(source[i], written[j]))
        found += _edges(source[i + 1 : next_i], written[j + 1 : next_j])
    return tuple(_joined(found))


def dropped_ranges(items: Iterable[str], placed: Sequence[Placed]) -> tuple[DroppedRange, ...]:
    """What of the items an offset map does not hold, in order."""
    gone = []
    for item in items:
        at, end = _range(item)
        for piece in placed:
            if piece.item == item:
                if piece.source_start > at:
                    gone.append(DroppedRange(item=item, start=at, end=piece.source_start))
                at = piece.source_start + piece.end - piece.start
        if at < end:
            gone.append(DroppedRange(item=item, start=at, end=end))
    return tuple(gone)


def kept_ranges(rewrite: Rewrite, item: str) -> tuple[tuple[int, int], ...]:
    """The raw ranges of one item that a rewrite keeps, in order."""
    at, end = _range(item)
    kept = []
    for gone in rewrite.dropped:
        if gone.item == item:
            if gone.start > at:
                kept.append((at, gone.start))
            at = gone.end
    if at < end:
        kept.append((at, end))
    return tuple(kept)


def offset_map(rewrite: Rewrite, exact: Mapping[str, str]) -> tuple[Placed, ...]:
    """From the text of a rewrite to its sources; ``exact`` holds the text of each item by span_id."""
    return align(rewrite.text, [(item, exact[item]) for item in rewrite.items])


def holds_kept(rewrite: Rewrite, exact: Mapping[str, str]) -> bool:
    """Whether the code points that a rewrite says it keeps stand in its text, in order."""
    written = iter(rewrite.text)
    return all(
        character in written
        for item in rewrite.items
        for start, end in kept_ranges(rewrite, item)
        for character in exact[item][start - _start(item) : end - _start(item)]
    )


def _tokens(text: str, at: int, item: str = "") -> Iterator[_Token]:
    for token in tokens(text):
        yield _Token(token, at, item)
        at += len(token)


def _placed(source: _Token, written: _Token) -> Placed:
    return Placed(
        start=written.at, end=written.at + len(written.text), item=source.item, source_start=source.at
    )


def _edges(source: Sequence[_Token], written: Sequence[_Token]) -> list[Placed]:
    """What a changed word shares with the original at its ends, where one stands for the other."""
    if not source or not written:
        return []
    found = []
    first = _shared(source[0].text, written[0].text)
    if first:
        at = written[0].at
        found.append(Placed(start=at, end=at + first, item=source[0].item, source_start=source[0].at))
    old, new = source[-1], written[-1]
    last = _shared(old.text[::-1], new.text[::-1])
    last = min(last, len(old.text) - first * (len(source) == 1), len(new.text) - first * (len(written) == 1))
    if last:
        end = new.at + len(new.text)
        found.append(
            Placed(start=end - last, end=end, item=old.item, source_start=old.at + len(old.text) - last)
        )
    return found


def _shared(left: str, right: str) -> int:
    same = (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b)
    return next(same, min(len(left), len(right)))


def _joined(placed: Iterable[Placed]) -> Iterator[Placed]:
    """Pieces that continue each other on both sides as one."""
    last: Placed | None = None
    for piece in placed:
        if (
            last is not None
            and (last.item, last.end) == (piece.item, piece.start)
            and last.source_start + last.end - last.start == piece.source_start
        ):
            last = Placed(start=last.start, end=piece.end, item=last.item, source_start=last.source_start)
            continue
        if last is not None:
            yield last
        last = piece
    if last is not None:
        yield last


def _common(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """A longest common subsequence as pairs of indexes, by rows of bits (a zero bit: one more in common)."""
    places: dict[str, int] = {}
    for j, word in enumerate(right):
        places[word] = places.get(word, 0) | 1 << j
    full = (1 << len(right)) - 1
    rows = [full]
    for word in left:
        row = rows[-1]
        both = row & places.get(word, 0)
        rows.append(((row + both) | (row - both)) & full)
    pairs = []
    i, j = len(left), len(right)
    while i and j:
        length = _zeros(rows[i], j)
        if _zeros(rows[i - 1], j) == length:
            i -= 1
        elif _zeros(rows[i], j - 1) == length:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def _zeros(row: int, width: int) -> int:
    return width - (row & ((1 << width) - 1)).bit_count()


def _range(item: str) -> tuple[int, int]:
    start, _, end = item.rpartition(":")[2].partition("-")
    return int(start), int(end)


def _start(item: str) -> int:
    return _range(item)[0]
