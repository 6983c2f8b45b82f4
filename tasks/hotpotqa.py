"""HotpotQA: questions over ten paragraphs, two of which hold the supporting sentences.

https://hotpotqa.github.io, CC BY-SA 4.0. Two spellings of a row are on disk and give the same
samples: the published one (``context`` a list of [title, sentences], ``supporting_facts`` a list of
[title, number]) and the hub's columns. The row that digests cover is the latter.

A paragraph's text is its sentences joined as they are: they carry their own spaces, and where one
does not, it was cut inside a word or quote. Gold spans are the supporting sentences. Answers
``yes`` and ``no`` are words of nobody's text.
"""

from __future__ import annotations

from typing import TypeVar

from tasks.base import Gold, Sample, SampleInput, TaskData, TaskSpec, TextRange
from tasks.fields import RowRefused, checked_text, field, of_kind, optional, ordinal, text_field
from tasks.listed import Made, load_plain
from tasks.passages import joined, sentence_range, source
from tasks.rows import Home, HubSet

A = TypeVar("A")
B = TypeVar("B")
DATASET, LICENSE = "hotpotqa", "CC-BY-SA-4.0"
HOME = Home(
    file="hotpotqa/hotpot_dev_distractor_v1.first100.json",
    hub=HubSet(repo="hotpotqa/hotpot_qa", files="distractor/validation-*.parquet"),
)


def hotpotqa(spec: TaskSpec) -> TaskData:
    """Load HotpotQA.

    Raises:
        TaskError: See :mod:`tasks.sources` and :mod:`tasks.finish`.
    """
    return load_plain(spec, HOME, hotpot_row, dataset=DATASET, license=LICENSE)


def hotpot_row(row: dict[str, object], spec: TaskSpec, where: str) -> Made:
    """Make a sample of one row in either spelling.

    Raises:
        RowRefused: It cannot become a sample.
    """
    row_id = optional(row, "_id", str) or optional(row, "id", str) or f"row-{ordinal(where)}"
    titles, paragraphs = _columns(row, "context", "title", "sentences", str, list)
    fact_titles, fact_numbers = _columns(row, "supporting_facts", "title", "sent_id", str, int)
    question, answer = text_field(row, "question"), text_field(row, "answer")
    docs, ranges = [], {}
    for number, (title, sentences) in enumerate(zip(titles, paragraphs, strict=True)):
        at = f"/context/{number}"
        text, ranges[number] = joined([of_kind(one, str, at) for one in sentences])
        doc_id = f"paragraph-{number + 1:02d}"
        origin = f"{row_id}/{doc_id}"
        checked_text(text, at)
        docs.append(source(spec, doc_id, text, dataset=DATASET, row=origin, license=LICENSE, title=title))
    spans: list[TextRange] = []
    for index, (title, sentence) in enumerate(zip(fact_titles, fact_numbers, strict=True)):
        at = f"/supporting_facts/{index}"
        if titles.count(title) != 1:
            raise RowRefused(
                "gold.source.missing", at, f"{titles.count(title)} paragraphs titled {title[:40]!r}"
            )
        number = titles.index(title)
        spans.append(sentence_range(docs[number].doc_id, ranges[number], sentence, at))
    if not spans:
        raise RowRefused("gold.missing", "/supporting_facts", "expected at least one supporting fact")
    golden = {span.doc_id for span in spans}
    sample = Sample(
        input=SampleInput(
            sample_id=row_id,
            task=spec.name,
            project=spec.project,
            question=question,
            sources=tuple(docs),
            as_of=spec.as_of,
        ),
        gold=Gold(
            answers=(answer,),
            spans=tuple(dict.fromkeys(spans)),
            distractors=tuple(doc.doc_id for doc in docs if doc.doc_id not in golden),
        ),
    )
    value: dict[str, object] = {
        "id": row_id,
        "question": question,
        "answer": answer,
        "context": {"title": titles, "sentences": paragraphs},
        "supporting_facts": {"title": fact_titles, "sent_id": fact_numbers},
    }
    return Made(sample=sample, value=value, exact=len(spans))


def _columns(
    row: dict[str, object], name: str, first: str, second: str, first_kind: type[A], second_kind: type[B]
) -> tuple[list[A], list[B]]:
    found = row.get(name)
    pairs: list[object]
    if isinstance(found, dict):
        at = f"/{name}"
        columns = field(found, first, list, at), field(found, second, list, at)
        if len(columns[0]) != len(columns[1]):
            reason = f"{len(columns[0])} of {first}, {len(columns[1])} of {second}"
            raise RowRefused("row.field.value", at, reason)
        pairs = [list(pair) for pair in zip(*columns, strict=True)]
    else:
        pairs = field(row, name, list)
    firsts, seconds = [], []
    for index, pair in enumerate(pairs):
        at = f"/{name}/{index}"
        if not isinstance(pair, list) or len(pair) != 2:
            raise RowRefused("row.field.type", at, f"expected a pair of {first} and {second}")
        firsts.append(of_kind(pair[0], first_kind, at))
        seconds.append(of_kind(pair[1], second_kind, at))
    return firsts, seconds
