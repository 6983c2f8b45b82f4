"""The SQuAD form: rows {id, context, question, answers} become samples. Pure functions, no files.

Two spellings of a row are read: nested SQuAD JSON (``data[].paragraphs[].qas[]``, answers a list
of objects) and the flat columns of the hub (answers an object of two lists). Both give the same
:class:`SquadRow`, whose ``value`` is the row that digests cover: the hub's columns.

The rules:

- Offsets are code points of the raw context; U+FEFF at its start counts.
- Every row of the file is judged, whatever the limit; one that cannot become a sample is a
  :class:`~tasks.base.RefusedRow`. Of two rows with one id the first stays.

How rows become samples with sources: :mod:`tasks.neighbours`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tasks.base import RefusedRow
from tasks.fields import RowRefused, field, of_kind, optional, text_field, whole_row
from tasks.judging import judge_all
from tasks.repair import Answer, document_unit, locate
from tasks.rows import RawRow
from tasks.strict_json import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class SquadForm:
    """What a data set of this form allows.

    Attributes:
        titled: Whether rows have a ``title`` that is kept (and digested).
        unanswerable: Whether a row without answers is a sample without gold.
        window: Window of the repair rules (:mod:`tasks.repair`); 0 repairs nothing.
    """

    titled: bool = False
    unanswerable: bool = False
    window: int = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a table of this form must have; a title may be missing."""
        return ("id", "context", "question", "answers")

    @property
    def optional(self) -> tuple[str, ...]:
        """The columns that are read too where they are there."""
        return ("title",) if self.titled else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SquadRow:
    """An accepted row.

    Attributes:
        row_id: The id as a string.
        answers: Text and stated offset.
        ranges: Where the answers really are, in code points; one entry an answer.
        value: The row that digests cover.
    """

    row_id: str
    title: str | None
    context: str
    question: str
    answers: tuple[Answer, ...]
    ranges: tuple[tuple[int, int], ...]
    value: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The rows of a file after judgement: read = rows + refused.

    Attributes:
        exact: How many answers are where the data say.
        repaired: How many were found elsewhere, by class.
    """

    rows: tuple[SquadRow, ...]
    refused: tuple[RefusedRow, ...]
    read: int
    exact: int
    repaired: Mapping[str, int]


def nested_rows(articles: Iterable[object]) -> Iterator[RawRow]:
    """Flatten the articles of SQuAD JSON into raw rows; what has no rows inside becomes a fault."""
    for a, article in enumerate(articles):
        try:
            known: dict[str, object] = of_kind(article, dict, "")
            paragraphs = field(known, "paragraphs", list)
        except RowRefused as error:
            yield _fault(f"data/{a}", article, error)
            continue
        for p, paragraph in enumerate(paragraphs):
            where = f"data/{a}/paragraphs/{p}"
            try:
                questions = field(of_kind(paragraph, dict, ""), "qas", list)
            except RowRefused as error:
                yield _fault(where, paragraph, error)
                continue
            shared = {key: part for key, part in paragraph.items() if key != "qas"}
            if "title" in known:
                shared["title"] = known["title"]
            for q, question in enumerate(questions):
                row = {**shared, **question} if isinstance(question, dict) else question
                yield RawRow(where=f"{where}/qas/{q}", value=row)


def _fault(where: str, value: object, error: RowRefused) -> RawRow:
    fault = value if isinstance(value, Fault) else Fault(code=error.code, reason=f"{error.where} {error}")
    return RawRow(where=where, value=fault)


def judge(raw_rows: Iterable[RawRow], form: SquadForm) -> Judged:
    """Judge all rows of a file; what is kept and what is refused stays in file order."""
    verdicts = judge_all(raw_rows, lambda raw: squad_row(raw.value, form), lambda row: row.row_id)
    units = _document_units(row for _, _, row in verdicts.kept) if form.window else {}
    rows: list[SquadRow] = []
    mismatched: dict[int, RefusedRow] = {}
    repaired: Counter[str] = Counter()
    exact = 0
    for number, where, row in verdicts.kept:
        places = locate(row.context, row.answers, units.get(row.context), form.window)
        located = [place for place in places if place is not None]
        if len(located) < len(places):
            mismatched[number] = _mismatch(row, places.index(None)).as_row(where)
            continue
        repaired.update(place.repair for place in located if place.repair is not None)
        exact += sum(place.repair is None for place in located)
        rows.append(replace(row, ranges=tuple((place.start, place.end) for place in located)))
    return Judged(
        rows=tuple(rows),
        refused=verdicts.all_refused(mismatched),
        read=verdicts.read,
        exact=exact,
        repaired=dict(sorted(repaired.items())),
    )


def _document_units(rows: Iterable[SquadRow]) -> dict[str, str | None]:
    answers: dict[str, list[Answer]] = defaultdict(list)
    for row in rows:
        answers[row.context].extend(row.answers)
    return {context: document_unit(context, found) for context, found in answers.items()}


def _mismatch(row: SquadRow, index: int) -> RowRefused:
    text, start = row.answers[index]
    found = row.context[max(start, 0) : max(start, 0) + len(text)]
    reason = f"expected {text[:40]!r} at {start}, found {found[:40]!r} (row {row.row_id})"
    return RowRefused("gold.mismatch", f"/answers/{index}", reason)


def squad_row(value: object, form: SquadForm) -> SquadRow:
    """Read one row in either spelling; gold is not yet located.

    Raises:
        RowRefused: It cannot become a sample.
    """
    row = whole_row(value)
    row_id = row.get("id")
    if isinstance(row_id, bool) or not isinstance(row_id, int):  # some sets number their rows
        row_id = text_field(row, "id")
    title = optional(row, "title", str) if form.titled else None
    context, question = text_field(row, "context"), text_field(row, "question")
    answers = _answers(row)
    if not answers and not form.unanswerable:
        raise RowRefused("gold.missing", "/answers", "expected at least one answer, found none")
    kept: dict[str, object] = {
        "id": row_id,
        "context": context,
        "question": question,
        "answers": {"text": [text for text, _ in answers], "answer_start": [start for _, start in answers]},
    }
    if form.titled:
        kept["title"] = title
    return SquadRow(
        row_id=str(row_id),
        title=title,
        context=context,
        question=question,
        answers=answers,
        ranges=(),
        value=kept,
    )


def _answers(row: dict[str, object]) -> tuple[Answer, ...]:
    found = row.get("answers")
    if isinstance(found, list):  # nested: a list of objects
        pairs = [
            (field(one, "text", str, at), field(one, "answer_start", int, at))
            for one, at in (
                (of_kind(one, dict, f"/answers/{i}"), f"/answers/{i}") for i, one in enumerate(found)
            )
        ]
        return tuple(pairs)
    columns: dict[str, object] = field(row, "answers", dict)  # flat: two columns
    texts: list[object] = field(columns, "text", list, "/answers")
    starts: list[object] = field(columns, "answer_start", list, "/answers")
    if len(texts) != len(starts):
        raise RowRefused("row.field.value", "/answers", f"{len(texts)} texts and {len(starts)} offsets")
    return tuple(
        (of_kind(text, str, f"/answers/text/{i}"), of_kind(start, int, f"/answers/answer_start/{i}"))
        for i, (text, start) in enumerate(zip(texts, starts, strict=True))
    )
