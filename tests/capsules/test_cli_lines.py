"""Limits of a line of the JSON-lines commands, and refusals that steer no terminal."""

from __future__ import annotations

import io
import json
import tracemalloc

import pytest

from capsules.__main__ import main
from capsules.cli_lines import MAX_LINE_BYTES, MAX_VALUES, run_lines


def answers(*lines: bytes) -> tuple[int, list[object]]:
    """Exit status and answers; an answer is the length of the text of its line."""
    out = io.BytesIO()
    status = run_lines(lambda value: len(str(value)), io.BytesIO(b"\n".join(lines)), out)
    return status, [json.loads(line) for line in out.getvalue().splitlines()]


def error(code: str, at: str = "") -> dict[str, object]:
    return {"error": {"code": code, "at": at}}


MANY = {
    "numbers": b"[" + b"1," * MAX_VALUES + b"1]",
    "arrays": b"[" + b"[]," * (MAX_VALUES // 2 + 1) + b"1]",
    "objects": b"[" + b"{}," * (MAX_VALUES // 2 + 1) + b"1]",
    "no JSON": b"," * (MAX_VALUES + 1),
}


@pytest.mark.parametrize("line", MANY.values(), ids=MANY)
def test_too_many_values_are_refused_before_they_take_memory(line: bytes) -> None:
    tracemalloc.start()
    found = answers(line, b'"next"')
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == (1, [error("schema.limit"), 4])
    assert peak < 5 * len(line)  # four million values alone take eight bytes each


def test_marks_inside_strings_are_no_values() -> None:
    text = ",[{" * (MAX_VALUES // 3 + 1) + '\\"' + ","
    assert answers(b'"' + text.encode() + b'"') == (0, [len(text) - 1])


def test_the_largest_source_fits_on_a_line() -> None:
    assert MAX_LINE_BYTES >= (64 << 20) * 3 // 2


@pytest.mark.parametrize("key", ["a\u202eb", "\x9b31m", "\x7f", "\u200b", "\U0001f600"])
def test_a_refusal_shows_a_key_in_ascii(key: str) -> None:
    data = json.JSONEncoder(ensure_ascii=False).encode({key: 1.5}).encode()
    out, err = io.BytesIO(), io.BytesIO()
    assert main(["canonical"], (io.BytesIO(data), out, err)) == 1
    assert main(["match"], (io.BytesIO(data), out, err)) == 1
    for written, expected in ((err, {"code": "json.number.float", "at": f"/{key}"}),):
        assert json.loads(written.getvalue()) == expected
    assert json.loads(out.getvalue()) == error("json.number.float", f"/{key}")
    for written in (out, err):
        assert all(byte == 10 or 32 <= byte < 127 for byte in written.getvalue())
