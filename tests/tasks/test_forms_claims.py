"""Forms whose samples are claims with evidence: good rows worked out by hand, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tasks.base import TaskSpec, TextRange
from tasks.claims import claim_row, corpus_rows, fever_row, same_claims
from tasks.fields import RowRefused
from tasks.rows import RawRow

Make = Callable[..., TaskSpec]
Row = dict[str, Any]

FEVER: Row = {
    "rows": [
        {"id": "1", "label": "REFUTES", "claim": "It is new .", "evidence_sentence": "It is old ."},
        {"id": "2", "label": "SUPPORTS", "claim": "It is new .", "evidence_sentence": "It was just made ."},
    ]
}
CLAIM: Row = {
    "id": 4,
    "claim": "It grows.",
    "cited_doc_ids": [31],
    "evidence": {"31": [{"sentences": [1], "label": "SUPPORT"}]},
}
ABSTRACTS: dict[int, list[object]] = {31: ["It was seen.", "It grew."], 32: [""]}


def at(doc_id: str, start: int, end: int) -> TextRange:
    return TextRange(doc_id=doc_id, start=start, end=end)


def test_a_fever_claim_has_both_sides_as_a_labelled_contradiction(make_spec: Make) -> None:
    made = fever_row(FEVER, make_spec(), "line 1, line 2")
    assert made.sample.gold.answers == ("REFUTES", "SUPPORTS")
    (pair,) = made.sample.input.contradictions
    assert (pair.left, pair.right) == (at("evidence-2", 0, 18), at("evidence-1", 0, 11))
    one_side = fever_row({"rows": FEVER["rows"][:1]}, make_spec(), "line 1")
    assert one_side.sample.input.contradictions == ()


def test_rows_of_one_claim_are_gathered_in_order() -> None:
    raw = [
        RawRow(where=f"line {n}", value=v)
        for n, v in enumerate([{"claim": "a"}, {"claim": "b"}, 7, {"claim": "a"}])
    ]
    assert [(one.where, one.value) for one in same_claims(tuple(raw))] == [
        ("line 0, line 3", {"rows": [{"claim": "a"}, {"claim": "a"}]}),
        ("line 1", {"rows": [{"claim": "b"}]}),
        ("line 2", {"rows": [7]}),
    ]


def test_the_corpus_is_every_abstract_that_is_a_text(make_spec: Make) -> None:
    rows, refused = corpus_rows({**ABSTRACTS, 33: ["It", 7]}, make_spec())
    assert [(row.doc.doc_id, row.doc.text) for row in rows] == [
        ("citation-integrity-doc-31", "It was seen. It grew.")
    ]
    assert rows[0].value == {"doc_id": 31, "abstract": ABSTRACTS[31]}
    assert [(one.row, one.code) for one in refused] == [
        ("corpus document 32", "text.empty"),
        ("corpus document 33", "row.field.type"),
    ]


def test_claim_sentences_are_joined_with_spaces() -> None:
    row = claim_row(CLAIM, ABSTRACTS)
    assert row.context == "It was seen. It grew."
    assert [row.context[start:end] for start, end in row.ranges] == ["It grew."]
    assert [text for text, _ in row.answers] == ["SUPPORT"]


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ({"rows": [FEVER["rows"][0] | {"label": "MAYBE"}]}, "row.field.value"),
        ({"rows": [7]}, "row.field.type"),
    ],
)
def test_a_bad_fever_row_is_refused(make_spec: Make, row: Row, code: str) -> None:
    with pytest.raises(RowRefused) as caught:
        fever_row(row, make_spec(), "row 0")
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (CLAIM | {"cited_doc_ids": []}, "gold.source.missing"),
        (CLAIM | {"cited_doc_ids": [99]}, "gold.source.missing"),
        (CLAIM | {"cited_doc_ids": [32]}, "text.empty"),
        (CLAIM | {"evidence": {"31": [{"sentences": [2], "label": "SUPPORT"}]}}, "gold.range"),
        (CLAIM | {"evidence": {"31": {"sentences": [1]}}}, "row.field.type"),
    ],
)
def test_a_bad_claim_is_refused(row: Row, code: str) -> None:
    with pytest.raises(RowRefused) as caught:
        claim_row(row, ABSTRACTS)
    assert caught.value.code == code
