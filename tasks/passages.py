"""Sentences and quotes as exact ranges of the text that they come from.

What forms of several documents share: a document joined from given sentences, the range of a
sentence or quote in it, and the sources of a row. Ranges are trimmed of white space at both
ends, for evidence begins and ends with what can be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from capsules.source import Origin
from tasks.base import SourceDoc, TaskSpec, TextRange
from tasks.fields import RowRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusRow:
    """A document of a corpus, and the row that digests cover."""

    doc: SourceDoc
    value: Mapping[str, object]


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Move both ends of a range inward over white space."""
    inside = text[start:end]
    left = len(inside) - len(inside.lstrip())
    return start + left, start + left + len(inside.strip())


def joined(sentences: Sequence[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Join sentences that carry their own spaces; say where each one stands, trimmed."""
    text = ""
    ranges: list[tuple[int, int]] = []
    for sentence in sentences:
        ranges.append((len(text), len(text) + len(sentence)))
        text += sentence
    return text, tuple(trimmed(text, start, end) for start, end in ranges)


def sentence_range(doc_id: str, ranges: Sequence[tuple[int, int]], number: int, where: str) -> TextRange:
    """Return the range of a sentence by its number.

    Raises:
        RowRefused: There is no such sentence, or it is blank.
    """
    if not 0 <= number < len(ranges):
        raise RowRefused("gold.range", where, f"no sentence {number} in {len(ranges)} of {doc_id!r}")
    start, end = ranges[number]
    if start == end:
        raise RowRefused("gold.range", where, f"sentence {number} of {doc_id!r} is blank")
    return TextRange(doc_id=doc_id, start=start, end=end)


def first_range(doc_id: str, text: str, quote: str, where: str, after: int = 0) -> TextRange:
    """Return the range of the first exact occurrence of a quote, trimmed.

    Raises:
        RowRefused: The quote is blank or does not occur.
    """
    wanted = quote.strip()
    start = text.find(wanted, after) if wanted else -1
    if start < 0:
        raise RowRefused("gold.mismatch", where, f"{wanted[:40]!r} does not occur in {doc_id!r}")
    return TextRange(doc_id=doc_id, start=start, end=start + len(wanted))


def source(
    spec: TaskSpec, doc_id: str, text: str, *, dataset: str, row: str, license: str, title: str | None = None
) -> SourceDoc:
    """Make a source of a public data set: public, of the run's project, without expiry."""
    return SourceDoc(
        doc_id=doc_id,
        text=text,
        title=title or None,
        origin=Origin(dataset=dataset, row=row),
        license=license,
        project=spec.project,
    )
