"""Malformed rows of tables, rows too large to be read, and the accounting over many faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import pytest
from on_disk import FORMS, TOKEN, WHERE, Q, T, cases, check, encode, flat, path_of, put

from tasks.base import TaskData, TaskError, TaskSpec
from tasks.registry import load_task

Make = Callable[..., TaskSpec]
Rows = Callable[[str], list[dict[str, Any]]]
Load = Callable[..., TaskData]


TABLE_FAULTS: dict[str, tuple[str, str | None, str]] = {
    "null for a question": (Q, None, "row.field.missing"),
    "an empty question": (Q, "", "text.empty"),
    "an empty document": (T, "", "text.empty"),
    "a control character": (T, "a\x00b", "text.control"),
    "a noncharacter": (Q, "a\ufdd0b", "json.string.noncharacter"),
}


IN_TABLES = [name for name, form in FORMS.items() if form.table and name != "xquad_en"]


@pytest.mark.parametrize(("name", "fault"), cases(IN_TABLES, TABLE_FAULTS))
def test_a_malformed_row_of_a_table_costs_itself(
    good_rows: Rows, load_form: Load, name: str, fault: str
) -> None:
    form, (field, value, code) = FORMS[name], TABLE_FAULTS[fault]
    path = path_of(form, field)
    assert path is not None
    rows = good_rows(name)
    ids = [one.input.sample_id for one in load_form(name, encode(name, rows, b"")).samples]
    spoiled = [flat(row) for row in (rows[0], put(rows[1], path, value), rows[2])]
    data = load_form(name, None, table=datasets.Dataset.from_list(spoiled))
    check(name, data, code, [ids[0], ids[2]], "row 1")


@pytest.mark.parametrize(
    ("column", "code"),
    [
        ([0.5] * 3, "json.number.float"),
        ([float("nan")] * 3, "json.constant"),
        ([2**60] * 3, "json.number.range"),
    ],
)
def test_a_column_of_another_type_is_an_error_that_names_it(
    good_rows: Rows, load_form: Load, column: list[Any], code: str
) -> None:
    rows = [put(row, ("question",), value) for row, value in zip(good_rows("custom"), column, strict=True)]
    with pytest.raises(TaskError, match=rf"no sample.*3 refused, the first: row 0/question: {code}"):
        load_form("custom", None, table=datasets.Dataset.from_list(rows))


def test_the_accounting_holds_under_a_limit(make_spec: Make, capsule_data: Path) -> None:
    for name in ("ramdocs", "cmrc2018", "quotesum", "xquad_en"):
        spec = make_spec(name=name, data_dir=str(capsule_data), limit=20, examples=2)
        data = load_task(spec)
        assert data.read == len(data.samples) + data.reserved + len(data.refused) + data.unused
        assert data.reserved >= len(data.examples) == 2
        whole = load_task(replace(spec, limit=None))
        assert (whole.read, whole.refused, whole.unused) == (data.read, data.refused, 0)


BIG = {"custom": "lines", "musique": "array", "squad": "nested"}


@pytest.mark.parametrize("name", BIG)
def test_a_document_of_more_than_64_mib_costs_its_row(good_rows: Rows, load_form: Load, name: str) -> None:
    """One reader each; the row beside it, with a document of 1 MiB, is a sample."""
    rows, path = good_rows(name), FORMS[name].text
    assert path is not None
    ids = [one.input.sample_id for one in load_form(name, encode(name, rows, b"")).samples]
    big = b'"' + b"x" * ((64 << 20) + 1) + b'"'
    data = load_form(name, encode(name, [rows[0], put(rows[1], path, TOKEN), rows[2]], big))
    check(name, data, "text.size.exceeded", [ids[0], ids[2]], WHERE[FORMS[name].kind])


def test_a_line_beyond_the_cap_is_never_held(good_rows: Rows, load_form: Load) -> None:
    rows = good_rows("custom")
    big = b'"' + b"x" * (130 << 20) + b'"'
    data = load_form("custom", encode("custom", [rows[0], put(rows[1], ("question",), TOKEN), rows[2]], big))
    check("custom", data, "bytes.size.exceeded", ["q0", "q2"], "line 2")
