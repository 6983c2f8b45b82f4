"""Malformed rows of tables, rows too large to be read, and the accounting over many faults."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import datasets
import pytest

from tasks.base import TaskData, TaskError, TaskSpec
from tasks.registry import load_task

Make = Callable[..., TaskSpec]
Rows = Callable[[str], list[dict[str, Any]]]
Load = Callable[..., TaskData]
HERE = Path(__file__).parent


def kit() -> Any:
    """``on_disk.py`` beside this file (with import-mode=importlib test modules cannot import each other)."""
    spec = importlib.util.spec_from_file_location("on_disk", HERE / "on_disk.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


KIT = kit()
FORMS, Q, T, TOKEN, WHERE = KIT.FORMS, KIT.Q, KIT.T, KIT.TOKEN, KIT.WHERE
encode, put, cut, check = KIT.encode, KIT.put, KIT.cut, KIT.check


@pytest.fixture
def good_rows(capsule_data: Path) -> Rows:
    """Three good rows of a form."""
    return partial(KIT.good_rows, capsule_data=capsule_data)


@pytest.fixture
def load(make_spec: Make, capsule_data: Path, tmp_path: Path) -> Load:
    """Loads a form from bytes or a table."""
    found: Load = KIT.loader(make_spec, capsule_data, tmp_path)
    return found


TABLE_FAULTS: dict[str, tuple[str, str | None, str]] = {
    "null for a question": (Q, None, "row.field.missing"),
    "an empty question": (Q, "", "text.empty"),
    "an empty document": (T, "", "text.empty"),
    "a control character": (T, "a\x00b", "text.control"),
    "a noncharacter": (Q, "a\ufdd0b", "json.string.noncharacter"),
}


IN_TABLES = [name for name, form in FORMS.items() if form.table and name != "xquad_en"]


@pytest.mark.parametrize(("name", "fault"), KIT.cases(IN_TABLES, TABLE_FAULTS))
def test_a_malformed_row_of_a_table_costs_itself(good_rows: Rows, load: Load, name: str, fault: str) -> None:
    form, (field, value, code) = FORMS[name], TABLE_FAULTS[fault]
    path = KIT.path_of(form, field)
    assert path is not None
    rows = good_rows(name)
    ids = [one.input.sample_id for one in load(name, encode(name, rows, b"")).samples]
    spoiled = [KIT.flat(row) for row in (rows[0], put(rows[1], path, value), rows[2])]
    data = load(name, None, table=datasets.Dataset.from_list(spoiled))
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
    good_rows: Rows, load: Load, column: list[Any], code: str
) -> None:
    rows = [put(row, ("question",), value) for row, value in zip(good_rows("custom"), column, strict=True)]
    with pytest.raises(TaskError, match=rf"no sample.*3 refused, the first: row 0/question: {code}"):
        load("custom", None, table=datasets.Dataset.from_list(rows))


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
def test_a_document_of_more_than_64_mib_costs_its_row(good_rows: Rows, load: Load, name: str) -> None:
    """One reader each; the row beside it, with a document of 1 MiB, is a sample."""
    rows, path = good_rows(name), FORMS[name].text
    assert path is not None
    ids = [one.input.sample_id for one in load(name, encode(name, rows, b"")).samples]
    big = b'"' + b"x" * ((64 << 20) + 1) + b'"'
    data = load(name, encode(name, [rows[0], put(rows[1], path, TOKEN), rows[2]], big))
    check(name, data, "text.size.exceeded", [ids[0], ids[2]], WHERE[FORMS[name].kind])


def test_a_line_beyond_the_cap_is_never_held(good_rows: Rows, load: Load) -> None:
    rows = good_rows("custom")
    big = b'"' + b"x" * (130 << 20) + b'"'
    data = load("custom", encode("custom", [rows[0], put(rows[1], ("question",), TOKEN), rows[2]], big))
    check("custom", data, "bytes.size.exceeded", ["q0", "q2"], "line 2")
