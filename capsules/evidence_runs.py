"""Kept items as numbered runs: what of a source a prompt shows unbroken, and under which number.

Rules that this module owns:

* SEP is the raw white space between an item and the item before it in its source, whether or not
  that one is kept ("" before a source's first item). So the tokens of an item never depend on its
  neighbours, and adjacent kept items read as the raw text, unbroken.
* A run is a longest row of kept items with no omitted item between them. A source keeps its number
  over all its runs, so a gap in the evidence is always visible as a header.
* The order is that of the capsules: refs, then sources by id, then position. Never a score.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from capsules.errors import RenderError
from capsules.evidence import EvidenceCapsule
from capsules.omission import Omission, Rewrite
from capsules.rewriting import kept_ranges
from capsules.span import ExactSpan, item_range
from capsules.unicode_tables import WHITE_SPACE


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Kept items of one source that stand under one header.

    Attributes:
        number: The citation number.
        source: ContentId.
        items: (span, SEP), in order.
    """

    number: int
    source: str
    items: tuple[tuple[ExactSpan, str], ...]

    def shown(self, rewrites: Mapping[str, Rewrite]) -> list[tuple[str, str]]:
        """(span_id, text that is sent for it, SEP included), in order."""
        return [
            (span.span_id, sep + (rewrites[span.span_id].text if span.span_id in rewrites else span.exact))
            for span, sep in self.items
        ]

    def ranges(self, rewrites: Mapping[str, Rewrite]) -> list[tuple[int, int]]:
        """Raw ranges that the prompt shows: the gaps between items too, without what rewrites dropped."""
        ranges: list[tuple[int, int]] = []
        for span, sep in self.items:
            rewrite = rewrites.get(span.span_id)
            kept = ((span.start, span.end),) if rewrite is None else kept_ranges(rewrite, span.span_id)
            for start, end in kept:
                if start == span.start and ranges and ranges[-1][1] == start - len(sep):
                    ranges[-1] = (ranges[-1][0], end)
                else:
                    ranges.append((start, end))
        return ranges


def evidence_runs(
    evidence: Sequence[EvidenceCapsule],
    texts: Mapping[str, str],
    omissions: Iterable[Omission],
    *,
    per_item: bool,
) -> Iterator[Run]:
    """The runs of a prompt, in its order.

    Args:
        evidence: Its evidence capsules, in order.
        texts: Raw text by ContentId.
        omissions: What it leaves out.
        per_item: Whether every item has a number and a run of its own.

    Raises:
        RenderError: A source text is missing or does not hold a span, items overlap, or text that
            belongs to no item would stand between two adjacent items.
    """
    omitted = _omitted_ranges(omissions)
    number = 0
    for capsule in evidence:
        by_source: dict[str, list[ExactSpan]] = {}
        for span in capsule.exact_spans:
            by_source.setdefault(span.source, []).append(span)
        for source in sorted(by_source):
            spans = sorted(by_source[source], key=lambda span: span.start)
            if not per_item:
                number += 1
            for row in _rows(spans, _text_of(texts, source), omitted.get(source, [])):
                if per_item:
                    for item in row:
                        number += 1
                        yield Run(number=number, source=source, items=(item,))
                else:
                    yield Run(number=number, source=source, items=tuple(row))


def _omitted_ranges(omissions: Iterable[Omission]) -> dict[str, list[tuple[int, int]]]:
    ranges: dict[str, list[tuple[int, int]]] = {}
    for omission in omissions:
        place = item_range(omission.item or "")
        if place is not None:
            ranges.setdefault(place[0], []).append(place[1])
    return ranges


def _rows(
    spans: Sequence[ExactSpan], text: str, omitted: Sequence[tuple[int, int]]
) -> Iterator[list[tuple[ExactSpan, str]]]:
    """Rows of kept items without an omitted item between them, each item with its SEP."""
    kept = {(span.start, span.end): span for span in spans}
    row: list[tuple[ExactSpan, str]] = []
    end: int | None = None
    for item in sorted({*kept, *omitted}):
        if end is not None and item[0] < end:
            raise RenderError("span.range", f"expected items that do not overlap, found {item} after {end}")
        span = kept.get(item)
        if span is not None:
            if text[span.start : span.end] != span.exact:
                raise RenderError("span.exact.mismatch", f"the source does not hold span {span.span_id}")
            gap = "" if end is None else text[end : span.start]
            if gap.strip(WHITE_SPACE):
                raise RenderError(
                    "render.gap", f"expected white space before span {span.span_id}, found text"
                )
            row.append((span, gap))
        elif row:
            yield row
            row = []
        end = item[1]
    if row:
        yield row


def _text_of(texts: Mapping[str, str], source: str) -> str:
    if source not in texts:
        raise RenderError("source.missing", f"expected the text of source {source}, found none")
    return texts[source]
