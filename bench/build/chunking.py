"""Raw text as chunks (paragraphs) and items (sentences): what is ranked, and what is dropped.

Rules that this module owns:

* A chunk is what a retriever ranks: ``paragraph`` (text between blank lines) or ``document``.
* An item is what can be dropped whole: a sentence of a chunk, trimmed of white space at both ends,
  never empty. Every character that is not white space lies in exactly one item.
* An item's segment is SEP and its text, SEP being the raw white space after the item before it in
  the source ("" for a source's first item). So its tokens depend on the source alone, and are
  counted once a source, whatever is kept.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bench.build.base import BuildError
from capsules.content_id import content_id
from capsules.sentences import split_sentences
from capsules.tokenized import is_lossy
from capsules.tokenizer import Tokenizer
from capsules.unicode_tables import WHITE_SPACE

_LINE_ENDS = "\n\r\x0b\x0c\x85\u2028\u2029"
_IN_LINE = "".join(c for c in WHITE_SPACE if c not in _LINE_ENDS)
_LINE_END = r"(?:\r\n|[\n\r\x85\u2028])"
_BLANK_LINE = re.compile(rf"{_LINE_END}[{_IN_LINE}]*{_LINE_END}|\u2029")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextItem:
    """A sentence: half-open code-point range, its chunk, and its tokens with SEP."""

    start: int
    end: int
    chunk: int
    tokens: int
    lossy: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkedText:
    """A source text, cut.

    Attributes:
        source: ContentId of the text's UTF-8 bytes.
        text: The raw text.
        chunks: Half-open code-point ranges, trimmed, in order; none is without an item.
        items: The items of all chunks, in order.
    """

    source: str
    text: str
    chunks: tuple[tuple[int, int], ...]
    items: tuple[TextItem, ...]


def paragraphs(text: str) -> list[tuple[int, int]]:
    """Trimmed ranges of the text between blank lines."""
    cuts = [0]
    for match in _BLANK_LINE.finditer(text):
        cuts += match.span()
    cuts.append(len(text))
    return _trimmed(text, list(zip(cuts[::2], cuts[1::2], strict=True)))


def sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Trimmed ranges of the sentences of ``text[start:end]``."""
    return _trimmed(text, [(start + a, start + b) for a, b in split_sentences(text[start:end])])


def document(text: str) -> list[tuple[int, int]]:
    """The whole text as one chunk."""
    return _trimmed(text, [(0, len(text))])


CHUNKINGS: Mapping[str, Callable[[str], list[tuple[int, int]]]] = {
    "document": document,
    "paragraph": paragraphs,
}


def chunk_text(text: str, chunking: str, tokenizer: Tokenizer) -> ChunkedText:
    """Cut a text and count its items.

    Raises:
        BuildError: ``chunking.unknown``.
    """
    if chunking not in CHUNKINGS:
        raise BuildError("chunking.unknown", f"expected one of {', '.join(CHUNKINGS)}, found {chunking!r}")
    chunks = CHUNKINGS[chunking](text)
    items: list[TextItem] = []
    end = 0
    for number, (chunk_start, chunk_end) in enumerate(chunks):
        for low, high in sentences(text, chunk_start, chunk_end):
            segment = text[end if items else low : high]
            tokens, lossy = len(tokenizer.encode(segment)), is_lossy(segment, tokenizer)
            items.append(TextItem(start=low, end=high, chunk=number, tokens=tokens, lossy=lossy))
            end = high
    return ChunkedText(source=content_id(text.encode()), text=text, chunks=tuple(chunks), items=tuple(items))


class ChunkCache:
    """Cut texts, least recently used first out: most samples of a task share their sources.

    Args:
        max_chars: Code points of text to keep at most.
    """

    def __init__(self, max_chars: int = 1 << 24) -> None:
        self._max_chars = max_chars
        self._chars = 0
        self._cut: OrderedDict[tuple[str, str, str], ChunkedText] = OrderedDict()

    def get(self, text: str, chunking: str, tokenizer: Tokenizer) -> ChunkedText:
        """The same as :func:`chunk_text`, computed once while it is kept."""
        key = (tokenizer.tokenizer_digest, chunking, text)
        found = self._cut.get(key)
        if found is not None:
            self._cut.move_to_end(key)
            return found
        found = self._cut[key] = chunk_text(text, chunking, tokenizer)
        self._chars += len(text)
        while self._chars > self._max_chars and len(self._cut) > 1:
            (_, _, oldest), _ = self._cut.popitem(last=False)
            self._chars -= len(oldest)
        return found


def _trimmed(text: str, ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges without white space at their ends; those that are then empty are left out."""
    trimmed = []
    for start, end in ranges:
        piece = text[start:end]
        low = start + len(piece) - len(piece.lstrip(WHITE_SPACE))
        high = low + len(piece.strip(WHITE_SPACE))
        if low < high:
            trimmed.append((low, high))
    return trimmed
