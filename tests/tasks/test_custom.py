"""Own data: the form line by line, labels, gold, examples, and every way to be refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capsules.canonical import canonical_bytes
from capsules.content_id import content_id
from tasks.base import TaskData, TaskError, TaskSpec, TextRange
from tasks.registry import load_task

Make = Callable[..., TaskSpec]
Write = Callable[..., Path]
NOW = "2026-06-01T00:00:00Z"
TEXT = "The lamp stands 41\u00a0m high. It was lit in 1891."


def row(**changes: Any) -> dict[str, Any]:
    good = {
        "id": "r1",
        "question": "How high?",
        "sources": [{"id": "guide", "text": TEXT}],
        "answers": ["41\u00a0m"],
        "spans": [{"source": "guide", "start": 0, "end": 26}],
    }
    return {**good, **changes}


def source(**changes: Any) -> dict[str, Any]:
    return row(sources=[{"id": "guide", "text": TEXT, **changes}])


@pytest.fixture
def load(make_spec: Make, write_lines: Write) -> Callable[..., TaskData]:
    """Load a file of these lines."""

    def load_lines(*lines: object, **changes: Any) -> TaskData:
        options = {"file": str(write_lines(*lines)), **changes.pop("options", {})}
        return load_task(make_spec(name="custom", options=options, **changes))

    return load_lines


def test_a_row_becomes_a_sample(load: Callable[..., TaskData]) -> None:
    data = load(row(required=[{"source": "guide", "start": 0, "end": 8}]))
    (sample,) = data.samples
    assert sample.input.sample_id == "r1"
    assert sample.input.sources[0].text == TEXT
    assert sample.input.required == (TextRange(doc_id="guide", start=0, end=8),)
    assert sample.gold.answers == ("41\u00a0m",)
    assert sample.gold.spans == (TextRange(doc_id="guide", start=0, end=26),)
    assert (data.dataset, data.license, data.origin) == ("custom", "unspecified", "local JSON Lines")


def test_what_a_source_does_not_say_is_public_of_the_runs_project_and_never_expires(
    load: Callable[..., TaskData],
) -> None:
    (doc,) = load(row()).samples[0].input.sources
    assert (doc.project, doc.level, doc.as_of, doc.expires_at, doc.title) == (
        "bench",
        "public",
        None,
        None,
        None,
    )
    assert (doc.origin.dataset, doc.origin.row, doc.license) == ("custom", "guide", "unspecified")


def test_labels_and_times_are_taken_from_the_source(load: Callable[..., TaskData]) -> None:
    labels = {
        "title": "A guide",
        "project": "harbour",
        "level": "restricted",
        "as_of": "2026-01-02T00:00:00Z",
        "expires_at": "2027-01-02T00:00:00Z",
        "license": "MIT",
    }
    (doc,) = load(source(**labels)).samples[0].input.sources
    assert {name: getattr(doc, name) for name in labels} == labels


def test_only_id_question_and_sources_are_needed(load: Callable[..., TaskData]) -> None:
    line = {"id": "r", "question": "Q?", "sources": [{"id": "a", "text": "b"}]}
    sample = load(line).samples[0]
    assert (sample.gold.answers, sample.gold.spans, sample.input.required) == ((), (), ())
    assert load({**line, "answers": None, "spans": None, "required": None}).samples[0] == sample


def test_expired_and_denied_sources_are_known_to_scorers(load: Callable[..., TaskData]) -> None:
    sources = [
        {"id": "past", "text": "a", "expires_at": "2026-05-31T23:59:59Z"},
        {"id": "now", "text": "b", "expires_at": "2026-06-01T00:00:00Z"},
        {"id": "later", "text": "c", "expires_at": "2026-06-01T00:00:01Z"},
        {"id": "internal", "text": "d", "level": "internal"},
        {"id": "confidential", "text": "e", "level": "confidential"},
        {"id": "foreign", "text": "f", "project": "other"},
    ]
    line = {"id": "r", "question": "Q?", "sources": sources}
    gold = load(line).samples[0].gold
    assert gold.expired == ("past", "now")
    assert gold.denied == ("confidential", "foreign")
    assert load(line, options={"max_level": "public"}).samples[0].gold.denied == (
        "internal",
        "confidential",
        "foreign",
    )


def test_offsets_count_code_points_and_a_byte_order_mark(load: Callable[..., TaskData]) -> None:
    line = {
        "id": "r",
        "question": "Q?",
        "sources": [{"id": "a", "text": "\ufeff\U0001f9ea gold"}],
        "spans": [{"source": "a", "start": 3, "end": 7}],
    }
    sample = load(line).samples[0]
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
    load: Callable[..., TaskData], line: object, where: str, code: str
) -> None:
    data = load(row(id="before"), line, row(id="after"))
    assert [one.input.sample_id for one in data.samples] == ["before", "after"]
    assert [(one.row, one.where, one.code) for one in data.refused] == [("line 2", where, code)]
    with pytest.raises(TaskError, match=re_code(code)):
        load(row(id="before"), line, strict=True)


def re_code(code: str) -> str:
    return code.replace(".", r"\.")


def test_the_text_is_46_code_points_long() -> None:
    assert len(TEXT) == 46  # "past the end" above is one more


def test_of_two_rows_with_one_id_the_first_stays(load: Callable[..., TaskData]) -> None:
    data = load(row(question="First?"), row(question="Second?"))
    assert [one.input.question for one in data.samples] == ["First?"]
    assert data.refused[0].code == "row.id.duplicate"


def test_examples_are_the_last_rows_with_gold_and_are_not_evaluated(load: Callable[..., TaskData]) -> None:
    rows = [row(id=name, question=f"{name}?") for name in "abcdef"]
    rows[5]["spans"] = []
    data = load(*rows, examples=2)
    assert [one.input.sample_id for one in data.examples] == ["e", "d"]
    assert [one.input.sample_id for one in data.samples] == ["a", "b", "c", "f"]
    assert data.reserved == 2


def test_an_example_never_shows_what_is_denied_expired_or_too_long(load: Callable[..., TaskData]) -> None:
    rows = [row(id=name, question=f"{name}?") for name in "abcdefgh"]
    for line, label in zip(
        rows[5:], ({"level": "restricted"}, {"project": "x"}, {"expires_at": NOW}), strict=True
    ):
        line["sources"] = [{"id": "guide", "text": TEXT, **label}]
    rows[4]["sources"] = [{"id": "guide", "text": TEXT * 3}]
    assert [one.input.sample_id for one in load(*rows, examples=1).examples] == ["e"]
    assert [
        one.input.sample_id for one in load(*rows, examples=1, options={"example_chars": 46}).examples
    ] == ["d"]


def test_an_example_shows_its_gold_sources_alone(load: Callable[..., TaskData]) -> None:
    line = row(
        id="b", question="b?", sources=[{"id": "log", "text": "Nothing."}, {"id": "guide", "text": TEXT}]
    )
    (example,) = load(row(id="a"), line, examples=1).examples
    assert [doc.doc_id for doc in example.input.sources] == ["guide"]


def test_examples_are_at_most_half_of_the_rows(load: Callable[..., TaskData]) -> None:
    data = load(*(row(id=name, question=f"{name}?") for name in "abc"), examples=5)
    assert [one.input.sample_id for one in data.examples] == ["c"]


def test_no_evaluated_row_asks_the_question_of_an_example(load: Callable[..., TaskData]) -> None:
    rows = [row(id=name, question=f"{name}?") for name in "abcd"]
    data = load(*rows, row(id="e", question="twice?"), row(id="f", question="twice?"), examples=2)
    assert [one.input.sample_id for one in data.examples] == ["f", "d"]
    assert [one.input.sample_id for one in data.samples] == ["a", "b", "c"]
    assert data.reserved == 3


def test_a_question_of_more_than_half_of_the_rows_is_no_example(load: Callable[..., TaskData]) -> None:
    data = load(row(id="a", question="Other?"), row(id="b"), row(id="c"), row(id="d"), examples=1)
    assert [one.input.sample_id for one in data.examples] == ["a"]


def test_the_digest_covers_the_rows_used_in_file_order(load: Callable[..., TaskData]) -> None:
    rows = [row(id=name, question=f"{name}?") for name in "abcd"]
    data = load(*rows, limit=2, examples=1)
    assert data.rows == 3
    assert data.content_digest == content_id(canonical_bytes([rows[0], rows[1], rows[3]]))


def test_the_digest_is_of_values_not_of_bytes(load: Callable[..., TaskData]) -> None:
    one = load('{"id": "r", "question": "Q?", "sources": [{"id": "a", "text": "é"}]}')
    other = load('{"sources":[{"text":"\\u00e9","id":"a"}],"question":"Q?","id":"r"}\r')
    assert one.content_digest == other.content_digest


DOCS = [{"id": "guide", "text": TEXT}, {"id": "log", "text": "The log is lost.", "level": "restricted"}]


def asks(name: str, **changes: Any) -> dict[str, Any]:
    line = row(id=name, question=f"{name}?", **changes)
    del line["sources"]
    return line


@pytest.fixture
def load_shared(make_spec: Make, write_lines: Write) -> Callable[..., TaskData]:
    """Load lines that share a corpus of these documents."""

    def load_lines(docs: list[object], *lines: object, **changes: Any) -> TaskData:
        options = {
            "file": str(write_lines(*lines)),
            "corpus": str(write_lines(*docs, name="corpus.jsonl")),
        }
        return load_task(make_spec(name="custom", options=options, **changes))

    return load_lines


def test_lines_may_share_a_corpus(load_shared: Callable[..., TaskData]) -> None:
    required = [{"source": "guide", "start": 0, "end": 8}]
    data = load_shared(DOCS, asks("a", required=required), asks("b"), asks("c"), examples=1)
    assert [doc.doc_id for doc in data.corpus] == ["guide", "log"]
    assert [one.input.sources for one in data.samples] == [(), ()]
    assert data.samples[0].input.required == (TextRange(doc_id="guide", start=0, end=8),)
    assert data.samples[0].gold.denied == ("log",)
    (example,) = data.examples
    assert [doc.doc_id for doc in example.input.sources] == ["guide"]  # its gold, of the corpus
    used = [asks("a", required=required), asks("b"), asks("c"), *DOCS]
    assert data.content_digest == content_id(canonical_bytes(used))
    assert (data.rows, data.reserved) == (5, 1)


def test_bad_lines_of_a_corpus_are_refused_with_their_place(load_shared: Callable[..., TaskData]) -> None:
    docs = [*DOCS, {"id": "guide", "text": "Again."}, "{", {"id": "x", "text": " "}]
    data = load_shared(
        docs, asks("a"), row(id="own"), asks("b", spans=[{"source": "x", "start": 0, "end": 1}])
    )
    assert [(one.row, one.where, one.code) for one in data.refused] == [
        ("corpus line 3", "/id", "row.id.duplicate"),
        ("corpus line 4", "", "json.syntax"),
        ("corpus line 5", "/text", "text.empty"),
        ("line 2", "/sources", "row.field.unknown"),
        ("line 3", "/spans/0/source", "gold.source.missing"),
    ]
    with pytest.raises(TaskError, match=r"at least one source in task\.options\.corpus"):
        load_shared(["{"], asks("a"))
    with pytest.raises(TaskError, match="strict"):
        load_shared([*DOCS, "{"], asks("a"), strict=True)


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


def test_a_file_without_one_good_row_is_an_error(load: Callable[..., TaskData]) -> None:
    with pytest.raises(TaskError, match=r"no sample .*1 refused, the first: line 1: json\.syntax"):
        load("{")


def test_the_line_of_the_documentation_is_of_the_form(load: Callable[..., TaskData]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "own-data.md").read_text(encoding="utf-8")
    block = page.split("```json\n")[1].split("```")[0]
    data = load(block.replace("\n", " "))
    assert not data.refused
    (sample,) = data.samples
    (span,) = sample.gold.spans
    assert sample.gold.answers[0] in sample.input.sources[0].text[span.start : span.end]
    assert sample.gold.denied == ("memo",)
