"""CLAP NQ: long answers from one passage, with the sentences that they rest on; half unanswerable.

https://github.com/primeqa/clapnq, Apache-2.0; passages from Wikipedia (CC BY-SA 3.0). Two files, one
of answerable and one of unanswerable questions; by default their rows take turns, so that every
limit has both (``part`` chooses one). Gold spans are the selected sentences of all annotators,
found in the passage one after the other (joining the given sentences does not give the text).
Answers are free text and rarely verbatim. The passage stands among its nearest neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

from tasks.base import TaskData, TaskError, TaskSpec
from tasks.fields import RowRefused, field, of_kind, text_field, whole_row
from tasks.finish import only_options, option
from tasks.judging import judge_all
from tasks.neighbours import AMONG, Naming
from tasks.passages import first_range
from tasks.rows import Home, HubSet, RawRow, Rows
from tasks.sources import FROM, open_home
from tasks.squad import Judged, SquadRow
from tasks.squad_files import neighbour_data

DATASET, LICENSE = "clapnq-dev", "Apache-2.0 (passages CC-BY-SA-3.0)"
PARTS = ("answerable", "unanswerable")


def clapnq(spec: TaskSpec) -> TaskData:
    """Load CLAP NQ.

    Raises:
        TaskError: See :mod:`tasks.sources` and :mod:`tasks.finish`.
    """
    only_options(spec, *FROM, *AMONG, "part")
    part = option(spec, "part", "both")
    if part not in (*PARTS, "both"):
        raise TaskError(f"task.options.part of {spec.name}: expected answerable, unanswerable or both")
    named = {name for name in ("file", "hub_files") if spec.options.get(name)}
    if named and part == "both":
        raise TaskError(
            f"task.options.{min(named)} of {spec.name}: names one file; say of which with task.options.part"
        )
    read = [open_home(spec, home(name)) for name in PARTS if part in (name, "both")]
    turns = (row for rows in zip_longest(*(one.rows for one in read)) for row in rows if row is not None)
    found = Rows(
        rows=turns, origin=read[0].origin, revision=lambda: ", ".join(one.revision() for one in read)
    )
    return neighbour_data(spec, found, judge_clapnq(found.rows), Naming(dataset=DATASET, license=LICENSE))


def home(part: str) -> Home:
    """Where the rows of a part lie."""
    name = f"clapnq_dev_{part}.jsonl"
    return Home(file=f"clapnq/{name}", hub=HubSet(repo="PrimeQA/clapnq", files=name))


def judge_clapnq(raw_rows: Iterable[RawRow]) -> Judged:
    """Judge all rows; what is kept and what is refused stays in order."""
    verdicts = judge_all(raw_rows, lambda raw: clapnq_row(whole_row(raw.value)), lambda row: row.row_id)
    rows = tuple(row for _, _, row in verdicts.kept)
    exact = sum(len(row.ranges) for row in rows)
    return Judged(rows=rows, refused=verdicts.all_refused(), read=verdicts.read, exact=exact, repaired={})


def clapnq_row(row: dict[str, object]) -> SquadRow:
    """Read one row.

    Raises:
        RowRefused: It cannot become a sample.
    """
    listed: list[object] = field(row, "passages", list)
    if len(listed) != 1:
        raise RowRefused("row.field.value", "/passages", f"expected one passage, found {len(listed)}")
    passage: dict[str, object] = of_kind(listed[0], dict, "/passages/0")
    text = text_field(passage, "text", "/passages/0")
    outputs: list[object] = field(row, "output", list)
    answers: list[str] = []
    ranges: list[tuple[int, int]] = []
    for number, value in enumerate(outputs):
        where = f"/output/{number}"
        output: dict[str, object] = of_kind(value, dict, where)
        answers.append(field(output, "answer", str, where))
        after = 0
        for one in field(output, "selected_sentences", list, where):
            span = first_range("passage", text, of_kind(one, str, where), where, after)
            ranges.append((span.start, span.end))
            after = span.end
    if any(answer.strip() for answer in answers) and not ranges:
        raise RowRefused("gold.missing", "/output", "an answer that rests on no selected sentence")
    return SquadRow(
        row_id=text_field(row, "id"),
        title=field(passage, "title", str, "/passages/0") or None,
        context=text,
        question=text_field(row, "input"),
        answers=tuple((answer, 0) for answer in answers if answer.strip()),
        ranges=tuple(ranges),
        value={name: row[name] for name in ("id", "input", "passages", "output")},
    )
