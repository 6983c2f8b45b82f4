"""Every on-disk form in JSON against every malformed row: refused by its code, the rows beside it stay.

A file of three good rows, the second one spoiled. Each case asserts the code, the place, the untouched
samples, the accounting, and that ``strict`` makes it fatal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from on_disk import FORMS, TOKEN, WHERE, Q, T, cases, check, custom_row, cut, encode, path_of, put

from tasks.base import TaskData, TaskError, TaskSpec

Make = Callable[..., TaskSpec]
Rows = Callable[[str], list[dict[str, Any]]]
Load = Callable[..., TaskData]


JSON_FAULTS: dict[str, tuple[str, bytes, str]] = {
    "a number for a question": (Q, b"7", "row.field.type"),
    "an array for a question": (Q, b"[]", "row.field.type"),
    "null for a question": (Q, b"null", "row.field.missing"),
    "NaN": (Q, b"NaN", "json.constant"),
    "Infinity": (T, b"-Infinity", "json.constant"),
    "a float": (Q, b"1.5", "json.number.float"),
    "an integer beyond 2^53-1": (Q, b"9007199254740993", "json.number.range"),
    "a key twice": (Q, b'{"k": 1, "k": 1}', "json.key.duplicate"),
    "a lone surrogate": (Q, b'"a\\ud800b"', "json.string.surrogate"),
    "a noncharacter": (T, b'"a\\ufdd0b"', "json.string.noncharacter"),
    "bytes that are not UTF-8": (Q, b'"a\xed\xa0\x80b"', "json.utf8.invalid"),
    "an empty question": (Q, b'" "', "text.empty"),
    "an empty document": (T, b'""', "text.empty"),
    "a blank document": (T, b'" \\u200b\\n"', "text.empty"),
    "a control character": (T, b'"a\\u0000b"', "text.control"),
    "a control character in a question": (Q, b'"a\\u001bb"', "text.control"),
}


PAIRS = {("timeqa", "null for a question"): "row.field.type"}


@pytest.mark.parametrize(("name", "fault"), cases(list(FORMS), JSON_FAULTS))
def test_a_malformed_row_of_json_costs_itself(
    good_rows: Rows, load_form: Load, name: str, fault: str
) -> None:
    form, (field, raw, code) = FORMS[name], JSON_FAULTS[fault]
    path = path_of(form, field)
    assert path is not None
    rows = good_rows(name)
    whole = load_form(name, encode(name, rows, b""))
    assert len(whole.samples) == len(rows)
    ids = [one.input.sample_id for one in whole.samples]
    spoiled = encode(name, [rows[0], put(rows[1], path, TOKEN), rows[2]], raw)
    data = load_form(name, spoiled)
    check(name, data, PAIRS.get((name, fault), code), [ids[0], ids[2]], WHERE[form.kind])
    with pytest.raises(TaskError, match=r"is strict.*1 refused"):
        load_form(name, spoiled, strict=True)


@pytest.mark.parametrize("name", FORMS)
def test_a_missing_column_costs_the_row(good_rows: Rows, load_form: Load, name: str) -> None:
    rows = good_rows(name)
    ids = [one.input.sample_id for one in load_form(name, encode(name, rows, b"")).samples]
    data = load_form(name, encode(name, [rows[0], cut(rows[1], FORMS[name].question), rows[2]], b""))
    code = "row.field.type" if name == "timeqa" else "row.field.missing"  # its question is half of a pair
    check(name, data, code, [ids[0], ids[2]], WHERE[FORMS[name].kind])


@pytest.mark.parametrize("name", [name for name, form in FORMS.items() if form.row_id])
def test_of_two_rows_with_one_id_the_first_stays(good_rows: Rows, load_form: Load, name: str) -> None:
    rows, row_id = good_rows(name), FORMS[name].row_id
    assert row_id is not None
    ids = [one.input.sample_id for one in load_form(name, encode(name, rows, b"")).samples]
    value: Any = rows[0]
    for step in row_id:
        value = value[step]
    data = load_form(name, encode(name, [rows[0], put(rows[1], row_id, value), rows[2]], b""))
    check(name, data, "row.id.duplicate", [ids[0], ids[2]], WHERE[FORMS[name].kind])


@pytest.mark.parametrize("name", [name for name, form in FORMS.items() if form.kind == "lines"])
@pytest.mark.parametrize("raw", [b"{", b"nothing", b"[" * 100_000, b"\xff"])
def test_a_line_that_is_no_json_costs_itself(good_rows: Rows, load_form: Load, name: str, raw: bytes) -> None:
    rows = good_rows(name)
    ids = [one.input.sample_id for one in load_form(name, encode(name, rows, b"")).samples]
    lines = encode(name, rows, b"").split(b"\n")
    data = load_form(name, b"\n".join([lines[0], raw, lines[2]]))
    code = {b"[": "json.depth.exceeded", b"\xff": "json.utf8.invalid"}.get(raw[:1], "json.syntax")
    check(name, data, code, [ids[0], ids[2]], "line 2")


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("text", ["\ufffd", "\ufeffx", "\u202e\u200dx", "e\u0301"])
def test_odd_text_is_text_and_stays(good_rows: Rows, load_form: Load, name: str, text: str) -> None:
    rows, path = good_rows(name), FORMS[name].question
    data = load_form(name, encode(name, [rows[0], put(rows[1], path, text), rows[2]], b""))
    assert not data.refused
    assert data.samples[1].input.question == text


def test_every_fault_at_once_is_counted_by_its_code(good_rows: Rows, load_form: Load) -> None:
    """Forty rows, every third one good: nothing is lost, whatever the limit."""
    lines, codes = [], []
    faults = [one for one in JSON_FAULTS.values() if one[0] == Q]
    for number in range(40):
        row = {**custom_row(number)}
        if number % 3 == 0:
            lines.append(encode("custom", [row], b""))
            continue
        _, raw, code = faults[number % len(faults)]
        codes.append(code)
        lines.append(encode("custom", [put(row, ("question",), TOKEN)], raw))
    data = load_form("custom", b"".join(lines))
    assert Counter(one.code for one in data.refused) == Counter(codes)
    assert (data.read, len(data.samples)) == (40, 14)
