"""Exact spans: half-open ranges of code points in the raw text of a source.

A span says the same thing in four ways: where it is (``start``, ``end``), what it quotes (``exact``), what
stands around it (``prefix``, ``suffix``: 32 code points, fewer only at an end of the text), and which of
how many occurrences it is. All must agree with the source; a mismatch is a failure and a span is
never moved to where its text stands now. Offsets are code points of the raw text, never bytes, UTF-16
units, graphemes or offsets of a normalized text.

Occurrences overlap: "aa" stands three times in "aaaa".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from capsules.content_id import CONTENT_ID_PATTERN, content_id
from capsules.errors import SchemaError
from capsules.rules import ContentId, Context, Count, Name, NormId, Positive, Problem, SpanId
from capsules.shape import Record, law

CONTEXT = 32

_SPAN_ID = re.compile(rf"({CONTENT_ID_PATTERN}):([0-9]+)-([0-9]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactSpan(Record):
    """A quoted range whose text, context and occurrence must all agree with the source."""

    span_id: SpanId  # "<source>:<start>-<end>"
    source: ContentId
    norm_id: NormId
    start: Count
    end: Positive
    exact: Name
    text_digest: ContentId  # of the UTF-8 bytes of exact
    prefix: Context
    suffix: Context
    occurrence: Positive  # 1-based, overlapping occurrences counted
    occurrences: Positive

    @law("start", "end")
    def _some_text(self) -> Iterator[Problem]:
        if self.start >= self.end:
            yield Problem("span.range", "/end", f"more than start ({self.start})", str(self.end))

    @law("start", "end", "exact")
    def _length(self) -> Iterator[Problem]:
        if self.start < self.end and len(self.exact) != self.end - self.start:
            yield Problem(
                "span.range",
                "/exact",
                f"{self.end - self.start} code points (end - start)",
                f"{len(self.exact)} code points",
            )

    @law("span_id", "source", "start", "end")
    def _named_by_place(self) -> Iterator[Problem]:
        if self.span_id != span_id(self.source, self.start, self.end):
            yield Problem("id.malformed", "/span_id", "<source>:<start>-<end> of this span", self.span_id)

    @law("exact", "text_digest")
    def _digest_of_text(self) -> Iterator[Problem]:
        digest = content_id(self.exact.encode())
        if self.text_digest != digest:
            yield Problem("span.exact.mismatch", "/text_digest", digest, self.text_digest)

    @law("start", "prefix")
    def _whole_prefix(self) -> Iterator[Problem]:
        length = min(CONTEXT, self.start)
        if len(self.prefix) != length:
            found = f"{len(self.prefix)} code points"
            yield Problem("span.context.mismatch", "/prefix", f"{length} code points before start", found)

    @law("occurrence", "occurrences")
    def _occurrence_of(self) -> Iterator[Problem]:
        if self.occurrence > self.occurrences:
            yield Problem(
                "schema.limit",
                "/occurrence",
                f"at most occurrences ({self.occurrences})",
                str(self.occurrence),
            )


def span_id(source: str, start: int, end: int) -> str:
    """The id of a span: where it is."""
    return f"{source}:{start}-{end}"


@lru_cache(maxsize=1 << 16)  # an item is omitted from many prompts
def item_range(item: str) -> tuple[str, tuple[int, int]] | None:
    """Source and range of an item that is part of a source; ``None`` for any other, as a constraint."""
    match = _SPAN_ID.fullmatch(item)
    return (match[1], (int(match[2]), int(match[3]))) if match else None


def _runs(text: str, exact: str) -> Iterator[range]:
    """Starts of all occurrences, in order, as arithmetic runs.

    Plain ``find`` from each hit costs a comparison of the whole quote a hit, so "aaa..." in "aaaa..." would
    cost length x hits. When a hit touches the next one at distance d, the text repeats with period
    d from there; the end of that repetition is found by comparing big slices, and all occurrences
    inside it stand d apart (another one between them would, shifted by d, have been the next hit).
    """
    size = len(exact)
    at = text.find(exact)
    while at >= 0:
        following = text.find(exact, at + 1)
        step = following - at
        if following < 0 or step > size:
            yield range(at, at + 1)
            at = following
            continue
        end = _period_end(text, following + size, step)
        yield (run := range(at, end - size + 1, step))
        at = text.find(exact, run[-1] + 1)


def _period_end(text: str, end: int, period: int) -> int:
    """The largest e with ``text[i] == text[i - period]`` for all i in [end, e)."""
    block = 64
    while block:
        upper = min(end + block, len(text))
        if text[end:upper] == text[end - period : upper - period]:
            if upper == len(text):
                return upper
            end = upper
            block *= 2
        else:
            block //= 2
    return end


def occurrences(text: str, exact: str) -> list[int]:
    """Starts of all occurrences of ``exact`` in ``text``, overlapping ones too, in order.

    Raises:
        SchemaError: ``span.range``: nothing has no occurrences to count.
    """
    if not exact:
        raise SchemaError("span.range", "expected some text to look for, found an empty string")
    return [start for run in _runs(text, exact) for start in run]


def _count(text: str, exact: str, start: int) -> tuple[int, int]:
    """How many occurrences begin before ``start``, and how many there are."""
    if text.find(exact) == start and text.find(exact, start + 1) < 0:
        return 0, 1  # as nearly always
    before = total = 0
    for run in _runs(text, exact):
        before += bisect_left(run, start)
        total += len(run)
    return before, total


def make_span(source: str, text: str, start: int, end: int, *, norm_id: str = "raw/1") -> ExactSpan:
    """The span ``[start, end)`` of a source's raw text.

    Args:
        source: ContentId of the source's raw bytes.
        text: Those bytes decoded (``source_text``).
        start: First code point.
        end: One past the last code point.
        norm_id: The normalization under which the span may be quoted.

    Raises:
        SchemaError: ``span.range`` unless ``0 <= start < end <= len(text)``; what the record refuses.
    """
    if not 0 <= start < end <= len(text):
        raise SchemaError(
            "span.range", f"expected 0 <= start < end <= {len(text)} code points, found {start} and {end}"
        )
    exact = text[start:end]
    before, total = _count(text, exact, start)
    return ExactSpan(
        span_id=span_id(source, start, end),
        source=source,
        norm_id=norm_id,
        start=start,
        end=end,
        exact=exact,
        text_digest=content_id(exact.encode("utf-8", "surrogatepass")),
        prefix=text[max(0, start - CONTEXT) : start],
        suffix=text[end : end + CONTEXT],
        occurrence=before + 1,
        occurrences=total,
    )


def check_span(span: ExactSpan, text: str) -> list[Problem]:
    """All the ways in which a span disagrees with the raw text of its source.

    The caller has verified that ``text`` is the source that the span names.

    Returns:
        Problems with pointers relative to the span; empty if everything agrees.
    """
    if span.end > len(text):
        return [Problem("span.range", "/end", f"at most {len(text)} code points", str(span.end))]
    exact = text[span.start : span.end]
    before, after = text[max(0, span.start - CONTEXT) : span.start], text[span.end : span.end + CONTEXT]
    if (exact, before, after) == (span.exact, span.prefix, span.suffix):
        return _miscounted(span, text)
    problems = []
    if exact != span.exact:
        actual = content_id(exact.encode("utf-8", "surrogatepass"))
        problems.append(Problem("span.exact.mismatch", "/exact", span.text_digest, actual))
    contexts = {"prefix": (span.prefix, before), "suffix": (span.suffix, after)}
    for name, (claimed, found) in contexts.items():
        if claimed != found:
            expected = f"the {len(found)} code points of the source"
            problems.append(Problem("span.context.mismatch", f"/{name}", expected, "others"))
    return problems if exact != span.exact else problems + _miscounted(span, text)


def _miscounted(span: ExactSpan, text: str) -> list[Problem]:
    """Occurrences are those of the span's own text: without it there they say nothing."""
    before, total = _count(text, span.exact, span.start)
    if (span.occurrence, span.occurrences) == (before + 1, total):
        return []
    counts = {"occurrence": (span.occurrence, before + 1), "occurrences": (span.occurrences, total)}
    return [
        Problem("span.context.mismatch", f"/{name}", str(count), str(claimed))
        for name, (claimed, count) in counts.items()
        if claimed != count
    ]
