"""Time-sensitive QA: questions about one moment, over the paragraphs of one long article.

https://github.com/wenhuchen/Time-Sensitive-QA, BSD-3-Clause; text from Wikipedia. Each question of an
article is a sample over all its paragraphs, every one a source. Gold spans are the published
ranges, which are code points with an exclusive end; an empty answer means that the article does
not answer for that time, and gives a sample without gold.
"""

from __future__ import annotations

from collections.abc import Iterator

from tasks.base import Gold, Sample, SampleInput, SourceDoc, TaskData, TaskSpec, TextRange
from tasks.fields import RowRefused, checked_text, field, of_kind, text_field
from tasks.finish import count_option, only_options
from tasks.listed import Made, load_listed
from tasks.passages import source
from tasks.rows import Home, RawRow
from tasks.sources import FROM, open_home

DATASET, LICENSE = "time-sensitive-qa-test", "BSD-3-Clause"
HOME = Home(file="time-sensitive-qa/tsqa_human_annotated_test.first100.json")


def timeqa(spec: TaskSpec) -> TaskData:
    """Load Time-sensitive QA.

    Raises:
        TaskError: See :mod:`tasks.sources` and :mod:`tasks.finish`.
    """
    only_options(spec, *FROM, "example_chars")
    found = open_home(spec, HOME).split(questions)
    chars = count_option(spec, "example_chars", 2000)
    return load_listed(spec, found, timeqa_row, dataset=DATASET, license=LICENSE, example_chars=chars)


def questions(raw: RawRow) -> Iterator[RawRow]:
    """Split an article into one raw row a question; what cannot be split stays as it is."""
    article = raw.value
    listed = article.get("questions") if isinstance(article, dict) else None
    if not isinstance(article, dict) or not isinstance(listed, list):
        yield raw
        return
    for number, pair in enumerate(listed):
        row = {"index": article.get("index"), "paras": article.get("paras"), "number": number, "pair": pair}
        yield RawRow(where=f"{raw.where} question {number}", value=row)


def timeqa_row(row: dict[str, object], spec: TaskSpec, where: str) -> Made:
    """Make a sample of one question.

    Raises:
        RowRefused: It cannot become a sample.
    """
    index = text_field(row, "index").removeprefix("/wiki/")
    pair: list[object] = field(row, "pair", list)
    if len(pair) != 2:
        raise RowRefused("row.field.type", "/pair", "expected a question and its answers")
    question = checked_text(of_kind(pair[0], str, "/pair/0"), "/pair/0")
    docs = tuple(
        _paragraph(value, number, index, spec) for number, value in enumerate(field(row, "paras", list))
    )
    answers: list[str] = []
    spans: list[TextRange] = []
    targets: list[object] = of_kind(pair[1], list, "/pair/1")
    for number, value in enumerate(targets):
        at = f"/pair/1/{number}"
        target: dict[str, object] = of_kind(value, dict, at)
        answer = field(target, "answer", str, at)
        if answer:
            spans.append(_span(target, answer, docs, at))
            answers.append(answer)
    sample = Sample(
        input=SampleInput(
            sample_id=f"{index}-q{field(row, 'number', int)}",
            task=spec.name,
            project=spec.project,
            question=question,
            sources=docs,
            as_of=spec.as_of,
        ),
        gold=Gold(answers=tuple(dict.fromkeys(answers)), spans=tuple(dict.fromkeys(spans))),
    )
    value = {"index": index, "paras": row["paras"], "question": pair[0], "answers": pair[1]}
    return Made(sample=sample, value=value, exact=len(spans))


def _paragraph(value: object, number: int, index: str, spec: TaskSpec) -> SourceDoc:
    where, doc_id = f"/paras/{number}", f"paragraph-{number + 1:03d}"
    text = checked_text(of_kind(value, str, where), where)
    return source(spec, doc_id, text, dataset=DATASET, row=f"{index}/{doc_id}", license=LICENSE)


def _span(target: dict[str, object], answer: str, docs: tuple[SourceDoc, ...], where: str) -> TextRange:
    number = field(target, "para", int, where)
    start, end = field(target, "from", int, where), field(target, "end", int, where)
    if not 0 <= number < len(docs):
        raise RowRefused("gold.source.missing", where, f"no paragraph {number} of {len(docs)}")
    doc = docs[number]
    if start < 0 or doc.text[start:end] != answer:
        reason = f"expected {answer[:40]!r} at [{start}, {end}), found {doc.text[max(start, 0) : end][:40]!r}"
        raise RowRefused("gold.mismatch", where, reason)
    return TextRange(doc_id=doc.doc_id, start=start, end=end)
