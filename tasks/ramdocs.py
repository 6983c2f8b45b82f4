"""RAMDocs: questions with several right answers, and documents that are right, wrong or noise.

https://github.com/HanNight/RAMDocs, MIT; text from Wikipedia and the web, some of it dirty. The rows
have no ids and are named by their line. Gold spans: in every document of type ``correct`` the first
occurrence of its answer; where only the case differs (class ``caseless``), that occurrence. A
document in which its answer does not occur at all has no span (class ``left_out``, counted); a row
without any span is refused. Documents of type ``misinfo`` and ``noise`` are distractors; a labelled
contradiction stands between the first gold span and every misinformation that can be found.
"""

from __future__ import annotations

import re

from tasks.base import (
    Gold,
    LabelledContradiction,
    Sample,
    SampleInput,
    SourceDoc,
    TaskData,
    TaskSpec,
    TextRange,
)
from tasks.fields import RowRefused, field, of_kind, ordinal, text_field
from tasks.listed import Made, load_plain
from tasks.passages import source
from tasks.rows import Home, HubSet

DATASET, LICENSE = "ramdocs-test", "MIT"
HOME = Home(
    file="ramdocs/RAMDocs_test.jsonl", hub=HubSet(repo="HanNight/RAMDocs", files="RAMDocs_test.jsonl")
)
TYPES = ("correct", "misinfo", "noise")


def ramdocs(spec: TaskSpec) -> TaskData:
    """Load RAMDocs.

    Raises:
        TaskError: See :mod:`tasks.sources` and :mod:`tasks.finish`.
    """
    return load_plain(spec, HOME, ramdocs_row, dataset=DATASET, license=LICENSE)


def ramdocs_row(row: dict[str, object], spec: TaskSpec, where: str) -> Made:
    """Make a sample of one row.

    Raises:
        RowRefused: It cannot become a sample.
    """
    row_id = f"line-{ordinal(where) + 1}"
    docs: list[SourceDoc] = []
    found: dict[str, list[TextRange]] = {kind: [] for kind in TYPES}
    repairs: list[str] = []
    distractors: list[str] = []
    for number, value in enumerate(field(row, "documents", list)):
        doc, kind, answer = _document(value, f"/documents/{number}", row_id, number, spec)
        docs.append(doc)
        span, repair = _find(doc, answer)
        if span is not None:
            found[kind].append(span)
        if kind == "correct" and repair is not None:
            repairs.append(repair)
        if kind != "correct":
            distractors.append(doc.doc_id)
    spans = tuple(found["correct"])
    if not spans:
        raise RowRefused("gold.mismatch", "/documents", "no right document holds its answer")
    sample = Sample(
        input=SampleInput(
            sample_id=row_id,
            task=spec.name,
            project=spec.project,
            question=text_field(row, "question"),
            sources=tuple(docs),
            as_of=spec.as_of,
            contradictions=tuple(
                LabelledContradiction(left=spans[0], right=wrong, kind="labelled")
                for wrong in found["misinfo"]
            ),
        ),
        gold=Gold(
            answers=tuple(of_kind(one, str, "/gold_answers") for one in field(row, "gold_answers", list)),
            spans=spans,
            distractors=tuple(distractors),
        ),
    )
    value = {name: row[name] for name in ("question", "documents", "gold_answers")}
    exact = len(spans) - repairs.count("caseless")
    return Made(sample=sample, value=value, exact=exact, repairs=tuple(repairs))


def _document(
    value: object, where: str, row_id: str, number: int, spec: TaskSpec
) -> tuple[SourceDoc, str, str]:
    one: dict[str, object] = of_kind(value, dict, where)
    kind = field(one, "type", str, where)
    if kind not in TYPES:
        raise RowRefused(
            "row.field.value", f"{where}/type", f"expected one of {', '.join(TYPES)}, found {kind!r}"
        )
    doc_id = f"document-{number + 1:02d}"
    text = text_field(one, "text", where)
    doc = source(spec, doc_id, text, dataset=DATASET, row=f"{row_id}/{doc_id}", license=LICENSE)
    return doc, kind, field(one, "answer", str, where)


def _find(doc: SourceDoc, answer: str) -> tuple[TextRange | None, str | None]:
    wanted = answer.strip()
    start, repair = (doc.text.find(wanted), None) if wanted else (-1, None)
    if start < 0 and wanted:
        match = re.search(re.escape(wanted), doc.text, re.IGNORECASE)
        if match is not None:
            return TextRange(doc_id=doc.doc_id, start=match.start(), end=match.end()), "caseless"
    if start < 0:
        return None, "left_out"
    return TextRange(doc_id=doc.doc_id, start=start, end=start + len(wanted)), repair
