r"""From sealed capsules to the text of a prompt, and back.

The text, in order; every line is one or more segments, and each segment is tokenized by itself:

    constraint text "\n\n"            kind prefix, one a constraint (``runtime`` is not rendered)
    "<sources TAG>\n"                 kind header
    "[N] TAG\n"                       kind header, once a run (pointer contracts: once an item)
    "[*] TAG\n"                       kind header, before a rewrite of the whole evidence
    SEP exact                         kind item, one an item
    "\n"                              kind header, after each run
    "</sources TAG>\n"                kind header
    "Question: " question "\n"        kind tail
    "Answer:"                         kind tail

Rules that this module owns:

* Evidence is shown verbatim: nothing is escaped, so what a model copies is what the source holds.
* SEP, runs, their numbers and their order are those of ``capsules.evidence_runs``.
* TAG is the first 40 bits of a BLAKE3 key of the ids of the evidence capsules and a counter. It
  never depends on the question; the counter rises while TAG occurs in any shown text. As no content
  holds TAG, no content can close a fence or forge a header, and :func:`unrender` is exact.
* A rewrite of one item stands in place of its exact text, behind its SEP. A rewrite of more items is one
  of the whole evidence and stands alone between the fences, under no number: its text has marks of its
  own, as far as the compressor left them. What a rewrite dropped is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from capsules.content_id import derived_key
from capsules.errors import RenderError
from capsules.evidence import EvidenceCapsule
from capsules.evidence_runs import Run, evidence_runs
from capsules.omission import Rewrite
from capsules.prompt import PromptCapsule
from capsules.rewriting import holds_kept
from capsules.span import ExactSpan

TAG_CHARS = 10  # hex digits: 40 bits
ANSWER_MARK = "Answer:"
QUESTION_MARK = "Question: "

_WHOLE = "*"  # stands where a number would


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of the prompt that is tokenized by itself.

    Attributes:
        kind: ``prefix``, ``header``, ``item`` or ``tail``.
        text: What is tokenized; the prompt is these texts, joined.
        ref: Constraint id or span_id (the first of a rewrite's); ``None`` for headers and the tail.
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
    """What :func:`unrender` reads back: the prefix, the runs as (number, raw text), the question.

    A rewrite of the whole evidence is one run with the number 0.
    """

    prefix: str
    runs: tuple[tuple[int, str], ...]
    question: str


def constraint_text(text: str) -> str:
    """The rendered segment of a constraint."""
    return text + "\n\n"


def is_rendered(kind: str) -> bool:
    """Whether constraints of this kind stand in the prompt."""
    return kind != "runtime"


def fence_tag(ids: Sequence[str], contents: Sequence[str]) -> str:
    """The tag for evidence of these ids, absent from all ``contents``."""
    parts = [part.encode() for part in ids]
    joined = "\n".join(contents)  # no tag holds a line end
    counter = 0
    while True:
        tag = derived_key("fence/v1", *parts, str(counter).encode())[3 : 3 + TAG_CHARS]
        if tag not in joined:
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
    per_item = prompt.output_contract.name.startswith("pointer")
    runs = tuple(evidence_runs(evidence, texts, prompt.omissions, per_item=per_item))
    rewrites = _rewrites(prompt, [span for run in runs for span, _ in run.items])
    body = _body(runs, rewrites)
    prefix = [c for c in prompt.constraints if is_rendered(c.kind)]
    question = prompt.active_object.text
    contents = [text for _, row in body for _, text in row] + [c.text for c in prefix] + [question]
    tag = fence_tag([ref.id for ref in prompt.evidence_capsule_refs], contents)
    segments = [Segment(kind="prefix", text=constraint_text(c.text), ref=c.id) for c in prefix]
    segments.append(Segment(kind="header", text=f"<sources {tag}>\n"))
    for number, row in body:
        segments.append(Segment(kind="header", text=f"[{number or _WHOLE}] {tag}\n"))
        segments += [Segment(kind="item", text=text, ref=ref) for ref, text in row]
        segments.append(Segment(kind="header", text="\n"))
    segments.append(Segment(kind="header", text=f"</sources {tag}>\n"))
    segments += [
        Segment(kind="tail", text=f"{QUESTION_MARK}{question}\n"),
        Segment(kind="tail", text=ANSWER_MARK),
    ]
    return Rendered(tag=tag, segments=tuple(segments), shown=_shown(runs, rewrites))


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
    heads = list(re.finditer(rf"(?:^|\n)\[([1-9][0-9]*|\*)\] {tag}\n", body))
    ends = [head.start() for head in heads[1:]] + [len(body) - 1] * bool(heads)
    numbers = [0 if head[1] == _WHOLE else int(head[1]) for head in heads]
    texts = [body[head.end() : end] for head, end in zip(heads, ends, strict=True)]
    runs = tuple(zip(numbers, texts, strict=True))
    back = "".join(f"[{number or _WHOLE}] {tag}\n{run}\n" for number, run in runs)
    if back != body or any(tag in part for part in (prefix, question, *(run for _, run in runs))):
        raise RenderError("render.malformed", "expected only headers and evidence between the fences")
    return Unrendered(prefix=prefix, runs=runs, question=question)


def _rewrites(prompt: PromptCapsule, spans: Sequence[ExactSpan]) -> dict[str, Rewrite]:
    """The rewrites by each of their items.

    Raises:
        RenderError: ``render.rewrite``: one of more items that is not of all items in prompt order, or one
            whose text does not hold what it says it keeps.
    """
    exact = {span.span_id: span.exact for span in spans}
    for rewrite in prompt.rewrites:
        single = len(rewrite.items) == 1 and rewrite.items[0] in exact
        if not single and rewrite.items != tuple(exact):
            problem = "expected a rewrite of one item, or of all items in prompt order"
        elif not holds_kept(rewrite, exact):
            problem = "expected a text that holds, in order, what the rewrite keeps of its items"
        else:
            continue
        raise RenderError("render.rewrite", f"{problem}, found another", at="/rewrites")
    return {item: rewrite for rewrite in prompt.rewrites for item in rewrite.items}


def _body(runs: Sequence[Run], rewrites: Mapping[str, Rewrite]) -> list[tuple[int, list[tuple[str, str]]]]:
    """What stands between the fences: a number (0: none) and (span_id, text) of each item."""
    whole = next((rewrite for rewrite in rewrites.values() if len(rewrite.items) > 1), None)
    if whole is not None:
        return [(0, [(whole.items[0], whole.text)])]
    return [(run.number, run.shown(rewrites)) for run in runs]


def _shown(runs: Sequence[Run], rewrites: Mapping[str, Rewrite]) -> tuple[ShownNumber, ...]:
    shown: dict[int, ShownNumber] = {}
    for run in runs:
        before = shown[run.number].ranges if run.number in shown else ()
        ranges = (*before, *run.ranges(rewrites))
        shown[run.number] = ShownNumber(number=run.number, source=run.source, ranges=ranges)
    return tuple(shown.values())
