"""Recall@k by hand, and the command that prints it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.recall import RecallRow, measure, prepare
from bench.retrieval.base import Passage, Query
from bench.specs import Chunking
from capsules.source import Origin
from tasks.base import Gold, Sample, SampleInput, SourceDoc, TextRange

BOATS = "The ferry was built in 1931.\n\nHer engine is new. The horn is not."
BIRDS = "Gulls nest on the pier."


def doc(doc_id: str, text: str, level: str = "public") -> SourceDoc:
    origin = Origin(dataset="toy", row=doc_id)
    return SourceDoc(
        doc_id=doc_id, text=text, title=None, origin=origin, license="CC0-1.0", project="p", level=level
    )


def sample(*spans: tuple[str, int, int], docs: Sequence[SourceDoc] = ()) -> Sample:
    return Sample(
        input=SampleInput(
            sample_id="s",
            task="toy",
            project="p",
            question="When was the ferry built?",
            sources=tuple(docs) or (doc("birds", BIRDS), doc("boats", BOATS)),
            as_of="2026-01-01T00:00:00Z",
        ),
        gold=Gold(answers=("x",), spans=tuple(TextRange(doc_id=d, start=a, end=b) for d, a, b in spans)),
    )


def in_order(query: Query, passages: Sequence[Passage]) -> Sequence[int]:
    """Passages in source order: birds, built, engine."""
    return range(len(passages))[: query.k]


def rows(samples: Sequence[Sample], names: Sequence[str], ks: Sequence[int]) -> list[RecallRow]:
    asked = prepare(samples, (), Chunking(), "internal")
    return measure(asked, names, ks, draws=200, seed=0, advance=lambda n: None)


ORDER = f"{__name__}:in_order"


BUILT, ENGINE = ("boats", 4, 28), ("boats", 30, 47)
BOTH = ("boats", 20, 40)  # in two paragraphs
NEST = ("birds", 0, 10)


@pytest.mark.parametrize(
    ("spans", "at_1", "at_2", "at_3"),
    [
        ([NEST], 10_000, 10_000, 10_000),
        ([BUILT], 0, 10_000, 10_000),
        ([BOTH], 0, 0, 10_000),
        ([NEST, BUILT, ENGINE], 3_333, 6_667, 10_000),
    ],
)
def test_a_span_is_found_when_all_of_it_is(
    spans: list[tuple[str, int, int]], at_1: int, at_2: int, at_3: int
) -> None:
    found = rows([sample(*spans)], [ORDER], [1, 2, 3])
    assert [row.mean_bp for row in found] == [at_1, at_2, at_3]
    assert {(row.n, row.spans, row.low_bp, row.high_bp) for row in found} == {(1, len(spans), None, None)}


def test_the_mean_and_the_interval_are_over_samples_with_gold_spans() -> None:
    own = [[doc("birds", BIRDS), doc("boats", BOATS), doc("more", f"Source {n}.")] for n in range(4)]
    spans: list[tuple[tuple[str, int, int], ...]] = [(NEST,), (BUILT,), (), (NEST, BUILT)]
    samples = [sample(*some, docs=docs) for some, docs in zip(spans, own, strict=True)]
    (row,) = rows(samples, [ORDER], [1])
    assert (row.n, row.spans, row.mean_bp) == (3, 4, 5_000)  # (1 + 0 + 1/2) / 3
    assert row.low_bp is not None
    assert row.high_bp is not None
    assert 0 <= row.low_bp < 5_000 < row.high_bp <= 10_000


def test_one_set_of_sources_has_no_interval() -> None:
    (row,) = rows([sample(NEST), sample(BUILT), sample(NEST, BUILT)], [ORDER], [1])
    assert (row.n, row.mean_bp, row.low_bp, row.high_bp) == (3, 5_000, None, None)


def test_equal_recall_everywhere_has_no_interval() -> None:
    one, other = ([doc("birds", BIRDS), doc("boats", f"{BOATS} {n}")] for n in range(2))
    (row,) = rows([sample(NEST, docs=one), sample(NEST, docs=other)], [ORDER], [1])
    assert (row.mean_bp, row.low_bp, row.high_bp) == (10_000, None, None)


def test_no_sample_with_gold_has_no_recall() -> None:
    assert [row.mean_bp for row in rows([sample()], ["bm25"], [1])] == [None]


def test_what_may_not_be_shown_is_never_found_and_a_copy_counts_as_its_source() -> None:
    hidden = [doc("birds", BIRDS, level="restricted"), doc("boats", BOATS)]
    copied = [doc("boats", BOATS), doc("birds", BIRDS), doc("copy", BIRDS)]
    (denied,) = rows([sample(NEST, docs=hidden)], ["full_context"], [9])
    (copy,) = rows([sample(("copy", 0, 10), docs=copied)], ["full_context"], [9])
    assert (denied.mean_bp, copy.mean_bp) == (0, 10_000)


def test_upper_bounds_get_gold_and_bm25_does_not() -> None:
    found = rows([sample(ENGINE)], ["gold", "bm25"], [1])
    assert [row.mean_bp for row in found] == [10_000, 0]


def test_a_sentence_in_overlapping_windows_is_found_with_one_of_them() -> None:
    windows = Chunking(kind="window", size=2, stride=1)  # birds; built engine, engine horn
    asked = prepare([sample(BUILT), sample(ENGINE), sample(BOTH)], (), windows, "internal")
    found = measure(asked, [ORDER], [1, 2], draws=200, seed=0, advance=lambda n: None)
    assert [row.mean_bp for row in found] == [0, 10_000]


def test_a_corpus_is_indexed_once_and_recall_is_of_all_of_it() -> None:
    docs = [doc("birds", BIRDS), doc("boats", BOATS), doc("hidden", "Built in 1930.", level="restricted")]
    asked = prepare(
        [of_corpus(NEST), of_corpus(BUILT), of_corpus(("hidden", 0, 5))], docs, Chunking(), "internal"
    )
    assert len({id(one.texts) for one in asked}) == 1
    assert [p.doc_id for p in asked[0].texts] == ["birds", "boats", "boats"]
    found = measure(asked, [ORDER, "bm25"], [1, 2], draws=200, seed=0, advance=lambda n: None)
    # what may not be shown is found by nobody; bm25 looks for the ferry that was built, then for birds
    assert [row.mean_bp for row in found] == [3_333, 6_667, 3_333, 6_667]


def of_corpus(*spans: tuple[str, int, int]) -> Sample:
    made = sample(*spans)
    return replace(made, input=replace(made.input, sources=()))


def test_the_command_prints_one_json_line(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    arguments = ["task=synthetic", "limit=6", "--retrievers", "bm25,full_context", "--k", "1,4"]
    assert main(["recall", *arguments]) == 0
    captured = capsysbinary.readouterr()
    value = json.loads(captured.out)
    cells = [(row["retriever"], row["k"]) for row in value["recall"]]
    assert cells == [("bm25", 1), ("bm25", 4), ("full_context", 1), ("full_context", 4)]
    assert value["recall"][3]["mean_bp"] == 10_000
    assert {row["n"] for row in value["recall"]} == {6}
    assert b"95 % interval" in captured.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--retrievers", "bm52"], "unknown retrieval 'bm52'"),
        (["--k", "0"], "--k: expected whole numbers from 1, e.g. 1,2,4,8, found '0'"),
        (["--k", "1,,2"], "found ''"),
        (["--chunk", "chapter"], "--chunk: expected one of document, paragraph, sentence, window, found"),
        (["--chunk", "window:3"], "--chunk: expected window:SIZE:STRIDE:UNIT, found 'window:3'"),
        (["--chunk", "window:3:4:sentences"], "--chunk: STRIDE: expected 1 to the window's size 3"),
        (["--chunk", "window:3:2:words"], "--chunk: UNIT: expected one of sentences, tokens, found 'words'"),
        (["task=nope"], "unknown task 'nope'"),
    ],
)
def test_bad_arguments_are_2(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    overrides = [word for word in arguments if "=" in word]
    flags = [word for word in arguments if "=" not in word]
    assert main(["recall", *(overrides or ["task=synthetic"]), "limit=1", *flags]) == 2
    assert says in capsys.readouterr().err
