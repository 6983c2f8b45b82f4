"""Rows on disk: what goes in comes out, and what an interruption leaves is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.build.base import Piece, ShownSource, StageItems
from bench.plural import number_of
from bench.records import BuildRow, CellState, RequestRow, ResponseRow, SampleRow
from bench.records_io import (
    RowError,
    RowWriter,
    append_value,
    read_rows,
    read_values,
    row_line,
    rows_bytes,
    set_torn_tail_aside,
)


def response(request_id: str = "r1", text: str = "x", attempt: int = 1) -> ResponseRow:
    return ResponseRow(
        request_id=request_id,
        attempt=attempt,
        status="ok",
        text=text,
        output_ids_digest="b3:0",
        n_output=1,
        measured_cached=0,
        ttft_us=1,
        tpot_us=None,
        e2e_us=2,
        queue_us=0,
        finish_reason="stop",
        error=None,
    )


REQUEST = RequestRow(
    request_id="r1",
    request_digest="d",
    phase="quality",
    sample_id="s",
    arm_id="a",
    cell_id="a.off",
    salt=None,
    prompt_capsule=None,
    provider="local",
    ids_digest="i",
    n_prompt=3,
    segments=(Piece(kind="bos", n=1), Piece(kind="joined", n=2)),
    predicted_cached=0,
    predicted_reason=None,
)
ROWS = (
    REQUEST,
    response(),
    SampleRow(
        sample_id="s",
        question="q",
        project="p",
        answers=("a",),
        gold_spans=(("b3:0", 1, 2),),
        sources=(("doc", "b3:0"),),
        distractors=(),
        expired=(),
        denied=("d",),
    ),
    BuildRow(
        sample_id="s",
        arm_id="a",
        status="ok",
        error=None,
        prompt_capsule=None,
        evidence_capsules=(),
        ids_digest="i",
        n_prompt=3,
        pieces=(Piece(kind="item", n=3, ref="x"),),
        shown=(ShownSource(number=1, doc_id="d", source="b3:0", ranges=((0, 4), (6, 8))),),
        stages=(StageItems(stage="candidates", items=("x",), tokens=3),),
        silent_omissions=0,
        silent_tokens=0,
        omissions=(("budget.limit", 1, 2),),
        laws=(("ids", True),),
        flags=(),
        compressor_us=0,
    ),
    CellState(
        cell_id="a.off",
        phase="quality",
        reset_verified=True,
        hits_before=0,
        hits_after=0,
        expected_hits=0,
        void=False,
        code=None,
    ),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: type(row).__name__)
def test_every_row_reads_back_as_it_was_written(row: object, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(row_line(row) * 2)
    assert read_rows(path, type(row)) == [row, row]


def test_a_request_line_has_exactly_the_documented_segments() -> None:
    assert b'"segments":[{"kind":"bos","n":1},{"kind":"joined","n":2}]' in row_line(REQUEST)


@pytest.mark.parametrize("text", ["\u2028\x85\x00", "\ufffe", "\U0001f9ea", "lone \ud800 surrogate", 'q"\\'])
def test_any_text_that_a_model_answers_survives(text: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(row_line(response(text=text)))
    assert path.read_bytes().count(b"\n") == 1
    assert read_rows(path, ResponseRow)[0].text == text


def test_a_missing_file_has_no_rows(tmp_path: Path) -> None:
    assert read_rows(tmp_path / "none.jsonl", ResponseRow) == []
    assert set_torn_tail_aside(tmp_path / "none.jsonl") == 0


def test_cut_at_every_byte_the_whole_lines_stay_and_the_tail_is_set_aside(tmp_path: Path) -> None:
    first, second = row_line(response("r1")), row_line(response("r2"))
    for cut in range(len(first) + len(second) + 1):
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes((first + second)[:cut])
        whole = (cut >= len(first)) + (cut >= len(first) + len(second))
        torn = cut - (len(first) if whole else 0) - (len(second) if whole == 2 else 0)
        if torn:
            with pytest.raises(RowError, match=f"torn tail of {number_of(torn, 'byte')}"):
                read_rows(path, ResponseRow)
        assert set_torn_tail_aside(path) == torn
        assert [row.request_id for row in read_rows(path, ResponseRow)] == ["r1", "r2"][:whole]
        aside = path.with_name(path.name + ".torn")
        assert (aside.read_bytes() if aside.exists() else b"") == (
            (first + second)[cut - torn : cut] + b"\n" if torn else b""
        )


LINE = row_line(response())
BAD_LINES = {
    "no JSON": (b"{\n", "Expecting property name"),
    "an array": (b"[]\n", "expected an object, found list"),
    "a missing field": (LINE.replace(b'"attempt":1,', b""), "missing field 'attempt'"),
    "an unknown field": (LINE.replace(b'"attempt":1', b'"attempt":1,"x":1'), "unknown field 'x'"),
    "a key twice": (LINE.replace(b'"attempt":1', b'"attempt":1,"attempt":1'), "a key stands twice"),
    "a float": (LINE.replace(b'"attempt":1', b'"attempt":1.0'), "found a float 1.0"),
    "a constant": (LINE.replace(b'"attempt":1', b'"attempt":NaN'), "found a constant NaN"),
    "a boolean for a number": (LINE.replace(b'"attempt":1', b'"attempt":true'), "expected int, found bool"),
    "null where it may not be": (
        LINE.replace(b'"attempt":1', b'"attempt":null'),
        "expected int, found NoneType",
    ),
    "not UTF-8": (LINE.replace(b'"text":"x"', b'"text":"\xff"'), "can't decode"),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_is_refused_with_file_and_line(name: str, tmp_path: Path) -> None:
    line, expected = BAD_LINES[name]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(LINE + line)
    with pytest.raises(RowError) as caught:
        read_rows(path, ResponseRow)
    assert f"{path}:2: " in str(caught.value)
    assert expected in str(caught.value)


def test_a_writer_appends_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    for request_id in ("r1", "r2"):
        with RowWriter(path) as writer:
            writer.append(response(request_id))
            writer.flush()
    assert path.read_bytes() == rows_bytes([response("r1"), response("r2")])


def test_a_full_disk_is_an_error_of_the_writer() -> None:
    with RowWriter(Path("/dev/full")) as writer, pytest.raises(OSError, match="No space left"):
        writer.append(response())


def test_plain_values_are_lines_too(tmp_path: Path) -> None:
    path = tmp_path / "values.jsonl"
    append_value(path, {"a": 1})
    append_value(path, {"b": ["x"]})
    assert read_values(path) == [{"a": 1}, {"b": ["x"]}]
