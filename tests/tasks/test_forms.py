"""Each form's row -> sample function: one good row worked out by hand, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tasks.base import TaskSpec, TextRange
from tasks.claims import claim_row, fever_row, same_claims
from tasks.clapnq import clapnq_row
from tasks.fields import RowRefused
from tasks.hotpotqa import hotpot_row
from tasks.listed import Made
from tasks.musique import musique_row
from tasks.nq_oracle import as_squad
from tasks.quotesum import quotes, quotesum_row
from tasks.ramdocs import ramdocs_row
from tasks.sources import RawRow
from tasks.squality import questions as story_questions
from tasks.squality import squality_row
from tasks.strict_json import Fault
from tasks.timeqa import questions as article_questions
from tasks.timeqa import timeqa_row

Make = Callable[..., TaskSpec]
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
TIMEQA: Row = {
    "index": "/wiki/Ada#P1",
    "paras": ["Ada .", "She worked in Oslo until 1891 ."],
    "number": 1,
    "pair": ["Where in 1890?", [{"para": 1, "from": 14, "end": 18, "answer": "Oslo"}]],
}
SQUALITY: Row = {
    "metadata": {"passage_id": "63833", "uid": "u"},
    "document": "A story.",
    "question": {"question_number": 2, "question_text": "Why?", "responses": [{"response_text": "So."}]},
}
FEVER: Row = {
    "rows": [
        {"id": "1", "label": "REFUTES", "claim": "It is new .", "evidence_sentence": "It is old ."},
        {"id": "2", "label": "SUPPORTS", "claim": "It is new .", "evidence_sentence": "It was just made ."},
    ]
}
CLAPNQ: Row = {
    "id": "c1",
    "input": "what is it",
    "passages": [{"title": "Lamp", "text": "One.  Two. Two.", "sentences": ["One.", "Two.", "Two."]}],
    "output": [{"answer": "Two of them.", "selected_sentences": ["Two.", "Two."], "meta": {}}],
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


def quoted(made: Made) -> list[str]:
    texts = {doc.doc_id: doc.text for doc in made.sample.input.sources}
    return [texts[span.doc_id][span.start : span.end] for span in made.sample.gold.spans]


def test_hotpot_sentences_are_joined_as_they_are(make_spec: Make) -> None:
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


def test_ramdocs_gold_contradictions_and_repairs(make_spec: Make) -> None:
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


def test_quotesum_quotes_are_found_in_source_or_title_or_folded(make_spec: Make) -> None:
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


def test_timeqa_gold_is_the_published_range(make_spec: Make) -> None:
    made = timeqa_row(TIMEQA, make_spec(), "row 0 question 1")
    assert made.sample.input.sample_id == "Ada#P1-q1"
    assert quoted(made) == ["Oslo"]


def test_an_empty_timeqa_answer_is_no_gold(make_spec: Make) -> None:
    row = {**TIMEQA, "pair": ["When?", [{"para": 0, "from": 0, "end": 0, "answer": ""}]]}
    gold = timeqa_row(row, make_spec(), "x").sample.gold
    assert (gold.answers, gold.spans) == ((), ())


def test_articles_and_stories_are_split_into_their_questions() -> None:
    article = {"index": "i", "paras": ["p"], "questions": [["a", []], ["b", []]]}
    assert [one.where for one in article_questions(RawRow(where="row 3", value=article))] == [
        "row 3 question 0",
        "row 3 question 1",
    ]
    story = {"metadata": {}, "document": "d", "questions": [{"question_number": 1}]}
    (only,) = story_questions(RawRow(where="line 1", value=story))
    assert only.value == {"metadata": {}, "document": "d", "question": {"question_number": 1}}


@pytest.mark.parametrize("value", [7, {}, {"questions": 7}, Fault(code="json.syntax", reason="x")])
def test_what_cannot_be_split_stays_to_be_refused(value: object) -> None:
    raw = RawRow(where="row 0", value=value)
    assert list(article_questions(raw)) == [raw]
    assert list(story_questions(raw)) == [raw]


def test_squality_answers_are_free_text_without_spans(make_spec: Make) -> None:
    made = squality_row(SQUALITY, make_spec(), "line 1 question 0")
    assert made.sample.input.sample_id == "63833-q2"
    assert (made.sample.gold.answers, made.sample.gold.spans) == (("So.",), ())


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


def test_clapnq_sentences_are_found_one_after_the_other() -> None:
    assert clapnq_row(CLAPNQ).ranges == ((6, 10), (11, 15))


def test_claim_sentences_are_joined_with_spaces() -> None:
    row = claim_row(CLAIM, ABSTRACTS)
    assert row.context == "It was seen. It grew."
    assert [row.context[start:end] for start, end in row.ranges] == ["It grew."]
    assert [text for text, _ in row.answers] == ["SUPPORT"]


def test_an_nq_row_takes_the_first_answer_that_occurs() -> None:
    row = {"question": "q", "answers": ["x", "Oslo"], "ctxs": [{"title": "T", "text": "In Oslo, Oslo."}]}
    value = as_squad(RawRow(where="line 7", value=row)).value
    assert isinstance(value, dict)
    assert value["id"] == "line-7"
    assert value["answers"] == {"text": ["Oslo"], "answer_start": [3]}


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ({"question": "q", "answers": ["x"], "ctxs": [{"title": "T", "text": "y"}]}, "gold.mismatch"),
        ({"question": "q", "answers": ["x"], "ctxs": []}, "row.field.value"),
        ({"question": "q", "answers": [3], "ctxs": [{"title": "T", "text": "y"}]}, "row.field.type"),
        (Fault(code="json.constant", reason="NaN"), "json.constant"),
    ],
)
def test_a_bad_nq_row_becomes_a_fault(row: object, code: str) -> None:
    value = as_squad(RawRow(where="line 1", value=row)).value
    assert isinstance(value, Fault)
    assert value.code == code


def changed(row: Row, **changes: Any) -> Row:
    return {**row, **changes}


def without(row: Row, name: str) -> Row:
    return {key: part for key, part in row.items() if key != name}


def document(**changes: Any) -> Row:
    return changed(RAMDOCS, documents=[{**RAMDOCS["documents"][0], **changes}])


def target(**changes: Any) -> Row:
    return changed(TIMEQA, pair=["Where?", [{**TIMEQA["pair"][1][0], **changes}]])


def hop(**changes: Any) -> Row:
    return changed(MUSIQUE, question_decomposition=[{**MUSIQUE["question_decomposition"][0], **changes}])


BAD: dict[str, tuple[Any, Row, str]] = {
    "hotpot: no context": (hotpot_row, without(HOTPOT, "context"), "row.field.missing"),
    "hotpot: a pair of three": (hotpot_row, changed(HOTPOT, context=[["a", ["b"], 1]]), "row.field.type"),
    "hotpot: columns of two lengths": (
        hotpot_row,
        changed(HOTPOT, context={"title": ["a"], "sentences": []}),
        "row.field.value",
    ),
    "hotpot: an empty paragraph": (hotpot_row, changed(HOTPOT, context=[["Lamp", [" "]]]), "text.empty"),
    "hotpot: a sentence too many": (
        hotpot_row,
        changed(HOTPOT, supporting_facts=[["Lamp", 2]]),
        "gold.range",
    ),
    "hotpot: a negative sentence": (
        hotpot_row,
        changed(HOTPOT, supporting_facts=[["Lamp", -1]]),
        "gold.range",
    ),
    "hotpot: an unknown title": (
        hotpot_row,
        changed(HOTPOT, supporting_facts=[["Ship", 0]]),
        "gold.source.missing",
    ),
    "hotpot: no fact": (hotpot_row, changed(HOTPOT, supporting_facts=[]), "gold.missing"),
    "musique: an unknown paragraph": (musique_row, hop(paragraph_support_idx=9), "gold.source.missing"),
    "musique: an answer that is elsewhere": (musique_row, hop(answer="Ada"), "gold.mismatch"),
    "musique: an empty answer": (musique_row, hop(answer=" "), "gold.mismatch"),
    "musique: no hop": (musique_row, changed(MUSIQUE, question_decomposition=[]), "gold.missing"),
    "musique: a number as answerable": (musique_row, changed(MUSIQUE, answerable=1), "row.field.type"),
    "musique: an idx twice": (
        musique_row,
        changed(MUSIQUE, paragraphs=[MUSIQUE["paragraphs"][0]] * 2),
        "row.id.duplicate",
    ),
    "ramdocs: no right document with its answer": (ramdocs_row, document(answer="12"), "gold.mismatch"),
    "ramdocs: an empty answer": (ramdocs_row, document(answer=""), "gold.mismatch"),
    "ramdocs: an unknown type": (ramdocs_row, document(type="maybe"), "row.field.value"),
    "ramdocs: a control character": (ramdocs_row, document(text="seven\x00"), "text.control"),
    "quotesum: a quote that is nowhere": (
        quotesum_row,
        changed(QUOTESUM, summary="[ 1 the ship ]"),
        "gold.mismatch",
    ),
    "quotesum: a quote of a missing source": (
        quotesum_row,
        changed(QUOTESUM, summary="[ 3 Oslo ]"),
        "gold.source.missing",
    ),
    "quotesum: no quote": (quotesum_row, changed(QUOTESUM, summary="It is."), "gold.missing"),
    "timeqa: a wrong offset": (timeqa_row, target(**{"from": 13}), "gold.mismatch"),
    "timeqa: a negative offset": (timeqa_row, target(**{"from": -4}), "gold.mismatch"),
    "timeqa: an unknown paragraph": (timeqa_row, target(para=2), "gold.source.missing"),
    "timeqa: an empty paragraph": (timeqa_row, changed(TIMEQA, paras=["", "x"]), "text.empty"),
    "timeqa: a pair of one": (timeqa_row, changed(TIMEQA, pair=["x"]), "row.field.type"),
    "squality: an empty story": (squality_row, changed(SQUALITY, document="\n"), "text.empty"),
    "squality: no question": (squality_row, changed(SQUALITY, question=None), "row.field.type"),
    "fever: an unknown label": (
        fever_row,
        {"rows": [changed(FEVER["rows"][0], label="MAYBE")]},
        "row.field.value",
    ),
    "fever: a row that is no object": (fever_row, {"rows": [7]}, "row.field.type"),
}


@pytest.mark.parametrize(("form", "row", "code"), BAD.values(), ids=BAD)
def test_a_bad_row_is_refused_with_its_code(make_spec: Make, form: Any, row: Row, code: str) -> None:
    with pytest.raises(RowRefused) as caught:
        form(row, make_spec(), "row 0")
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (changed(CLAPNQ, passages=[]), "row.field.value"),
        (changed(CLAPNQ, output=[{"answer": "x", "selected_sentences": ["Three."]}]), "gold.mismatch"),
        (changed(CLAPNQ, output=[{"answer": "x", "selected_sentences": ["Two."] * 3}]), "gold.mismatch"),
        (changed(CLAPNQ, output=[{"answer": "x", "selected_sentences": []}]), "gold.missing"),
    ],
)
def test_a_bad_clapnq_row_is_refused(row: Row, code: str) -> None:
    with pytest.raises(RowRefused) as caught:
        clapnq_row(row)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (changed(CLAIM, cited_doc_ids=[]), "gold.source.missing"),
        (changed(CLAIM, cited_doc_ids=[99]), "gold.source.missing"),
        (changed(CLAIM, cited_doc_ids=[32]), "text.empty"),
        (changed(CLAIM, evidence={"31": [{"sentences": [2], "label": "SUPPORT"}]}), "gold.range"),
        (changed(CLAIM, evidence={"31": {"sentences": [1]}}), "row.field.type"),
    ],
)
def test_a_bad_claim_is_refused(row: Row, code: str) -> None:
    with pytest.raises(RowRefused) as caught:
        claim_row(row, ABSTRACTS)
    assert caught.value.code == code
