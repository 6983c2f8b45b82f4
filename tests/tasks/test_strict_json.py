"""Data JSON: a fault stands in the place of its value, the rest of the text is read."""

from __future__ import annotations

from datetime import date

import pytest

from tasks.strict_json import Fault, Unreadable, first_fault, parse, without_null

FAULTS = {
    "a duplicate key": (b'{"a": [1, {"k": 1, "k": 1}]}', "/a/1", "json.key.duplicate"),
    "NaN": (b'{"a": NaN}', "/a", "json.constant"),
    "Infinity": (b"[-Infinity]", "/0", "json.constant"),
    "a float": (b"[1, 2.5]", "/1", "json.number.float"),
    "an exponent": (b"[1e3]", "/0", "json.number.float"),
    "an integer beyond 2^53-1": (b"[9007199254740992]", "/0", "json.number.range"),
    "an integer of many digits": (b"[" + b"9" * 5000 + b"]", "/0", "json.number.range"),
    "minus zero": (b"[-0]", "/0", "json.number.negative_zero"),
    "a lone surrogate": (b'{"a": "x\\ud800y"}', "/a", "json.string.surrogate"),
    "a lone surrogate in a key": (b'{"\\udfff": 1}', "", "json.string.surrogate"),
    "a noncharacter": (b'["\\ufdd0"]', "/0", "json.string.noncharacter"),
    "a noncharacter of a high plane": (b'["\\ud83f\\udffe"]', "/0", "json.string.noncharacter"),
    "65 arrays in each other": (b"[" * 65 + b"]" * 65, "/0" * 64, "json.depth.exceeded"),
}


@pytest.mark.parametrize(("text", "at", "code"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found_with_its_pointer(text: bytes, at: str, code: str) -> None:
    found = first_fault(parse(text))
    assert found is not None
    assert (found[0], found[1].code) == (at, code)


UNREADABLE = {
    "half a text": (b'{"a": ', "json.syntax"),
    "text after the value": (b"{} {}", "json.syntax"),
    "nothing": (b"", "json.syntax"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "json.bom"),
    "UTF-16": ('{"a": 1}'.encode("utf-16-le"), "json.syntax"),
    "a surrogate as bytes": (b'"\xed\xa0\x80"', "json.utf8.invalid"),
    "100,000 brackets": (b"[" * 100_000, "json.depth.exceeded"),
}


@pytest.mark.parametrize(("text", "code"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_text_without_structure_is_unreadable(text: bytes, code: str) -> None:
    with pytest.raises(Unreadable) as caught:
        parse(text)
    assert caught.value.code == code


def test_the_other_values_are_read_beside_a_fault() -> None:
    value = parse(b'[{"a": 1}, NaN, {"b": "\\ufeffx"}]')
    assert value == [{"a": 1}, Fault(code="json.constant", reason="the literal NaN"), {"b": "\ufeffx"}]


IN_TABLES = {
    "a float": (0.5, "json.number.float"),
    "no number": (float("nan"), "json.constant"),
    "infinity": (float("-inf"), "json.constant"),
    "an integer beyond 2^53-1": (-(2**53), "json.number.range"),
    "bytes": (b"x", "row.field.type"),
    "a date": (date(2026, 1, 1), "row.field.type"),
    "a lone surrogate": ("\ud800", "json.string.surrogate"),
}


@pytest.mark.parametrize(("value", "code"), IN_TABLES.values(), ids=IN_TABLES)
def test_what_a_table_holds_keeps_the_same_rules(value: object, code: str) -> None:
    found = first_fault({"a": [1, True, None, value]})
    assert found is not None
    assert (found[0], found[1].code) == ("/a/3", code)


def test_a_null_key_is_a_missing_key_at_every_depth() -> None:
    assert without_null({"a": None, "b": [{"c": None, "d": 0}, None]}) == {"b": [{"d": 0}, None]}


def test_a_pair_of_surrogate_escapes_is_one_character() -> None:
    assert parse(b'"\\ud83e\\uddea"') == "\U0001f9ea"


def test_the_largest_integer_is_read() -> None:
    assert parse(b"[9007199254740991, -9007199254740991]") == [2**53 - 1, 1 - 2**53]


def test_pointers_escape_tilde_and_slash() -> None:
    found = first_fault(parse(b'{"a/b~c": NaN}'))
    assert found is not None
    assert found[0] == "/a~1b~0c"


def test_a_value_without_fault_has_none() -> None:
    assert first_fault(parse('{"a": ["\ufffd", "\ufeff", null, true]}'.encode())) is None


def test_a_long_number_is_named_by_its_beginning_and_length() -> None:
    found = first_fault(parse(b"[1" + b"0" * 399 + b"]"))
    assert found is not None
    assert found[1].reason == "the integer 10000000000000000... (400 characters) beyond 2^53-1"
