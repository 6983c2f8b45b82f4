"""The published files of every data set, read whole: samples, gold, repairs and refusals by number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from tasks.base import TaskData, TaskSpec
from tasks.registry import load_task

Make = Callable[..., TaskSpec]


class Count(NamedTuple):
    samples: int
    spans: int
    with_gold: int
    refused: dict[str, int]
    repaired: dict[str, int]
    contradictions: int = 0


TEST_CLAIMS = {"file": "citation-integrity/claims_test.jsonl"}
COUNTS: dict[str, tuple[str, dict[str, object], Count]] = {
    "citation integrity, dev": ("citation_integrity", {}, Count(316, 292, 292, {}, {})),
    "citation integrity, test": ("citation_integrity", TEST_CLAIMS, Count(606, 556, 556, {}, {})),
    "clapnq": ("clapnq", {}, Count(599, 893, 299, {"gold.missing": 1}, {})),
    "clapnq, unanswerable": ("clapnq", {"part": "unanswerable"}, Count(300, 0, 0, {}, {})),
    "fever symmetric": ("fever_symmetric", {}, Count(475, 956, 475, {}, {}, 475)),
    "hotpotqa in the hub's columns": ("hotpotqa", {}, Count(100, 243, 100, {}, {})),
    "hotpotqa as published": (
        "hotpotqa",
        {"file": "hotpotqa/hotpotqa_train.json"},
        Count(100, 229, 100, {}, {}),
    ),
    "musique": ("musique", {}, Count(100, 237, 100, {}, {})),
    "nq oracle": ("nq_oracle", {}, Count(2655, 2655, 2655, {}, {})),
    "quotesum": ("quotesum", {}, Count(261, 1114, 261, {"gold.mismatch": 4}, {"folded": 4})),
    "ramdocs": (
        "ramdocs",
        {},
        Count(
            475, 1835, 475, {"text.control": 18, "gold.mismatch": 7}, {"caseless": 133, "left_out": 19}, 298
        ),
    ),
    "squality": ("squality", {}, Count(125, 0, 0, {}, {})),
    "squality, HTML": (
        "squality",
        {"file": "squality/squality_v1-3_html_dev.jsonl"},
        Count(125, 0, 0, {}, {}),
    ),
    "timeqa": ("timeqa", {}, Count(385, 335, 326, {}, {})),
}


@pytest.fixture
def load(make_spec: Make, capsule_data: Path) -> Callable[..., TaskData]:
    def load_whole(name: str, **options: object) -> TaskData:
        return load_task(make_spec(name=name, data_dir=str(capsule_data), options=options))

    return load_whole


def count(data: TaskData) -> Count:
    return Count(
        samples=len(data.samples),
        spans=sum(len(one.gold.spans) for one in data.samples),
        with_gold=sum(bool(one.gold.spans) for one in data.samples),
        refused=dict(Counter(one.code for one in data.refused)),
        repaired=dict(data.repaired),
        contradictions=sum(len(one.input.contradictions) for one in data.samples),
    )


@pytest.mark.parametrize(("name", "options", "expected"), COUNTS.values(), ids=COUNTS)
def test_a_published_file_is_read_as_counted(
    load: Callable[..., TaskData], name: str, options: dict[str, object], expected: Count
) -> None:
    assert count(load(name, **options)) == expected


@pytest.mark.parametrize("name", sorted({name for name, _, _ in COUNTS.values()}))
def test_the_digest_does_not_depend_on_where_the_file_lies(
    make_spec: Make, capsule_data: Path, tmp_path: Path, name: str
) -> None:
    spec = make_spec(name=name, data_dir=str(capsule_data), limit=5)
    moved = tmp_path / "moved"
    moved.symlink_to(capsule_data)
    first, second = load_task(spec), load_task(replace(spec, data_dir=str(moved)))
    assert first.content_digest == second.content_digest
    assert first.samples == second.samples


def test_a_quote_of_a_title_is_gold_in_the_titles_own_source(load: Callable[..., TaskData]) -> None:
    titles = 0
    for sample in load("quotesum").samples:
        docs = {doc.doc_id: doc for doc in sample.input.sources}
        for span in sample.gold.spans:
            doc = docs[span.doc_id]
            if doc.doc_id.endswith("-title"):
                titles += 1
                assert doc.origin.row.endswith("#title")
                assert doc.text == docs[doc.doc_id.removesuffix("-title")].title
    assert titles > 50


def test_no_annotator_of_an_examples_question_is_evaluated(make_spec: Make, capsule_data: Path) -> None:
    data = load_task(make_spec(name="quotesum", data_dir=str(capsule_data), examples=3))
    asked = {one.input.question for one in data.examples}
    assert len(asked) == 3
    assert not asked & {one.input.question for one in data.samples}
    assert data.reserved + len(data.samples) == 261


@pytest.mark.parametrize(
    "name", ["hotpotqa", "musique", "nq_oracle", "ramdocs", "timeqa", "quotesum", "jsquad"]
)
def test_examples_can_be_answered_by_a_quote_of_their_gold(
    make_spec: Make, capsule_data: Path, name: str
) -> None:
    data = load_task(make_spec(name=name, data_dir=str(capsule_data), limit=4, examples=2))
    assert len(data.examples) == 2
    for example in data.examples:
        texts = {doc.doc_id: doc.text for doc in example.input.sources}
        quotes = [texts[span.doc_id][span.start : span.end] for span in example.gold.spans]
        assert any(answer in quote for answer in example.gold.answers for quote in quotes)
