"""Forms that become one question on one text: good rows worked out by hand, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tasks.clapnq import clapnq_row
from tasks.fields import RowRefused
from tasks.nq_oracle import as_squad
from tasks.rows import RawRow
from tasks.strict_json import Fault

Row = dict[str, Any]

CLAPNQ: Row = {
    "id": "c1",
    "input": "what is it",
    "passages": [{"title": "Lamp", "text": "One.  Two. Two.", "sentences": ["One.", "Two.", "Two."]}],
    "output": [{"answer": "Two of them.", "selected_sentences": ["Two.", "Two."], "meta": {}}],
}


def test_clapnq_sentences_are_found_one_after_the_other() -> None:
    assert clapnq_row(CLAPNQ).ranges == ((6, 10), (11, 15))


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (CLAPNQ | {"passages": []}, "row.field.value"),
        (CLAPNQ | {"output": [{"answer": "x", "selected_sentences": ["Three."]}]}, "gold.mismatch"),
        (CLAPNQ | {"output": [{"answer": "x", "selected_sentences": ["Two."] * 3}]}, "gold.mismatch"),
        (CLAPNQ | {"output": [{"answer": "x", "selected_sentences": []}]}, "gold.missing"),
    ],
)
def test_a_bad_clapnq_row_is_refused(row: Row, code: str) -> None:
    with pytest.raises(RowRefused) as caught:
        clapnq_row(row)
    assert caught.value.code == code


def test_an_nq_row_takes_the_first_answer_that_occurs() -> None:
    row = {"question": "q", "answers": ["x", "Oslo"], "ctxs": [{"title": "T", "text": "In Oslo, Oslo."}]}
    value = as_squad(RawRow(where="line 7", value=row)).value
    assert isinstance(value, dict)
    assert value["id"] == "line-7"
    assert value["answers"] == {"text": ["Oslo"], "answer_start": [3]}


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ({"question": "q", "answers": ["x"], "ctxs": [{"title": "T", "text": "y"}]}, "gold.mismatch"),
        ({"question": "q", "answers": ["x"], "ctxs": []}, "row.field.value"),
        ({"question": "q", "answers": [3], "ctxs": [{"title": "T", "text": "y"}]}, "row.field.type"),
        (Fault(code="json.constant", reason="NaN"), "json.constant"),
    ],
)
def test_a_bad_nq_row_becomes_a_fault(row: object, code: str) -> None:
    value = as_squad(RawRow(where="line 1", value=row)).value
    assert isinstance(value, Fault)
    assert value.code == code
