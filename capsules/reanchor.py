"""Where the spans of a source stand after the source has changed.

* A span's *place* is its exact text between its prefix and its suffix (32 code points each; fewer only
  where the old text began or ended). A place agrees if all three stand there, byte for byte.
* ``kept``: the same offsets agree. ``moved``: they do not, and exactly one other place agrees. Two places are
  one too many: a span is never moved by choosing. ``vanished``: the source is gone, or it ends before the old
  offsets do and holds the text nowhere. ``changed``: all else; the old offsets hold something else, or
  the text stands in another context.
* Spans that would overlap where they stand now cannot both be meant: one of them counts as changed.
* Every span of the new source is made anew from its text, so all that it claims is true of it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Literal

from capsules.errors import RenderError, SchemaError
from capsules.sentences import split_sentences
from capsules.source import SourceText
from capsules.source_index import starts
from capsules.span import ExactSpan, check_span, make_span
from capsules.tokenizer import Tokenizer
from capsules.unicode_tables import WHITE_SPACE

Fate = Literal["kept", "moved", "changed", "vanished"]
Range = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanFate:
    """What became of a span.

    Attributes:
        span_id: Its id in the old source.
        fate: ``kept``, ``moved``, ``changed`` or ``vanished``.
        new_id: Its id now; ``None`` where it could not be anchored.
        places: How many places agree (2 stands for more), the old one included.
    """

    span_id: str
    fate: Fate
    new_id: str | None
    places: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchored:
    """The spans of one changed source: what became of each, and where those are that could be anchored."""

    fates: dict[str, SpanFate]
    spans: dict[str, ExactSpan]  # by old span_id


def reanchor(spans: Iterable[ExactSpan], old_text: str, new: SourceText | None) -> Anchored:
    """Anchor the spans of one source in its new text.

    Args:
        spans: Spans of the old source.
        old_text: Its raw text.
        new: What it is now; ``None``: it is gone.

    Raises:
        SchemaError: A span disagrees with the old text (``span.*``): it was not valid before.
    """
    fates: dict[str, SpanFate] = {}
    placed: dict[str, ExactSpan] = {}
    for span in spans:
        for problem in check_span(span, old_text):
            raise SchemaError(
                problem.code, f"span {span.span_id} disagrees with its old source", at=problem.at
            )
        fate, start, places = _place(span, None if new is None else new.text)
        if new is not None and start is not None:
            end = start + len(span.exact)
            placed[span.span_id] = make_span(new.source, new.text, start, end, norm_id=span.norm_id)
        fates[span.span_id] = SpanFate(span_id=span.span_id, fate=fate, new_id=None, places=places)
    standing = _apart(placed, fates)
    for name in placed:
        anchored = standing.get(name)
        fates[name] = SpanFate(
            span_id=name,
            fate="changed" if anchored is None else fates[name].fate,
            new_id=None if anchored is None else anchored.span_id,
            places=fates[name].places,
        )
    return Anchored(fates=fates, spans=standing)


def _place(span: ExactSpan, text: str | None) -> tuple[Fate, int | None, int]:
    """The fate of a span, where it stands now, and how many places agree."""
    if text is None:
        return "vanished", None, 0
    whole, before = span.prefix + span.exact + span.suffix, len(span.prefix)
    found = [at + before for at in islice(starts(text, whole), 2)]
    if text.startswith(whole, span.start - before):
        return "kept", span.start, len(found)
    if len(found) == 1:
        return "moved", found[0], 1
    gone = span.end > len(text) and span.exact not in text
    return "vanished" if gone else "changed", None, len(found)


def _apart(placed: Mapping[str, ExactSpan], fates: Mapping[str, SpanFate]) -> dict[str, ExactSpan]:
    """The spans that do not overlap: of two that do, the one that was kept, else the earlier one."""
    standing: list[tuple[str, ExactSpan]] = []
    for name, span in sorted(placed.items(), key=lambda pair: (pair[1].start, pair[1].end)):
        if standing and span.start < standing[-1][1].end:
            if fates[name].fate != "kept" or fates[standing[-1][0]].fate == "kept":
                continue
            standing.pop()
        standing.append((name, span))
    return dict(standing)


def unclaimed(text: str, ranges: Iterable[Range]) -> list[Range]:
    """The text between some ranges that do not overlap, as ranges of sentences; none is white space."""
    edges = [(0, 0), *sorted(ranges), (len(text), len(text))]
    return [
        (end + low, end + high)
        for (_, end), (start, _) in pairwise(edges)
        for low, high in split_sentences(text[end:start])
    ]


def item_tokens(
    text: str, ranges: Iterable[Range], tokenizer: Tokenizer, *, only: Container[Range] | None = None
) -> dict[Range, int]:
    """Tokens of the rendered segments of items of a source: each with the white space before it.

    Args:
        text: The raw text of the source.
        ranges: All its items, kept or not.
        tokenizer: Who counts.
        only: The items to count; ``None`` is all.

    Raises:
        RenderError: ``render.gap``: text that belongs to no item stands before an item; ``span.range``: two
            items overlap.
    """
    counts = {}
    end: int | None = None
    for start, stop in sorted(ranges):
        if end is not None and start < end:
            raise RenderError("span.range", f"expected items apart, found {start} inside an item to {end}")
        gap = "" if end is None else text[end:start]
        end = stop
        if only is None or (start, stop) in only:
            if gap.strip(WHITE_SPACE):
                raise RenderError(
                    "render.gap", f"expected white space before the item at {start}, found text"
                )
            counts[start, stop] = len(tokenizer.encode(gap + text[start:stop]))
    return counts
