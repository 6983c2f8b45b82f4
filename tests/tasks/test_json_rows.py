"""Rows of JSON files one at a time, as a whole read would give them; a fault costs its row."""

from __future__ import annotations

import contextlib
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.json_rows import MAX_ROW_BYTES, array_rows, keyed_items, line_rows
from tasks.rows import RawRow
from tasks.strict_json import Fault, Unreadable, parse


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def dump(value: object) -> bytes:
    return json.JSONEncoder(ensure_ascii=False).encode(value).encode()


def code_of(value: object) -> str | None:
    return value.code if isinstance(value, Fault) else None


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab\u4e00", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(rows=st.lists(JSON, max_size=6), size=st.integers(1, 40), indent=st.sampled_from([None, 1]))
def test_an_array_in_pieces_is_the_array_as_a_whole(rows: list[Any], size: int, indent: int | None) -> None:
    data = json.JSONEncoder(indent=indent).encode(rows).encode()
    assert [one.value for one in array_rows(pieces(data, size))] == parse(data)


@given(rows=st.lists(JSON, max_size=4), size=st.integers(1, 40), other=JSON)
def test_the_array_under_a_key_is_read_and_the_rest_gone_over(rows: list[Any], size: int, other: Any) -> None:
    data = dump({"before": other, "data": rows, "after": [other]})
    assert list(keyed_items(pieces(data, size), "data")) == parse(dump(rows))


@given(rows=st.lists(JSON, max_size=6), size=st.integers(1, 40))
def test_lines_in_pieces_are_the_lines(rows: list[Any], size: int) -> None:
    data = b"\n".join(dump(row) for row in rows)
    assert [one.value for one in line_rows(pieces(data, size))] == [parse(dump(row)) for row in rows]


@given(data=st.binary(max_size=60), size=st.integers(1, 20))
def test_any_bytes_give_rows_or_the_named_error(data: bytes, size: int) -> None:
    assert all(isinstance(one, RawRow) for one in line_rows(pieces(data, size)))
    for read in (array_rows, lambda chunks: keyed_items(chunks, "data")):
        with contextlib.suppress(Unreadable):
            list(read(pieces(data, size)))


def test_a_bad_line_is_a_fault_beside_good_ones() -> None:
    data = b'{"a": 1}\n{\n\n  \n{"b": "\xff"}\n{"c": 3}\r\n"last"'
    rows = list(line_rows([data]))
    assert [one.where for one in rows] == ["line 1", "line 2", "line 5", "line 6", "line 7"]
    assert [code_of(one.value) for one in rows] == [None, "json.syntax", "json.utf8.invalid", None, None]
    assert (rows[0].value, rows[3].value, rows[4].value) == ({"a": 1}, {"c": 3}, "last")


def test_lines_end_at_line_feeds_alone() -> None:
    data = '{"a": "x\u2028y\u0085z"}'.encode()
    assert [one.value for one in line_rows([data])] == [{"a": "x\u2028y\u0085z"}]


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_over_the_cap_costs_itself_alone(size: int, end: bytes) -> None:
    data = b'"aaaaaaaa"\n"bbbbbbbbb"\n"c"\n"ddddddddddddddd"' + end
    rows = list(line_rows(pieces(data, size), max_bytes=10))
    assert [one.where for one in rows] == ["line 1", "line 2", "line 3", "line 4"]
    assert [code_of(one.value) for one in rows] == [None, "bytes.size.exceeded", None, "bytes.size.exceeded"]


def test_bytes_that_are_not_utf8_cost_the_row_of_an_array() -> None:
    data = b'[{"a": "x\xedy", "b": [1]}, {"a": "\xc3\xa9"}, {"a": "\\udced"}]'
    rows = [one.value for one in array_rows(pieces(data, 4))]
    first = rows[0]
    assert isinstance(first, dict)
    assert (code_of(first["a"]), first["b"]) == ("json.utf8.invalid", [1])
    assert rows[1] == {"a": "\u00e9"}
    assert rows[2] == {"a": "\udced"}  # an escape is no byte: the form refuses it as a surrogate


BROKEN = {
    "nothing": (b"", "json.syntax"),
    "an object": (b'{"a": 1}', "json.syntax"),
    "half an array": (b'[{"a": 1}, {"a"', "json.syntax"),
    "an array without its end": (b"[1, 2", "json.syntax"),
    "an array that ends in a comma": (b"[1, 2,", "json.syntax"),
    "a comma before the end": (b"[1,]", "json.syntax"),
    "two values without a comma": (b"[1 2]", "json.syntax"),
    "something behind the end": (b"[1] 2", "json.syntax"),
    "a string that never ends": (b'["' + b"a" * 100, "json.syntax"),
    "a word": (b"[yes, 1, 2, 3, 4, 5, 6, 7, 8, 9]", "json.syntax"),
    "a byte order mark": (b"\xef\xbb\xbf[1]", "json.bom"),
    "100,000 brackets": (b"[" * 100_000, "json.depth.exceeded"),
    "UTF-16": ("[1]".encode("utf-16-le"), "json.syntax"),
}


@pytest.mark.parametrize(("data", "code"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("size", [1 << 20, 5])
def test_a_file_without_structure_is_unreadable(data: bytes, code: str, size: int) -> None:
    with pytest.raises(Unreadable) as caught:
        list(array_rows(pieces(data, max(size, len(data) // 1000))))
    assert caught.value.code == code


NO_KEY = {
    "an array": (b"[]", "json.syntax"),
    "another key": (b'{"rows": []}', "row.field.missing"),
    "a number under the key": (b'{"data": 7}', "json.syntax"),
    "the key twice": (b'{"data": [], "data": []}', "json.key.duplicate"),
    "a key that is a number": (b"{1: []}", "json.syntax"),
    "no colon": (b'{"data" []}', "json.syntax"),
    "a comma before the end": (b'{"data": [],}', "json.syntax"),
    "no comma": (b'{"data": [] "b": 1}', "json.syntax"),
    "no end": (b'{"data": []', "json.syntax"),
}


@pytest.mark.parametrize(("data", "code"), NO_KEY.values(), ids=NO_KEY)
def test_a_file_without_the_key_is_unreadable(data: bytes, code: str) -> None:
    with pytest.raises(Unreadable) as caught:
        list(keyed_items([data], "data"))
    assert caught.value.code == code


def test_a_row_of_an_array_over_the_cap_is_unreadable() -> None:
    with pytest.raises(Unreadable) as caught:
        list(array_rows(pieces(b'[1, "' + b"a" * 300 + b'"]', 8), max_bytes=100))
    assert caught.value.code == "bytes.size.exceeded"


def test_an_error_names_its_place_in_the_file() -> None:
    with pytest.raises(Unreadable, match=r"at character 33$"):
        list(array_rows(pieces(b'[1111111111, 2222222222, {"a": 1 1}, 3333333333, 44444444444]', 4)))


def test_a_document_of_64_mib_is_under_the_cap() -> None:
    assert MAX_ROW_BYTES >= 2 * (64 << 20)


def peak_of(reader: Iterator[object]) -> int:
    tracemalloc.start()
    for _ in reader:
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("kind", ["lines", "array", "key"])
def test_memory_does_not_grow_with_the_file(kind: str) -> None:
    """Ten times the rows, the same peak; a reader that keeps rows would need ten times as much."""
    row = dump({"id": "a", "text": "x" * 20_000})

    def chunks(rows: int) -> Iterator[bytes]:
        yield {"lines": b"", "array": b"[", "key": b'{"data": ['}[kind]
        for number in range(rows):
            yield (b"" if number == 0 else b"\n" if kind == "lines" else b",") + row
        yield {"lines": b"", "array": b"]", "key": b"]}"}[kind]

    def read(rows: int) -> Iterator[object]:
        if kind == "lines":
            return line_rows(chunks(rows))
        return array_rows(chunks(rows)) if kind == "array" else keyed_items(chunks(rows), "data")

    few, many = peak_of(read(30)), peak_of(read(300))
    assert many < 2 * few
    assert few < 30 * len(row)
