r"""From sealed capsules to the text of a prompt, and back.

The text, in order; every line is one or more segments, and each segment is tokenized by itself:

    constraint text "\n\n"            kind prefix, one a constraint (``runtime`` is not rendered)
    "<sources TAG>\n"                 kind header
    "[N] TAG\n"                       kind header, once a run (pointer contracts: once an item)
    SEP exact                         kind item, one an item
    "\n"                              kind header, after each run
    "</sources TAG>\n"                kind header
    "Question: " question "\n"        kind tail
    "Answer:"                         kind tail

Rules that this module owns:

* Evidence is shown verbatim: nothing is escaped, so what a model copies is what the source holds.
* SEP is the raw white space between an item and the item before it in its source, whether or not
  that one is kept ("" before a source's first item). So the tokens of an item never depend on its
  neighbours, and adjacent kept items read as the raw text, unbroken.
* A run is a longest row of kept items with no omitted item between them. A source keeps its number
  over all its runs, so a gap in the evidence is always visible as a header.
* TAG is the first 40 bits of a BLAKE3 key of the ids of the evidence capsules and a counter. It
  never depends on the question; the counter rises while TAG occurs in any shown text. As no content
  holds TAG, no content can close a fence or forge a header, and :func:`unrender` is exact.
* The order is that of the capsules: refs, then sources by id, then position. Never a score.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from capsules.content_id import CONTENT_ID_PATTERN, derived_key
from capsules.errors import RenderError
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule
from capsules.span import ExactSpan
from capsules.unicode_tables import WHITE_SPACE

TAG_CHARS = 10  # hex digits: 40 bits
ANSWER_MARK = "Answer:"
QUESTION_MARK = "Question: "

_SPAN_ID = re.compile(rf"({CONTENT_ID_PATTERN}):([0-9]+)-([0-9]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of the prompt that is tokenized by itself.

    Attributes:
        kind: ``prefix``, ``header``, ``item`` or ``tail``.
        text: What is tokenized; the prompt is these texts, joined.
        ref: Constraint id or span_id; ``None`` for headers and the tail.
    """

    kind: str
    text: str
    ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownNumber:
    """What stands under one citation number: raw ranges of one source, in prompt order."""

    number: int
    source: str
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A prompt as typed segments; ``text`` joins them."""

    tag: str
    segments: tuple[Segment, ...]
    shown: tuple[ShownNumber, ...]

    @property
    def text(self) -> str:
        """The whole prompt."""
        return "".join(segment.text for segment in self.segments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrendered:
    """What :func:`unrender` reads back: the prefix, the runs as (number, raw text), the question."""

    prefix: str
    runs: tuple[tuple[int, str], ...]
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    number: int
    source: str
    items: tuple[tuple[ExactSpan, str], ...]  # (span, SEP)

    @property
    def text(self) -> str:
        return "".join(sep + span.exact for span, sep in self.items)


def constraint_text(text: str) -> str:
    """The rendered segment of a constraint."""
    return text + "\n\n"


def is_rendered(kind: str) -> bool:
    """Whether constraints of this kind stand in the prompt."""
    return kind != "runtime"


def fence_tag(ids: Sequence[str], contents: Sequence[str]) -> str:
    """The tag for evidence of these ids, absent from all ``contents``."""
    parts = [part.encode() for part in ids]
    counter = 0
    while True:
        tag = derived_key("fence/v1", *parts, str(counter).encode())[3 : 3 + TAG_CHARS]
        if not any(tag in content for content in contents):
            return tag
        counter += 1


def render(prompt: PromptCapsule, evidence: Sequence[EvidenceCapsule], texts: Mapping[str, str]) -> Rendered:
    """Lay a prompt out as segments.

    Args:
        prompt: The prompt capsule.
        evidence: Its evidence capsules, in the order of ``evidence_capsule_refs``.
        texts: The raw text of every source that the evidence shows, by ContentId.

    Returns:
        The segments and what stands under each number.

    Raises:
        RenderError: A source text is missing or does not hold a span, items overlap, or text that
            belongs to no item would stand between two adjacent items.
    """
    if len(evidence) != len(prompt.evidence_capsule_refs):
        raise RenderError(
            "evidence.ref.missing",
            f"expected {len(prompt.evidence_capsule_refs)} evidence capsules, found {len(evidence)}",
            at="/evidence_capsule_refs",
        )
    if prompt.rewrites:
        raise RenderError(
            "render.rewrite",
            f"expected verbatim evidence, found {len(prompt.rewrites)} rewrites",
            at="/rewrites",
        )
    per_item = prompt.output_contract.name.startswith("pointer")
    runs = tuple(_runs(evidence, texts, _omitted_ranges(prompt), per_item))
    prefix = [c for c in prompt.constraints if is_rendered(c.kind)]
    question = prompt.active_object.text
    contents = [run.text for run in runs] + [c.text for c in prefix] + [question]
    tag = fence_tag([ref.id for ref in prompt.evidence_capsule_refs], contents)
    segments = [Segment(kind="prefix", text=constraint_text(c.text), ref=c.id) for c in prefix]
    segments.append(Segment(kind="header", text=f"<sources {tag}>\n"))
    for run in runs:
        segments.append(Segment(kind="header", text=f"[{run.number}] {tag}\n"))
        segments += [Segment(kind="item", text=sep + s.exact, ref=s.span_id) for s, sep in run.items]
        segments.append(Segment(kind="header", text="\n"))
    segments.append(Segment(kind="header", text=f"</sources {tag}>\n"))
    segments += [
        Segment(kind="tail", text=f"{QUESTION_MARK}{question}\n"),
        Segment(kind="tail", text=ANSWER_MARK),
    ]
    return Rendered(tag=tag, segments=tuple(segments), shown=_shown(runs))


def unrender(text: str, tag: str) -> Unrendered:
    """Read a rendered prompt back; the inverse of :func:`render` on text.

    Raises:
        RenderError: ``render.malformed``: the text is not of the rendered form under this tag.
    """
    opening, closing = f"<sources {tag}>\n", f"</sources {tag}>\n"
    prefix, found, rest = text.partition(opening)
    body, closed, tail = rest.rpartition(closing)
    ending = "\n" + ANSWER_MARK
    if not found or not closed or not (tail.startswith(QUESTION_MARK) and tail.endswith(ending)):
        raise RenderError(
            "render.malformed", "expected fences, a question and the answer mark under this tag"
        )
    question = tail[len(QUESTION_MARK) : -len(ending)]
    heads = list(re.finditer(rf"(?:^|\n)\[([1-9][0-9]*)\] {tag}\n", body))
    ends = [head.start() for head in heads[1:]] + [len(body) - 1] * bool(heads)
    runs = tuple((int(head[1]), body[head.end() : end]) for head, end in zip(heads, ends, strict=True))
    back = "".join(f"[{number}] {tag}\n{run}\n" for number, run in runs)
    if back != body or any(tag in part for part in (prefix, question, *(run for _, run in runs))):
        raise RenderError("render.malformed", "expected only headers and evidence between the fences")
    return Unrendered(prefix=prefix, runs=runs, question=question)


def _omitted_ranges(prompt: PromptCapsule) -> dict[str, list[tuple[int, int]]]:
    ranges: dict[str, list[tuple[int, int]]] = {}
    for omission in prompt.omissions:
        match = _SPAN_ID.fullmatch(omission.item or "")
        if match:
            ranges.setdefault(match[1], []).append((int(match[2]), int(match[3])))
    return ranges


def _runs(
    evidence: Sequence[EvidenceCapsule],
    texts: Mapping[str, str],
    omitted: Mapping[str, list[tuple[int, int]]],
    per_item: bool,
) -> Iterator[_Run]:
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
                        yield _Run(number=number, source=source, items=(item,))
                else:
                    yield _Run(number=number, source=source, items=tuple(row))


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


def _shown(runs: Sequence[_Run]) -> tuple[ShownNumber, ...]:
    shown: dict[int, ShownNumber] = {}
    for run in runs:
        first, last = run.items[0][0], run.items[-1][0]
        before = shown[run.number].ranges if run.number in shown else ()
        shown[run.number] = ShownNumber(
            number=run.number, source=run.source, ranges=(*before, (first.start, last.end))
        )
    return tuple(shown.values())
