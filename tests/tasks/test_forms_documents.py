"""Forms whose gold lies in listed documents: a good row of each worked out by hand, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tasks.base import TaskSpec, TextRange
from tasks.fields import RowRefused
from tasks.hotpotqa import hotpot_row
from tasks.listed import Made
from tasks.musique import musique_row
from tasks.quotesum import quotes, quotesum_row
from tasks.ramdocs import ramdocs_row

Make = Callable[..., TaskSpec]
Quoted = Callable[[Made], list[str]]
Row = dict[str, Any]

HOTPOT: Row = {
    "_id": "h1",
    "question": "Where is it?",
    "answer": "Oslo",
    "context": [["Lamp", ["The lamp is old.", " It is in Oslo."]], ["Mill", ["A mill", ". It turns."]]],
    "supporting_facts": [["Lamp", 1], ["Mill", 0]],
}
MUSIQUE: Row = {
    "id": "2hop__1",
    "question": "Who built it?",
    "answer": "Ada",
    "answer_aliases": ["A. L.", "Ada"],
    "answerable": True,
    "paragraphs": [
        {"idx": 0, "title": "Lamp", "paragraph_text": "It is in Oslo.", "is_supporting": True},
        {"idx": 1, "title": "Oslo", "paragraph_text": "Ada built Oslo. Ada slept.", "is_supporting": True},
        {"idx": 2, "title": "Mill", "paragraph_text": "It turns.", "is_supporting": False},
    ],
    "question_decomposition": [
        {"id": 1, "question": "a", "answer": "Oslo", "paragraph_support_idx": 0},
        {"id": 2, "question": "b", "answer": "Ada", "paragraph_support_idx": 1},
    ],
}
RAMDOCS: Row = {
    "question": "How many?",
    "gold_answers": ["Seven", "9"],
    "wrong_answers": ["8"],
    "documents": [
        {"text": "There are seven of them.", "type": "correct", "answer": "Seven"},
        {"text": "There are 9, and 9 again.", "type": "correct", "answer": "9"},
        {"text": "There are many.", "type": "correct", "answer": "11"},
        {"text": "There are 8.", "type": "misinfo", "answer": "8"},
        {"text": "Nothing here.", "type": "noise", "answer": "unknown"},
    ],
}
QUOTESUM: Row = {
    "unique_id": "q_0",
    "question": "What?",
    "summary": "It is [ 1 the LAMP of ] [ 2 Oslo ] and [ 2 burns ] .",
    "covered_short_answers": "[ 2 Oslo ]",
    **{f"{kind}{n}": "" for n in range(1, 9) for kind in ("title", "source")},
    "title1": "Lamp",
    "source1": "Here is the\n lamp of the town.",
    "title2": "Oslo",
    "source2": "It burns. It burns.",
}


def at(doc_id: str, start: int, end: int) -> TextRange:
    return TextRange(doc_id=doc_id, start=start, end=end)


def test_hotpot_sentences_are_joined_as_they_are(make_spec: Make, quoted: Quoted) -> None:
    made = hotpot_row(HOTPOT, make_spec(), "row 0")
    assert [doc.text for doc in made.sample.input.sources] == [
        "The lamp is old. It is in Oslo.",
        "A mill. It turns.",
    ]
    assert quoted(made) == ["It is in Oslo.", "A mill"]
    assert made.sample.gold.spans[0] == at("paragraph-01", 17, 31)


def test_hotpot_rows_in_the_hubs_columns_are_the_same(make_spec: Make) -> None:
    columns = {
        "id": "h1",
        "question": "Where is it?",
        "answer": "Oslo",
        "context": {
            "title": ["Lamp", "Mill"],
            "sentences": [["The lamp is old.", " It is in Oslo."], ["A mill", ". It turns."]],
        },
        "supporting_facts": {"title": ["Lamp", "Mill"], "sent_id": [1, 0]},
    }
    assert hotpot_row(columns, make_spec(), "row 0") == hotpot_row(HOTPOT, make_spec(), "row 9")
    assert hotpot_row(HOTPOT, make_spec(), "row 0").value == columns


def test_a_hotpot_row_without_id_is_named_by_its_place(make_spec: Make) -> None:
    row = {name: part for name, part in HOTPOT.items() if name != "_id"}
    assert hotpot_row(row, make_spec(), "row 12").sample.input.sample_id == "row-12"


def test_musique_gold_is_each_hops_answer_in_its_paragraph(make_spec: Make) -> None:
    made = musique_row(MUSIQUE, make_spec(), "row 0")
    assert made.sample.gold.spans == (at("paragraph-01", 9, 13), at("paragraph-02", 0, 3))
    assert made.sample.gold.answers == ("Ada", "A. L.")
    assert made.sample.gold.distractors == ("paragraph-03",)


def test_a_musique_row_that_is_not_answerable_has_no_gold(make_spec: Make) -> None:
    gold = musique_row({**MUSIQUE, "answerable": False}, make_spec(), "row 0").sample.gold
    assert (gold.answers, gold.spans) == ((), ())


def test_ramdocs_gold_contradictions_and_repairs(make_spec: Make, quoted: Quoted) -> None:
    made = ramdocs_row(RAMDOCS, make_spec(), "line 1")
    assert quoted(made) == ["seven", "9"]
    assert made.repairs == ("caseless", "left_out")
    assert made.sample.gold.distractors == ("document-04", "document-05")
    (pair,) = made.sample.input.contradictions
    assert (pair.left, pair.right, pair.kind) == (
        at("document-01", 10, 15),
        at("document-04", 10, 11),
        "labelled",
    )


def test_quotesum_quotes_are_found_in_source_or_title_or_folded(make_spec: Make, quoted: Quoted) -> None:
    made = quotesum_row(QUOTESUM, make_spec(), "line 1")
    assert quoted(made) == ["the\n lamp of", "Oslo", "burns"]
    assert [span.doc_id for span in made.sample.gold.spans] == ["source-1", "source-2-title", "source-2"]
    assert made.repairs == ("folded",)
    assert made.sample.gold.answers == ("Oslo",)
    assert [doc.doc_id for doc in made.sample.input.sources] == [
        "source-1",
        "source-1-title",
        "source-2",
        "source-2-title",
    ]


def test_inline_quotes_are_read_with_their_numbers() -> None:
    assert quotes("a [ 1 b ] c [ 12 d ] [2 e] [ 3 f [g] ]") == ((1, "b"), (3, "f [g]"))


def without(row: Row, name: str) -> Row:
    return {key: part for key, part in row.items() if key != name}


def document(**changes: Any) -> Row:
    return RAMDOCS | {"documents": [{**RAMDOCS["documents"][0], **changes}]}


def hop(**changes: Any) -> Row:
    return MUSIQUE | {"question_decomposition": [{**MUSIQUE["question_decomposition"][0], **changes}]}


BAD: dict[str, tuple[Any, Row, str]] = {
    "hotpot: no context": (hotpot_row, without(HOTPOT, "context"), "row.field.missing"),
    "hotpot: a pair of three": (hotpot_row, HOTPOT | {"context": [["a", ["b"], 1]]}, "row.field.type"),
    "hotpot: columns of two lengths": (
        hotpot_row,
        HOTPOT | {"context": {"title": ["a"], "sentences": []}},
        "row.field.value",
    ),
    "hotpot: an empty paragraph": (hotpot_row, HOTPOT | {"context": [["Lamp", [" "]]]}, "text.empty"),
    "hotpot: a sentence too many": (
        hotpot_row,
        HOTPOT | {"supporting_facts": [["Lamp", 2]]},
        "gold.range",
    ),
    "hotpot: a negative sentence": (
        hotpot_row,
        HOTPOT | {"supporting_facts": [["Lamp", -1]]},
        "gold.range",
    ),
    "hotpot: an unknown title": (
        hotpot_row,
        HOTPOT | {"supporting_facts": [["Ship", 0]]},
        "gold.source.missing",
    ),
    "hotpot: no fact": (hotpot_row, HOTPOT | {"supporting_facts": []}, "gold.missing"),
    "musique: an unknown paragraph": (musique_row, hop(paragraph_support_idx=9), "gold.source.missing"),
    "musique: an answer that is elsewhere": (musique_row, hop(answer="Ada"), "gold.mismatch"),
    "musique: an empty answer": (musique_row, hop(answer=" "), "gold.mismatch"),
    "musique: no hop": (musique_row, MUSIQUE | {"question_decomposition": []}, "gold.missing"),
    "musique: a number as answerable": (musique_row, MUSIQUE | {"answerable": 1}, "row.field.type"),
    "musique: an idx twice": (
        musique_row,
        MUSIQUE | {"paragraphs": [MUSIQUE["paragraphs"][0]] * 2},
        "row.id.duplicate",
    ),
    "ramdocs: no right document with its answer": (ramdocs_row, document(answer="12"), "gold.mismatch"),
    "ramdocs: an empty answer": (ramdocs_row, document(answer=""), "gold.mismatch"),
    "ramdocs: an unknown type": (ramdocs_row, document(type="maybe"), "row.field.value"),
    "ramdocs: a control character": (ramdocs_row, document(text="seven\x00"), "text.control"),
    "quotesum: a quote that is nowhere": (
        quotesum_row,
        QUOTESUM | {"summary": "[ 1 the ship ]"},
        "gold.mismatch",
    ),
    "quotesum: a quote of a missing source": (
        quotesum_row,
        QUOTESUM | {"summary": "[ 3 Oslo ]"},
        "gold.source.missing",
    ),
    "quotesum: no quote": (quotesum_row, QUOTESUM | {"summary": "It is."}, "gold.missing"),
}


@pytest.mark.parametrize(("form", "row", "code"), BAD.values(), ids=BAD)
def test_a_bad_row_is_refused_with_its_code(make_spec: Make, form: Any, row: Row, code: str) -> None:
    with pytest.raises(RowRefused) as caught:
        form(row, make_spec(), "row 0")
    assert caught.value.code == code
