"""Sources: the raw bytes that evidence points into, and how a capsule refers to them.

A source is bytes, named by their ContentId. Its text is those bytes decoded as strict UTF-8, with
nothing dropped: a leading U+FEFF is a code point of the text and counts in offsets, and no line end is
changed. A title is citable only as the text of a source of its own (``origin.row`` + ``#title``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from capsules.content_id import content_id
from capsules.errors import ParseError
from capsules.rules import ContentId, IntRule, Name, Text, Time
from capsules.shape import Record

MAX_SOURCE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin(Record):
    """Where a source came from: data set name and row id (never a path or an address)."""

    dataset: Name
    row: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRef(Record):
    """What an EvidenceCapsule records about one source (``source_refs`` entry)."""

    source: ContentId  # of the raw bytes
    bytes: Annotated[int, IntRule(0, MAX_SOURCE_BYTES)]
    media_type: Name
    origin: Origin
    license: Name
    title: Text | None
    retrieved_as_of: Time | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """A source at hand: ``source`` is the ContentId of ``data``, ``text`` its decoded form."""

    source: str
    data: bytes
    text: str


def source_text(data: bytes) -> SourceText:
    """The source of some raw bytes.

    Raises:
        ParseError: As ``text_of``.
    """
    text = text_of(data)
    return SourceText(source=content_id(data), data=data, text=text)


def text_of(data: bytes) -> str:
    """The text of a source's raw bytes.

    Raises:
        ParseError: ``bytes.size.exceeded`` over 64 MiB; ``source.utf8.invalid`` with the offset of the
            byte.
    """
    if len(data) > MAX_SOURCE_BYTES:
        raise ParseError(
            "bytes.size.exceeded", f"expected a source of at most {MAX_SOURCE_BYTES} bytes, found {len(data)}"
        )
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ParseError(
            "source.utf8.invalid", f"expected UTF-8: {error.reason}", position=error.start
        ) from None
