"""NQ-Open with the gold document: 2,655 questions, each with the one Wikipedia chunk that answers it.

From "Lost in the Middle" (https://github.com/nelson-liu/lost-in-the-middle, MIT; text CC BY-SA). The
rows have no ids and no offsets: a row is named by its line, and its gold is the first occurrence of
the first listed answer that occurs in the document verbatim. Rows then follow the rules of the
SQuAD form: the gold document stands among its nearest neighbours in file order.
"""

from __future__ import annotations

from dataclasses import replace

from tasks.base import TaskData, TaskSpec
from tasks.fields import RowRefused, field, of_kind, ordinal, text_field, whole_row
from tasks.finish import only_options
from tasks.neighbours import AMONG, Naming
from tasks.rows import Home, RawRow
from tasks.sources import FROM, open_home
from tasks.squad import SquadForm
from tasks.squad_files import squad_data
from tasks.strict_json import Fault

DATASET, LICENSE = "nq-open-oracle", "CC-BY-SA-3.0"
HOME = Home(file="nq-oracle/nq-open-oracle.jsonl.gz")


def nq_oracle(spec: TaskSpec) -> TaskData:
    """Load NQ-Open with gold documents.

    Raises:
        TaskError: See :mod:`tasks.sources` and :mod:`tasks.finish`.
    """
    only_options(spec, *FROM, *AMONG)
    found = open_home(spec, HOME)
    rows = replace(found, rows=(as_squad(raw) for raw in found.rows))
    return squad_data(spec, rows, SquadForm(titled=True), Naming(dataset=DATASET, license=LICENSE))


def as_squad(raw: RawRow) -> RawRow:
    """Turn a line into a row of the SQuAD form; one that cannot be turned becomes a fault."""
    try:
        row = whole_row(raw.value)
        listed: list[object] = field(row, "ctxs", list)
        if len(listed) != 1:
            raise RowRefused("row.field.value", "/ctxs", f"expected one document, found {len(listed)}")
        document: dict[str, object] = of_kind(listed[0], dict, "/ctxs/0")
        text = text_field(document, "text", "/ctxs/0")
        answers = [of_kind(one, str, "/answers") for one in field(row, "answers", list)]
        answer = next((one for one in answers if one.strip() and one in text), None)
        if answer is None:
            raise RowRefused(
                "gold.mismatch", "/answers", f"none of {len(answers)} answers occurs in the document"
            )
        value = {
            "id": f"line-{ordinal(raw.where) + 1}",
            "title": field(document, "title", str, "/ctxs/0"),
            "context": text,
            "question": text_field(row, "question"),
            "answers": {"text": [answer], "answer_start": [text.index(answer)]},
        }
    except RowRefused as error:
        return RawRow(where=raw.where, value=Fault(code=error.code, reason=f"{error.where} {error}"))
    return RawRow(where=raw.where, value=value)
