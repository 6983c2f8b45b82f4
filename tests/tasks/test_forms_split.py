"""Forms whose rows hold the questions on one article or story: how they are split, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tasks.base import TaskSpec
from tasks.fields import RowRefused
from tasks.listed import Made
from tasks.rows import RawRow
from tasks.squality import questions as story_questions
from tasks.squality import squality_row
from tasks.strict_json import Fault
from tasks.timeqa import questions as article_questions
from tasks.timeqa import timeqa_row

Make = Callable[..., TaskSpec]
Quoted = Callable[[Made], list[str]]
Row = dict[str, Any]

TIMEQA: Row = {
    "index": "/wiki/Ada#P1",
    "paras": ["Ada .", "She worked in Oslo until 1891 ."],
    "number": 1,
    "pair": ["Where in 1890?", [{"para": 1, "from": 14, "end": 18, "answer": "Oslo"}]],
}
SQUALITY: Row = {
    "metadata": {"passage_id": "63833", "uid": "u"},
    "document": "A story.",
    "question": {"question_number": 2, "question_text": "Why?", "responses": [{"response_text": "So."}]},
}


def test_timeqa_gold_is_the_published_range(make_spec: Make, quoted: Quoted) -> None:
    made = timeqa_row(TIMEQA, make_spec(), "row 0 question 1")
    assert made.sample.input.sample_id == "Ada#P1-q1"
    assert quoted(made) == ["Oslo"]


def test_an_empty_timeqa_answer_is_no_gold(make_spec: Make) -> None:
    row = {**TIMEQA, "pair": ["When?", [{"para": 0, "from": 0, "end": 0, "answer": ""}]]}
    gold = timeqa_row(row, make_spec(), "x").sample.gold
    assert (gold.answers, gold.spans) == ((), ())


def test_articles_and_stories_are_split_into_their_questions() -> None:
    article = {"index": "i", "paras": ["p"], "questions": [["a", []], ["b", []]]}
    assert [one.where for one in article_questions(RawRow(where="row 3", value=article))] == [
        "row 3 question 0",
        "row 3 question 1",
    ]
    story = {"metadata": {}, "document": "d", "questions": [{"question_number": 1}]}
    (only,) = story_questions(RawRow(where="line 1", value=story))
    assert only.value == {"metadata": {}, "document": "d", "question": {"question_number": 1}}


@pytest.mark.parametrize("value", [7, {}, {"questions": 7}, Fault(code="json.syntax", reason="x")])
def test_what_cannot_be_split_stays_to_be_refused(value: object) -> None:
    raw = RawRow(where="row 0", value=value)
    assert list(article_questions(raw)) == [raw]
    assert list(story_questions(raw)) == [raw]


def test_squality_answers_are_free_text_without_spans(make_spec: Make) -> None:
    made = squality_row(SQUALITY, make_spec(), "line 1 question 0")
    assert made.sample.input.sample_id == "63833-q2"
    assert (made.sample.gold.answers, made.sample.gold.spans) == (("So.",), ())


def target(**changes: Any) -> Row:
    return TIMEQA | {"pair": ["Where?", [{**TIMEQA["pair"][1][0], **changes}]]}


BAD: dict[str, tuple[Any, Row, str]] = {
    "timeqa: a wrong offset": (timeqa_row, target(**{"from": 13}), "gold.mismatch"),
    "timeqa: a negative offset": (timeqa_row, target(**{"from": -17}), "gold.mismatch"),
    "timeqa: an unknown paragraph": (timeqa_row, target(para=2), "gold.source.missing"),
    "timeqa: an empty paragraph": (timeqa_row, TIMEQA | {"paras": ["", "x"]}, "text.empty"),
    "timeqa: a pair of one": (timeqa_row, TIMEQA | {"pair": ["x"]}, "row.field.type"),
    "squality: an empty story": (squality_row, SQUALITY | {"document": "\n"}, "text.empty"),
    "squality: no question": (squality_row, SQUALITY | {"question": None}, "row.field.type"),
}


@pytest.mark.parametrize(("form", "row", "code"), BAD.values(), ids=BAD)
def test_a_bad_row_is_refused_with_its_code(make_spec: Make, form: Any, row: Row, code: str) -> None:
    with pytest.raises(RowRefused) as caught:
        form(row, make_spec(), "row 0")
    assert caught.value.code == code
