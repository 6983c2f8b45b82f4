"""CLAP NQ: long answers from one passage, with the sentences that they rest on; half unanswerable.

https://github.com/primeqa/clapnq, Apache-2.0; passages from Wikipedia (CC BY-SA 3.0). Two files, one
of answerable and one of unanswerable questions; by default their rows take turns, so that every
limit has both (``part`` chooses one). Gold spans are the selected sentences of all annotators,
found in the passage one after the other (joining the given sentences does not give the text).
Answers are free text and rarely verbatim. The passage stands among its nearest neighbours.
"""

from __future__ import annotations

from itertools import zip_longest

from tasks.base import RefusedRow, TaskData, TaskError, TaskSpec
from tasks.fields import RowRefused, field, of_kind, text_field, whole_row
from tasks.finish import only_options, option
from tasks.neighbours import Naming
from tasks.passages import first_range
from tasks.sources import RawRow, Rows, find_file, local_folder, read_json_lines
from tasks.squad import Judged, SquadRow
from tasks.squad_files import neighbour_data

DATASET, LICENSE = "clapnq-dev", "Apache-2.0 (passages CC-BY-SA-3.0)"
PARTS = ("answerable", "unanswerable")


def clapnq(spec: TaskSpec) -> TaskData:
    """Load CLAP NQ from its files.

    Raises:
        TaskError: See :mod:`tasks.sources` and :mod:`tasks.finish`.
    """
    only_options(spec, "example_chars", "neighbours", "part")
    part = option(spec, "part", "both")
    if part not in (*PARTS, "both"):
        raise TaskError(f"task.options.part of {spec.name}: expected answerable, unanswerable or both")
    files = [f"clapnq/clapnq_dev_{name}.jsonl" for name in PARTS if part in (name, "both")]
    folder = local_folder(spec, " and ".join(files))
    read = [read_json_lines(find_file(spec, folder, (file,), file)) for file in files]
    turns = [row for rows in zip_longest(*(one.rows for one in read)) for row in rows if row is not None]
    found = Rows(rows=tuple(turns), origin=read[0].origin, revision=", ".join(one.revision for one in read))
    return neighbour_data(spec, found, judge_clapnq(found.rows), Naming(dataset=DATASET, license=LICENSE))


def judge_clapnq(raw_rows: tuple[RawRow, ...]) -> Judged:
    """Judge all rows; what is kept and what is refused stays in order."""
    rows: list[SquadRow] = []
    refused: list[RefusedRow] = []
    seen: set[str] = set()
    for raw in raw_rows:
        try:
            row = clapnq_row(whole_row(raw.value))
            if row.row_id in seen:
                raise RowRefused(
                    "row.id.duplicate", "/id", f"the id {row.row_id!r} again; the first row stays"
                )
        except RowRefused as error:
            refused.append(error.as_row(raw.where))
            continue
        seen.add(row.row_id)
        rows.append(row)
    return Judged(rows=tuple(rows), refused=tuple(refused), repaired={})


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
