"""Raw text as chunks and items (sentences): what is ranked, and what is dropped.

Rules that this module owns:

* A chunk is what a retriever ranks: ``document``, ``paragraph`` (text between blank lines), ``sentence``,
  or ``window``: consecutive whole sentences, over paragraph ends too. Windows may overlap; items never do.
* An item is what can be dropped whole: a sentence of a paragraph, trimmed of white space at both ends,
  never empty. Every character that is not white space lies in exactly one item.
* A window holds as many sentences as its size (in sentences, or in item tokens) admits, at least one.
  The next one begins at the first sentence that lies a stride or more behind its beginning, never behind
  its end, and further on where it would hold nothing new: so every sentence is in a window, and no window
  in another.
* An item's segment is SEP and its text, SEP being the raw white space after the item before it in
  the source ("" for a source's first item). So its tokens depend on the source alone, and are
  counted once a source, whatever is kept.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from bench.build.base import BuildError
from bench.specs import Chunking
from capsules.content_id import content_id
from capsules.sentences import iter_sentences
from capsules.tokenized import is_lossy
from capsules.tokenizer import Tokenizer
from capsules.unicode_tables import WHITE_SPACE

_LINE_ENDS = "\n\r\x0b\x0c\x85\u2028\u2029"
_IN_LINE = "".join(c for c in WHITE_SPACE if c not in _LINE_ENDS)
_LINE_END = r"(?:\r\n|[\n\r\x85\u2028])"
_BLANK_LINE = re.compile(rf"{_LINE_END}[{_IN_LINE}]*{_LINE_END}|\u2029")

Range = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextItem:
    """A sentence: half-open code-point range, its tokens with SEP, and the chunks that hold it."""

    start: int
    end: int
    tokens: int
    lossy: bool
    chunks: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """What a retriever ranks: a half-open code-point range of whole items, ``items[first:last]``."""

    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkedText:
    """A source text, cut.

    Attributes:
        source: ContentId of the text's UTF-8 bytes.
        text: The raw text.
        chunks: In order of their starts; each begins and ends with an item.
        items: Disjoint, in order.
    """

    source: str
    text: str
    chunks: tuple[Chunk, ...]
    items: tuple[TextItem, ...]


def paragraphs(text: str) -> list[Range]:
    """Trimmed ranges of the text between blank lines."""
    cuts = [0]
    for match in _BLANK_LINE.finditer(text):
        cuts += match.span()
    cuts.append(len(text))
    return list(_trimmed(text, zip(cuts[::2], cuts[1::2], strict=True)))


def sentences(text: str, start: int, end: int) -> list[Range]:
    """Trimmed ranges of the sentences of ``text[start:end]``."""
    return list(_sentences(text, start, end))


def _sentences(text: str, start: int, end: int) -> Iterator[Range]:
    return _trimmed(text, ((start + a, start + b) for a, b in iter_sentences(text[start:end])))


def document(text: str) -> list[Range]:
    """The whole text as one range."""
    return list(_trimmed(text, [(0, len(text))]))


def windows(sizes: Sequence[int], size: int, stride: int) -> list[Range]:
    """Overlapping runs ``[first, last)`` of consecutive sentences that together hold all of them.

    Args:
        sizes: The size of each sentence.
        size: The most that a window holds, unless it is one sentence alone.
        stride: How far the next window begins behind this one's beginning, at least.
    """
    ends = list(accumulate(sizes))
    runs: list[Range] = []
    first = reach = 0
    while reach < len(sizes):
        before = ends[first] - sizes[first]
        last = max(bisect_right(ends, before + size, first), first + 1)
        if last > reach:
            runs.append((first, last))
            reach = last
            first = min(bisect_left(ends, before + stride, first) + 1, last)
        else:  # all of it is in the window before
            first += 1
    return runs


# Where sentences are looked for: in the document, or in each of its paragraphs.
_REGIONS: Mapping[str, Callable[[str], list[Range]]] = {
    "document": document,
    "paragraph": paragraphs,
    "sentence": paragraphs,
    "window": paragraphs,
}


class TooManyItemsError(Exception):
    """A text has more items than were asked for."""


def chunk_text(text: str, chunking: Chunking, tokenizer: Tokenizer, most: int | None = None) -> ChunkedText:
    """Cut a text and count its items.

    Args:
        text: Any text.
        chunking: What a chunk is.
        tokenizer: Counts the items.
        most: The most items that are of use; ``None``: any number.

    Raises:
        BuildError: ``chunking.unknown``.
        TooManyItemsError: There are more than ``most``; the rest of the text was not cut, and none counted.
    """
    if chunking.kind not in _REGIONS:
        raise BuildError(
            "chunking.unknown", f"expected one of {', '.join(_REGIONS)}, found {chunking.kind!r}"
        )
    ranges: list[Range] = []
    regions: list[Range] = []
    for start, end in _REGIONS[chunking.kind](text):
        first = len(ranges)
        for found in _sentences(text, start, end):
            ranges.append(found)
            if most is not None and len(ranges) > most:
                raise TooManyItemsError
        regions.append((first, len(ranges)))
    begins = [low for low, _ in ranges[:1]] + [high for _, high in ranges[:-1]]
    segments = [text[begin:high] for begin, (_, high) in zip(begins, ranges, strict=True)]
    tokens = [len(tokenizer.encode(segment)) for segment in segments]
    runs = _runs(chunking, regions, tokens)
    holders: list[list[int]] = [[] for _ in ranges]
    for number, (first, last) in enumerate(runs):
        for holder in holders[first:last]:
            holder.append(number)
    return ChunkedText(
        source=content_id(text.encode()),
        text=text,
        chunks=tuple(Chunk(start=ranges[a][0], end=ranges[b - 1][1], first=a, last=b) for a, b in runs),
        items=tuple(
            TextItem(start=low, end=high, tokens=n, lossy=is_lossy(segment, tokenizer), chunks=tuple(held))
            for (low, high), segment, n, held in zip(ranges, segments, tokens, holders, strict=True)
        ),
    )


def _runs(chunking: Chunking, regions: Sequence[Range], tokens: Sequence[int]) -> list[Range]:
    """The chunks as runs ``[first, last)`` of sentences, none of them empty."""
    if chunking.kind == "sentence":
        return [(n, n + 1) for n in range(len(tokens))]
    if chunking.kind == "window":
        sizes = tokens if chunking.unit == "tokens" else [1] * len(tokens)
        return windows(sizes, chunking.size, chunking.stride)
    return [(first, last) for first, last in regions if first < last]


class ChunkCache:
    """Cut texts, least recently used first out: most samples of a task share their sources.

    Args:
        max_chars: Code points of text to keep at most.
    """

    def __init__(self, max_chars: int = 1 << 24) -> None:
        self._max_chars = max_chars
        self._chars = 0
        self._cut: OrderedDict[tuple[str, Chunking, str], ChunkedText] = OrderedDict()

    def get(
        self, text: str, chunking: Chunking, tokenizer: Tokenizer, most: int | None = None
    ) -> ChunkedText:
        """The same as :func:`chunk_text`, computed once while it is kept.

        Raises:
            BuildError: ``chunking.unknown``.
            TooManyItemsError: There are more items than ``most``.
        """
        key = (tokenizer.tokenizer_digest, chunking, text)
        found = self._cut.get(key)
        if found is not None:
            self._cut.move_to_end(key)
            if most is not None and len(found.items) > most:
                raise TooManyItemsError
            return found
        found = self._cut[key] = chunk_text(text, chunking, tokenizer, most)
        self._chars += len(text)
        while self._chars > self._max_chars and len(self._cut) > 1:
            (_, _, oldest), _ = self._cut.popitem(last=False)
            self._chars -= len(oldest)
        return found


def _trimmed(text: str, ranges: Iterable[Range]) -> Iterator[Range]:
    """The ranges without white space at their ends; those that are then empty are left out."""
    for start, end in ranges:
        piece = text[start:end]
        low = start + len(piece) - len(piece.lstrip(WHITE_SPACE))
        high = low + len(piece.strip(WHITE_SPACE))
        if low < high:
            yield low, high
