r"""Few-shot examples: samples that are never evaluated, shown in the layout's own visual form.

Rules that this module owns:

* An example shows the sentences around its gold evidence and, where its sample has one, a short
  passage of another document, so that the right number is not always 1: the gold source stands
  first in every second example.
* It is short on purpose (the stable prefix pays for it in every prompt), cut at sentences, verbatim.
* Its quote is as short as the gold allows: the first accepted answer that stands in the gold evidence,
  else that evidence whole. (A small base model that sees whole sentences quoted loses the form.)
* Only documents that the arm may show are used; the prompt's level joins theirs.
* Its fence tag is derived from its own sources, so it is the same over the whole task.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from bench.build.base import BuildError
from bench.build.candidates import is_permitted
from bench.build.chunking import paragraphs, sentences
from bench.build.templates import answer_text
from capsules.content_id import content_id
from capsules.rendering import ANSWER_MARK, QUESTION_MARK, fence_tag
from tasks.base import Sample, SourceDoc, TextRange

GOLD_CHARS = 300
OTHER_CHARS = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An example before it has a visual form.

    Attributes:
        passages: Shown texts, numbered from 1.
        ids: ContentIds of the shown documents, in the same order.
        number: The passage that holds the quote.
        level: Join of the levels of the shown documents.
    """

    passages: tuple[str, ...]
    ids: tuple[str, ...]
    question: str
    quote: str
    number: int
    levels: tuple[str, ...]


@lru_cache(maxsize=256)
def make_example(sample: Sample, gold_first: bool, project: str, max_level: str) -> Example:
    """An example of a sample with gold evidence.

    Raises:
        BuildError: ``example.unusable``: no gold evidence, or evidence that the arm may not show.
    """
    name = sample.input.sample_id
    if not sample.gold.spans:
        raise BuildError(
            "example.unusable", f"example {name!r}: expected a sample with gold evidence, found none"
        )
    span = sample.gold.spans[0]
    docs = {doc.doc_id: doc for doc in sample.input.sources}
    doc = docs.get(span.doc_id)
    if doc is None or not is_permitted(doc, project, max_level):
        raise BuildError(
            "example.unusable",
            f"example {name!r}: expected evidence of {project!r} up to {max_level}, found another label",
        )
    shown = [(doc, _around(doc.text, span))]
    other = next((d for d in sample.input.sources if _is_other(d, doc, project, max_level)), None)
    if other is not None:
        shown.insert(1 if gold_first else 0, (other, _opening(other.text)))
    return Example(
        passages=tuple(text for _, text in shown),
        ids=tuple(content_id(d.text.encode()) for d, _ in shown),
        question=sample.input.question,
        quote=_quote(doc.text[span.start : span.end], sample.gold.answers),
        number=1 + next(i for i, (d, _) in enumerate(shown) if d is doc),
        levels=tuple(d.level for d, _ in shown),
    )


def fenced(example: Example, contract: str) -> str:
    """The example as the capsule layout shows a prompt, with its answer."""
    tag = fence_tag(example.ids, [*example.passages, example.question, example.quote])
    runs = "".join(f"[{n}] {tag}\n{text}\n" for n, text in enumerate(example.passages, 1))
    return f"<sources {tag}>\n{runs}</sources {tag}>\n" + _asked(example, contract)


def plain(example: Example, contract: str) -> str:
    """The example as the naive layouts show a prompt, with its answer."""
    return "".join(f"[{n}] {text}\n" for n, text in enumerate(example.passages, 1)) + _asked(
        example, contract
    )


def _asked(example: Example, contract: str) -> str:
    answer = answer_text(contract, example.quote, example.number)
    return f"{QUESTION_MARK}{example.question}\n{ANSWER_MARK} {answer}"


def _is_other(doc: SourceDoc, gold: SourceDoc, project: str, max_level: str) -> bool:
    return doc.doc_id != gold.doc_id and is_permitted(doc, project, max_level) and bool(doc.text.strip())


def _quote(evidence: str, answers: tuple[str, ...]) -> str:
    return next((a for a in answers if a.strip() and a in evidence), evidence.strip())


def _around(text: str, span: TextRange) -> str:
    """The sentences that a range touches, and following and preceding ones of their paragraph."""
    cut = [s for a, b in paragraphs(text) if a < span.end and span.start < b for s in sentences(text, a, b)]
    touched = [i for i, (a, b) in enumerate(cut) if a < span.end and span.start < b]
    if not touched:
        raise BuildError("example.unusable", "expected gold evidence inside a sentence, found white space")
    first, last = touched[0], touched[-1]
    while last + 1 < len(cut) and cut[last + 1][1] - cut[first][0] <= GOLD_CHARS:
        last += 1
    while first > 0 and cut[last][1] - cut[first - 1][0] <= GOLD_CHARS:
        first -= 1
    return text[cut[first][0] : cut[last][1]]


def _opening(text: str) -> str:
    """The first sentences of a text, at least one."""
    start, end = paragraphs(text)[0]
    cut = sentences(text, start, end)
    ends = [b for _, b in cut if b - start <= OTHER_CHARS]
    return text[start : ends[-1] if ends else cut[0][1]]
