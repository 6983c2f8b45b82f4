"""Own data: the form line by line, labels, gold, examples, and every way to be refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from own_rows import TEXT, row

from tasks.base import TaskData, TaskError, TaskSpec, TextRange
from tasks.registry import load_task

Make = Callable[..., TaskSpec]
Write = Callable[..., Path]


def source(**changes: Any) -> dict[str, Any]:
    return row(sources=[{"id": "guide", "text": TEXT, **changes}])


def test_a_row_becomes_a_sample(load_own: Callable[..., TaskData]) -> None:
    data = load_own(row(required=[{"source": "guide", "start": 0, "end": 8}]))
    (sample,) = data.samples
    assert sample.input.sample_id == "r1"
    assert sample.input.sources[0].text == TEXT
    assert sample.input.required == (TextRange(doc_id="guide", start=0, end=8),)
    assert sample.gold.answers == ("41\u00a0m",)
    assert sample.gold.spans == (TextRange(doc_id="guide", start=0, end=26),)
    assert (data.dataset, data.license, data.origin) == ("custom", "unspecified", "local JSON Lines")


def test_what_a_source_does_not_say_is_public_of_the_runs_project_and_never_expires(
    load_own: Callable[..., TaskData],
) -> None:
    (doc,) = load_own(row()).samples[0].input.sources
    assert (doc.project, doc.level, doc.as_of, doc.expires_at, doc.title) == (
        "bench",
        "public",
        None,
        None,
        None,
    )
    assert (doc.origin.dataset, doc.origin.row, doc.license) == ("custom", "guide", "unspecified")


def test_labels_and_times_are_taken_from_the_source(load_own: Callable[..., TaskData]) -> None:
    labels = {
        "title": "A guide",
        "project": "harbour",
        "level": "restricted",
        "as_of": "2026-01-02T00:00:00Z",
        "expires_at": "2027-01-02T00:00:00Z",
        "license": "MIT",
    }
    (doc,) = load_own(source(**labels)).samples[0].input.sources
    assert {name: getattr(doc, name) for name in labels} == labels


def test_only_id_question_and_sources_are_needed(load_own: Callable[..., TaskData]) -> None:
    line = {"id": "r", "question": "Q?", "sources": [{"id": "a", "text": "b"}]}
    sample = load_own(line).samples[0]
    assert (sample.gold.answers, sample.gold.spans, sample.input.required) == ((), (), ())
    assert load_own({**line, "answers": None, "spans": None, "required": None}).samples[0] == sample


def test_expired_and_denied_sources_are_known_to_scorers(load_own: Callable[..., TaskData]) -> None:
    sources = [
        {"id": "past", "text": "a", "expires_at": "2026-05-31T23:59:59Z"},
        {"id": "now", "text": "b", "expires_at": "2026-06-01T00:00:00Z"},
        {"id": "later", "text": "c", "expires_at": "2026-06-01T00:00:01Z"},
        {"id": "internal", "text": "d", "level": "internal"},
        {"id": "confidential", "text": "e", "level": "confidential"},
        {"id": "foreign", "text": "f", "project": "other"},
    ]
    line = {"id": "r", "question": "Q?", "sources": sources}
    gold = load_own(line).samples[0].gold
    assert gold.expired == ("past", "now")
    assert gold.denied == ("confidential", "foreign")
    assert load_own(line, options={"max_level": "public"}).samples[0].gold.denied == (
        "internal",
        "confidential",
        "foreign",
    )


def test_offsets_count_code_points_and_a_byte_order_mark(load_own: Callable[..., TaskData]) -> None:
    line = {
        "id": "r",
        "question": "Q?",
        "sources": [{"id": "a", "text": "\ufeff\U0001f9ea gold"}],
        "spans": [{"source": "a", "start": 3, "end": 7}],
    }
    sample = load_own(line).samples[0]
    assert sample.input.sources[0].text[3:7] == "gold"


BAD: dict[str, tuple[object, str, str]] = {
    "no JSON": ("{", "", "json.syntax"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "", "json.bom"),
    "bytes that are not UTF-8": (b'{"id": "\xff"}', "", "json.utf8.invalid"),
    "an array": ("[]", "", "row.field.type"),
    "NaN": ('{"id": NaN}', "/id", "json.constant"),
    "a duplicate key": ('{"id": "a", "id": "b"}', "", "json.key.duplicate"),
    "a lone surrogate": ('{"id": "\\ud800"}', "/id", "json.string.surrogate"),
    "an unknown key": (row(answer="41"), "/answer", "row.field.unknown"),
    "no question": ({"id": "a", "sources": [{"id": "a", "text": "b"}]}, "/question", "row.field.missing"),
    "an id that is a number": (row(id=7), "/id", "row.field.type"),
    "an empty question": (row(question="\n"), "/question", "text.empty"),
    "no source": (row(sources=[]), "/sources", "row.field.value"),
    "sources that are no array": (row(sources={}), "/sources", "row.field.type"),
    "a source that is text": (row(sources=["text"]), "/sources/0", "row.field.type"),
    "a misspelt expiry": (
        source(expire_at="2027-01-01T00:00:00Z"),
        "/sources/0/expire_at",
        "row.field.unknown",
    ),
    "a source without text": (row(sources=[{"id": "a"}]), "/sources/0/text", "row.field.missing"),
    "an empty source": (source(text=" "), "/sources/0/text", "text.empty"),
    "a control character": (source(text="a\x1bb"), "/sources/0/text", "text.control"),
    "an unknown level": (source(level="secret"), "/sources/0/level", "row.field.value"),
    "a date as expiry": (source(expires_at="2027-01-01"), "/sources/0/expires_at", "row.field.value"),
    "a date that does not exist": (
        source(as_of="2027-02-30T00:00:00Z"),
        "/sources/0/as_of",
        "row.field.value",
    ),
    "two sources with one id": (
        row(sources=[{"id": "a", "text": "b"}, {"id": "a", "text": "c"}]),
        "/sources",
        "row.id.duplicate",
    ),
    "an answer that is a number": (row(answers=[41]), "/answers/0", "row.field.type"),
    "an empty answer": (row(answers=[""]), "/answers/0", "text.empty"),
    "a span without end": (row(spans=[{"source": "guide", "start": 0}]), "/spans/0/end", "row.field.missing"),
    "a span in an unknown source": (
        row(spans=[{"source": "log", "start": 0, "end": 1}]),
        "/spans/0/source",
        "gold.source.missing",
    ),
    "an empty span": (row(spans=[{"source": "guide", "start": 3, "end": 3}]), "/spans/0", "gold.range"),
    "a span past the end": (
        row(spans=[{"source": "guide", "start": 3, "end": 47}]),
        "/spans/0",
        "gold.range",
    ),
    "a negative span": (
        row(required=[{"source": "guide", "start": -1, "end": 3}]),
        "/required/0",
        "gold.range",
    ),
    "a span with a key too many": (
        row(spans=[{"source": "guide", "start": 0, "end": 1, "unit": "byte"}]),
        "/spans/0/unit",
        "row.field.unknown",
    ),
}


@pytest.mark.parametrize(("line", "where", "code"), BAD.values(), ids=BAD)
def test_a_bad_line_is_refused_and_the_rest_goes_on(
    load_own: Callable[..., TaskData], line: object, where: str, code: str
) -> None:
    data = load_own(row(id="before"), line, row(id="after"))
    assert [one.input.sample_id for one in data.samples] == ["before", "after"]
    assert [(one.row, one.where, one.code) for one in data.refused] == [("line 2", where, code)]
    with pytest.raises(TaskError, match=re_code(code)):
        load_own(row(id="before"), line, strict=True)


def re_code(code: str) -> str:
    return code.replace(".", r"\.")


def test_the_text_is_46_code_points_long() -> None:
    assert len(TEXT) == 46  # "past the end" above is one more


def test_of_two_rows_with_one_id_the_first_stays(load_own: Callable[..., TaskData]) -> None:
    data = load_own(row(question="First?"), row(question="Second?"))
    assert [one.input.question for one in data.samples] == ["First?"]
    assert data.refused[0].code == "row.id.duplicate"


def test_a_file_is_found_below_the_data_folder(make_spec: Make, write_lines: Write) -> None:
    path = write_lines(row())
    spec = make_spec(name="custom", data_dir=str(path.parent), options={"file": path.name})
    assert len(load_task(spec).samples) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "docs/own-data.md"),
        ({"file": "/nowhere/own.jsonl"}, "/nowhere/own.jsonl"),
        ({"file": 7}, "expected str"),
        ({"path": "own.jsonl"}, "known: corpus, dataset, example_chars, file"),
        ({"file": "x", "max_level": "secret"}, "public, internal, confidential, restricted"),
    ],
)
def test_a_bad_setting_is_a_named_error(make_spec: Make, options: dict[str, object], message: str) -> None:
    with pytest.raises(TaskError, match=message):
        load_task(make_spec(name="custom", options=options))


def test_a_file_without_one_good_row_is_an_error(load_own: Callable[..., TaskData]) -> None:
    with pytest.raises(TaskError, match=r"no sample .*1 refused, the first: line 1: json\.syntax"):
        load_own("{")


def test_the_line_of_the_documentation_is_of_the_form(load_own: Callable[..., TaskData]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "own-data.md").read_text(encoding="utf-8")
    block = page.split("```json\n")[1].split("```")[0]
    data = load_own(block.replace("\n", " "))
    assert not data.refused
    (sample,) = data.samples
    (span,) = sample.gold.spans
    assert sample.gold.answers[0] in sample.input.sources[0].text[span.start : span.end]
    assert sample.gold.denied == ("memo",)
