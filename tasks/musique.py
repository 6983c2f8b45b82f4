"""MuSiQue: questions of two to four hops over twenty paragraphs.

https://github.com/StonyBrookNLP/musique, CC BY 4.0. Gold spans: for every hop of the published
decomposition the first occurrence of the hop's answer in its supporting paragraph (the data give
no offsets). Answers are the answer and its aliases. Rows marked as not answerable become samples
without gold.
"""

from __future__ import annotations

from tasks.base import Gold, Sample, SampleInput, SourceDoc, TaskData, TaskSpec, TextRange
from tasks.fields import RowRefused, field, of_kind, text_field
from tasks.listed import Made, load_plain
from tasks.passages import first_range, source
from tasks.rows import Home, HubSet

DATASET, LICENSE = "musique", "CC-BY-4.0"
HOME = Home(
    file="musique/musique_train.json",
    hub=HubSet(repo="dgslibisey/MuSiQue", files="musique_ans_v1.0_dev.jsonl"),
)


def musique(spec: TaskSpec) -> TaskData:
    """Load MuSiQue.

    Raises:
        TaskError: See :mod:`tasks.sources` and :mod:`tasks.finish`.
    """
    return load_plain(spec, HOME, musique_row, dataset=DATASET, license=LICENSE)


def musique_row(row: dict[str, object], spec: TaskSpec, where: str) -> Made:
    """Make a sample of one row.

    Raises:
        RowRefused: It cannot become a sample.
    """
    row_id = text_field(row, "id")
    listed: list[object] = field(row, "paragraphs", list)
    docs = {}
    for number, one in enumerate(listed):
        index, doc = _paragraph(one, f"/paragraphs/{number}", row_id, spec)
        if index in docs:
            raise RowRefused("row.id.duplicate", f"/paragraphs/{number}/idx", f"the idx {index} again")
        docs[index] = doc
    answer, aliases = text_field(row, "answer"), field(row, "answer_aliases", list)
    spans = _hops(row, docs) if field(row, "answerable", bool) else ()
    golden = {span.doc_id for span in spans}
    sample = Sample(
        input=SampleInput(
            sample_id=row_id,
            task=spec.name,
            project=spec.project,
            question=text_field(row, "question"),
            sources=tuple(docs.values()),
            as_of=spec.as_of,
        ),
        gold=Gold(
            answers=tuple(dict.fromkeys((answer, *(of_kind(one, str, "/answer_aliases") for one in aliases))))
            if spans
            else (),
            spans=spans,
            distractors=tuple(doc.doc_id for doc in docs.values() if doc.doc_id not in golden),
        ),
    )
    names = (
        "id",
        "paragraphs",
        "question",
        "question_decomposition",
        "answer",
        "answer_aliases",
        "answerable",
    )
    return Made(sample=sample, value={name: row[name] for name in names}, exact=len(spans))


def _paragraph(value: object, where: str, row_id: str, spec: TaskSpec) -> tuple[int, SourceDoc]:
    one: dict[str, object] = of_kind(value, dict, where)
    index = field(one, "idx", int, where)
    doc_id = f"paragraph-{index + 1:02d}"
    text, title = text_field(one, "paragraph_text", where), field(one, "title", str, where)
    row = f"{row_id}/{doc_id}"
    return index, source(spec, doc_id, text, dataset=DATASET, row=row, license=LICENSE, title=title)


def _hops(row: dict[str, object], docs: dict[int, SourceDoc]) -> tuple[TextRange, ...]:
    hops: list[object] = field(row, "question_decomposition", list)
    spans: list[TextRange] = []
    for number, value in enumerate(hops):
        where = f"/question_decomposition/{number}"
        hop: dict[str, object] = of_kind(value, dict, where)
        index = field(hop, "paragraph_support_idx", int, where)
        if index not in docs:
            raise RowRefused("gold.source.missing", where, f"no paragraph with idx {index}")
        doc = docs[index]
        spans.append(first_range(doc.doc_id, doc.text, field(hop, "answer", str, where), where))
    if not spans:
        raise RowRefused("gold.missing", "/question_decomposition", "expected at least one hop")
    return tuple(dict.fromkeys(spans))
