"""The SQuAD form: both spellings of a row, refusals in file order, gold that must match."""

from __future__ import annotations

from typing import Any

import pytest

from tasks.rows import RawRow
from tasks.squad import SquadForm, judge, nested_rows, squad_row
from tasks.strict_json import parse

CONTEXT = "The lamp stands 41 m high. It was lit in 1891."


def row(**changes: Any) -> dict[str, Any]:
    good = {
        "id": "r1",
        "context": CONTEXT,
        "question": "How high?",
        "answers": {"text": ["41 m"], "answer_start": [16]},
    }
    return {**good, **changes}


def judged(*values: object, form: SquadForm | None = None) -> Any:
    raw = [RawRow(where=f"row {n}", value=value) for n, value in enumerate(values)]
    return judge(raw, form or SquadForm())


def test_a_good_row_has_its_range_in_code_points() -> None:
    found = judged(row())
    assert not found.refused
    assert found.rows[0].ranges == ((16, 20),)
    assert found.rows[0].value == row()


def test_both_spellings_of_answers_give_the_same_row() -> None:
    nested = row(answers=[{"text": "41 m", "answer_start": 16}])
    assert squad_row(nested, SquadForm()) == squad_row(row(), SquadForm())


def test_keys_beyond_the_form_are_no_part_of_the_row() -> None:
    assert judged(row(plausible_answers=[], is_impossible=False)).rows[0].value == row()


def test_titles_are_kept_only_where_the_form_has_them() -> None:
    assert judged(row(title="Lamps")).rows[0].title is None
    assert judged(row(title="Lamps"), form=SquadForm(titled=True)).rows[0].title == "Lamps"
    assert judged(row(), form=SquadForm(titled=True)).rows[0].value["title"] is None


BAD_ROWS = {
    "no object": ("text", "", "row.field.type"),
    "a missing column": ({"id": "a", "context": CONTEXT, "answers": []}, "/question", "row.field.missing"),
    "a context that is a number": (row(context=7), "/context", "row.field.type"),
    "a context that is null": (row(context=None), "/context", "row.field.missing"),
    "an id that is a boolean": (row(id=True), "/id", "row.field.type"),
    "an empty document": (row(context=""), "/context", "text.empty"),
    "a document of dropped characters": (row(context="\ufeff\u200b \n"), "/context", "text.empty"),
    "an empty question": (row(question="  "), "/question", "text.empty"),
    "a control character": (row(context="a\x07b"), "/context", "text.control"),
    "a C1 control character": (row(context="a\x85b"), "/context", "text.control"),
    "no answer": (row(answers=[]), "/answers", "gold.missing"),
    "answers that are text": (row(answers="41 m"), "/answers", "row.field.type"),
    "two texts and one offset": (
        row(answers={"text": ["41 m", "41"], "answer_start": [16]}),
        "/answers",
        "row.field.value",
    ),
    "an offset that is text": (
        row(answers=[{"text": "41 m", "answer_start": "16"}]),
        "/answers/0/answer_start",
        "row.field.type",
    ),
    "an offset that is a boolean": (
        row(answers={"text": ["h"], "answer_start": [True]}),
        "/answers/answer_start/0",
        "row.field.type",
    ),
    "gold that is not there": (
        row(answers=[{"text": "41 m", "answer_start": 15}]),
        "/answers/0",
        "gold.mismatch",
    ),
    "gold with a negative offset": (
        row(answers=[{"text": ".", "answer_start": -1}]),
        "/answers/0",
        "gold.mismatch",
    ),
    "empty gold": (row(answers=[{"text": "", "answer_start": 3}]), "/answers/0", "gold.mismatch"),
}


@pytest.mark.parametrize(("value", "where", "code"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_bad_row_is_refused_and_the_rest_goes_on(value: object, where: str, code: str) -> None:
    found = judged(row(id="before"), value, row(id="after"))
    assert [one.row_id for one in found.rows] == ["before", "after"]
    assert [(one.row, one.where, one.code) for one in found.refused] == [("row 1", where, code)]
    assert found.refused[0].reason


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b'{"id": "a", "id": "a"}', "json.key.duplicate"),
        (b'{"id": "a", "context": NaN}', "json.constant"),
        (b'{"id": "a", "context": "\\ud800"}', "json.string.surrogate"),
        (b'{"id": "a", "score": 0.5}', "json.number.float"),
    ],
)
def test_a_fault_of_the_reader_refuses_its_row(text: bytes, code: str) -> None:
    assert [one.code for one in judged(parse(text), row()).refused] == [code]


def test_of_two_rows_with_one_id_the_first_stays() -> None:
    found = judged(row(question="first"), row(question="second"))
    assert [one.question for one in found.rows] == ["first"]
    assert found.refused[0].code == "row.id.duplicate"


def test_a_refused_row_does_not_take_its_id() -> None:
    found = judged(row(question=" "), row())
    assert [one.row_id for one in found.rows] == ["r1"]


def test_refusals_stay_in_file_order_whatever_found_them() -> None:
    found = judged(row(id="a", answers=[{"text": "x", "answer_start": 0}]), 7, row(id="b", context=""))
    assert [one.row for one in found.refused] == ["row 0", "row 1", "row 2"]


def test_numbered_rows_keep_their_number_in_the_digested_row() -> None:
    found = judged(row(id=17))
    assert found.rows[0].row_id == "17"
    assert found.rows[0].value["id"] == 17


def test_unanswerable_rows_are_samples_only_where_the_form_allows_them() -> None:
    empty = row(answers={"text": [], "answer_start": []})
    assert judged(empty).refused[0].code == "gold.missing"
    assert judged(empty, form=SquadForm(unanswerable=True)).rows[0].ranges == ()


def test_repairs_are_counted_by_class_and_never_happen_without_a_window() -> None:
    off = row(answers=[{"text": "41 m", "answer_start": 17}])
    assert judged(off).refused[0].code == "gold.mismatch"
    found = judged(
        row(), row(id="r2", answers=[{"text": "41 m", "answer_start": 17}]), form=SquadForm(window=4)
    )
    assert found.repaired == {"nearest-1": 1}
    assert found.rows[1].ranges == ((16, 20),)
    assert found.rows[1].value["answers"] == {"text": ["41 m"], "answer_start": [17]}  # as published


def test_an_offset_unit_must_agree_for_all_answers_of_the_document() -> None:
    context = "\U0001f9ea one two"
    first = row(id="a", context=context, answers=[{"text": "one", "answer_start": 3}])
    second = row(id="b", context=context, answers=[{"text": "two", "answer_start": 7}])
    found = judged(first, second, form=SquadForm(window=4))
    assert found.repaired == {"utf16": 2}
    assert [one.ranges for one in found.rows] == [((2, 5),), ((6, 9),)]


NESTED = b"""{"data": [
  {"title": "Lamps", "paragraphs": [
    {"context": "The lamp stands 41 m high. It was lit in 1891.",
     "qas": [{"id": "a", "question": "How high?", "answers": [{"text": "41 m", "answer_start": 16}]},
             {"id": "b", "question": "When?", "answers": [{"text": "1891", "answer_start": 41}]}]},
    {"context": "No questions."},
    {"context": "x", "qas": [NaN, {"id": "c", "id": "c"}]}]},
  {"title": "Broken", "title": "Broken"},
  {"paragraphs": []}]}"""


def test_nested_json_is_flattened_with_its_places() -> None:
    found = judge(nested_rows(articles(NESTED)), SquadForm(titled=True))
    assert [(one.row_id, one.title) for one in found.rows] == [("a", "Lamps"), ("b", "Lamps")]
    assert [(one.row, one.code) for one in found.refused] == [
        ("data/0/paragraphs/1", "row.field.missing"),
        ("data/0/paragraphs/2/qas/0", "json.constant"),
        ("data/0/paragraphs/2/qas/1", "json.key.duplicate"),
        ("data/1", "json.key.duplicate"),
    ]


def articles(text: bytes) -> list[object]:
    value = parse(text)
    assert isinstance(value, dict)
    found: list[object] = value["data"]
    return found
