"""Own data: which rows become examples, what the digest covers, a corpus that rows share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from own_rows import TEXT, row

from capsules.canonical import canonical_bytes
from capsules.content_id import content_id
from tasks.base import TaskData, TaskError, TaskSpec, TextRange
from tasks.registry import load_task

Make = Callable[..., TaskSpec]
Write = Callable[..., Path]
NOW = "2026-06-01T00:00:00Z"


def test_examples_are_the_last_rows_with_gold_and_are_not_evaluated(
    load_own: Callable[..., TaskData],
) -> None:
    rows = [row(id=name, question=f"{name}?") for name in "abcdef"]
    rows[5]["spans"] = []
    data = load_own(*rows, examples=2)
    assert [one.input.sample_id for one in data.examples] == ["e", "d"]
    assert [one.input.sample_id for one in data.samples] == ["a", "b", "c", "f"]
    assert data.reserved == 2


def test_an_example_never_shows_what_is_denied_expired_or_too_long(load_own: Callable[..., TaskData]) -> None:
    rows = [row(id=name, question=f"{name}?") for name in "abcdefgh"]
    for line, label in zip(
        rows[5:], ({"level": "restricted"}, {"project": "x"}, {"expires_at": NOW}), strict=True
    ):
        line["sources"] = [{"id": "guide", "text": TEXT, **label}]
    rows[4]["sources"] = [{"id": "guide", "text": TEXT * 3}]
    assert [one.input.sample_id for one in load_own(*rows, examples=1).examples] == ["e"]
    assert [
        one.input.sample_id for one in load_own(*rows, examples=1, options={"example_chars": 46}).examples
    ] == ["d"]


def test_an_example_shows_its_gold_sources_alone(load_own: Callable[..., TaskData]) -> None:
    line = row(
        id="b", question="b?", sources=[{"id": "log", "text": "Nothing."}, {"id": "guide", "text": TEXT}]
    )
    (example,) = load_own(row(id="a"), line, examples=1).examples
    assert [doc.doc_id for doc in example.input.sources] == ["guide"]


def test_examples_are_at_most_half_of_the_rows(load_own: Callable[..., TaskData]) -> None:
    data = load_own(*(row(id=name, question=f"{name}?") for name in "abc"), examples=5)
    assert [one.input.sample_id for one in data.examples] == ["c"]


def test_no_evaluated_row_asks_the_question_of_an_example(load_own: Callable[..., TaskData]) -> None:
    rows = [row(id=name, question=f"{name}?") for name in "abcd"]
    data = load_own(*rows, row(id="e", question="twice?"), row(id="f", question="twice?"), examples=2)
    assert [one.input.sample_id for one in data.examples] == ["f", "d"]
    assert [one.input.sample_id for one in data.samples] == ["a", "b", "c"]
    assert data.reserved == 3


def test_a_question_of_more_than_half_of_the_rows_is_no_example(load_own: Callable[..., TaskData]) -> None:
    data = load_own(row(id="a", question="Other?"), row(id="b"), row(id="c"), row(id="d"), examples=1)
    assert [one.input.sample_id for one in data.examples] == ["a"]


def test_the_digest_covers_the_rows_used_in_file_order(load_own: Callable[..., TaskData]) -> None:
    rows = [row(id=name, question=f"{name}?") for name in "abcd"]
    data = load_own(*rows, limit=2, examples=1)
    assert data.rows == 3
    assert data.content_digest == content_id(canonical_bytes([rows[0], rows[1], rows[3]]))


def test_the_digest_is_of_values_not_of_bytes(load_own: Callable[..., TaskData]) -> None:
    one = load_own('{"id": "r", "question": "Q?", "sources": [{"id": "a", "text": "é"}]}')
    other = load_own('{"sources":[{"text":"\\u00e9","id":"a"}],"question":"Q?","id":"r"}\r')
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
