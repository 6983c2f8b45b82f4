"""Which contexts stand beside the gold one, which rows become examples, which rows are used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tasks.base import Sample, TaskError, TaskSpec
from tasks.neighbours import Chosen, Naming, Settings, choose, example_pairs, nearest_contexts, settings_of
from tasks.squad import SquadRow

NONE: frozenset[int] = frozenset()


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (0, (0, 1, 2, 3)),
        (1, (0, 1, 2, 3)),  # 0 and 2 are one away, then 3
        (5, (3, 4, 5, 6)),  # 4 and 6, then the tie of 3 and 7: the earlier
        (9, (6, 7, 8, 9)),
        (8, (6, 7, 8, 9)),
    ],
)
def test_the_three_nearest_others_stand_in_file_order(own: int, expected: tuple[int, ...]) -> None:
    assert nearest_contexts(own, 10, NONE, 3) == expected


def test_closed_contexts_are_passed_over() -> None:
    assert nearest_contexts(5, 10, frozenset({4, 6}), 3) == (2, 3, 5, 7)


def test_a_small_file_gives_as_many_as_it_has() -> None:
    assert nearest_contexts(0, 1, NONE, 3) == (0,)
    assert nearest_contexts(1, 3, NONE, 3) == (0, 1, 2)
    assert nearest_contexts(1, 3, NONE, 0) == (1,)


def pairs(
    lengths: tuple[int, ...], wanted: int, most: int, golden: range = range(99)
) -> list[tuple[int, ...]]:
    return [(one.first, one.second, one.gold) for one in example_pairs(lengths, wanted, most, golden)]


def test_examples_are_pairs_from_the_end_that_are_short_enough() -> None:
    lengths = (10, 10, 10, 10, 10, 10, 90, 90, 10, 10)
    assert pairs(lengths, 1, 100) == [(8, 9, 9)]
    assert pairs(lengths, 2, 100) == [(8, 9, 9)]  # (6, 7) is too long, (4, 5) is the half to keep
    assert pairs(lengths, 2, 180) == [(8, 9, 9), (6, 7, 6)]


def test_a_pair_whose_gold_context_has_no_gold_is_passed_over() -> None:
    assert pairs((1,) * 10, 1, 10, range(9)) == [(6, 7, 7)]


def test_at_least_half_of_the_contexts_stay_for_evaluation() -> None:
    assert pairs((1, 1, 1, 1), 5, 10) == [(2, 3, 3)]
    assert pairs((1, 1, 1), 5, 10) == []
    assert pairs((1,), 5, 10) == []
    assert pairs((), 5, 10) == []


def rows(contexts: int, each: int = 2) -> tuple[SquadRow, ...]:
    return tuple(
        SquadRow(
            row_id=f"{c}-{q}",
            title=None,
            context=f"Context {c}.",
            question=f"Question {q}?",
            answers=(("Context", 0),),
            ranges=((0, 7),),
            value={"id": f"{c}-{q}"},
        )
        for c in range(contexts)
        for q in range(each)
    )


def chosen(spec: TaskSpec, contexts: int, limit: int | None, examples: int, each: int = 2) -> Chosen:
    settings = Settings(limit=limit, examples=examples, neighbours=3, example_chars=100)
    return choose(rows(contexts, each), spec, Naming(dataset="d", license="CC0-1.0", prefix="en-"), settings)


def shown(sample: Sample) -> list[str]:
    return [doc.doc_id[-4:] for doc in sample.input.sources]


def test_spread_takes_rows_evenly_from_the_whole_file(make_spec: Callable[..., TaskSpec]) -> None:
    naming = Naming(dataset="d", license="CC0-1.0")
    settings = Settings(limit=5, examples=0, neighbours=1, example_chars=0, spread=True)
    found = choose(rows(12), make_spec(), naming, settings)  # 24 rows: 0, 4, 9, 14 and 19
    assert [one.input.sample_id for one in found.samples] == ["0-0", "2-0", "4-1", "7-0", "9-1"]
    assert (found.unused, len(found.samples)) == (19, 5)
    for limit in (None, 24, 30):  # nothing is left out, so there is nothing to spread
        whole = choose(rows(12), make_spec(), naming, replace(settings, limit=limit))
        assert whole == choose(rows(12), make_spec(), naming, replace(settings, limit=limit, spread=False))


def test_together_takes_groups_of_questions_about_one_context(make_spec: Callable[..., TaskSpec]) -> None:
    naming = Naming(dataset="d", license="CC0-1.0")
    settings = Settings(limit=5, examples=0, neighbours=1, example_chars=0, spread=True, together=2)
    found = choose(rows(12, 3), make_spec(), naming, settings)  # three of twelve contexts: 0, 4 and 8
    assert [one.input.sample_id for one in found.samples] == ["0-0", "0-1", "4-0", "4-1", "8-0"]
    assert [shown(one) for one in found.samples[:2]] == [["0001", "0002"]] * 2
    with pytest.raises(TaskError, match=r"together=4: expected 2 contexts with so many .*, found 0"):
        choose(rows(12, 3), make_spec(), naming, replace(settings, together=4))


@pytest.mark.parametrize("options", [{"together": 0, "spread": True}, {"together": -1}, {"together": 2}])
def test_together_without_effect_is_refused(
    make_spec: Callable[..., TaskSpec], options: dict[str, Any]
) -> None:
    with pytest.raises(
        TaskError, match=r"options.together of .*: expected 1, or more with task.options.spread"
    ):
        settings_of(make_spec(options=options), limit=4, examples=0)


def test_together_without_a_limit_is_refused(make_spec: Callable[..., TaskSpec]) -> None:
    with pytest.raises(TaskError, match="with spread=true and no limit"):
        settings_of(make_spec(options={"together": 2, "spread": True}), limit=None, examples=0)


def test_samples_come_in_file_order_up_to_the_limit(make_spec: Callable[..., TaskSpec]) -> None:
    found = chosen(make_spec(), 12, 5, 0)
    assert [one.input.sample_id for one in found.samples] == [
        "en-0-0",
        "en-0-1",
        "en-1-0",
        "en-1-1",
        "en-2-0",
    ]
    assert shown(found.samples[4]) == ["0001", "0002", "0003", "0004"]


def test_the_gold_is_the_own_context_and_the_rest_are_distractors(make_spec: Callable[..., TaskSpec]) -> None:
    sample = chosen(make_spec(), 12, 5, 0).samples[4]
    assert [one.doc_id for one in sample.gold.spans] == ["d-context-0003"]
    assert sample.gold.distractors == ("d-context-0001", "d-context-0002", "d-context-0004")
    assert sample.gold.answers == ("Context",)


def test_examples_and_evaluated_samples_share_no_context(make_spec: Callable[..., TaskSpec]) -> None:
    found = chosen(make_spec(), 12, None, 2)
    in_examples = {doc for one in found.examples for doc in shown(one)}
    in_samples = {doc for one in found.samples for doc in shown(one)}
    assert in_examples == {"0009", "0010", "0011", "0012"}
    assert not in_examples & in_samples
    assert len(found.samples) == 16
    assert found.reserved == 8


def test_the_gold_of_examples_stands_second_then_first(make_spec: Callable[..., TaskSpec]) -> None:
    found = chosen(make_spec(), 12, 1, 2)
    golds = [one.gold.spans[0].doc_id[-4:] for one in found.examples]
    assert golds == ["0012", "0009"]
    assert [one.input.sample_id for one in found.examples] == ["en-11-1", "en-8-1"]  # the last row of each


def test_used_rows_are_what_is_shown_and_nothing_else(make_spec: Callable[..., TaskSpec]) -> None:
    found = chosen(make_spec(), 12, 3, 1)
    # Evaluated 0-0, 0-1, 1-0; neighbours 2 and 3 by their first rows; the example 11-1 and its pair 10.
    assert [one.row_id for one in found.rows] == ["0-0", "0-1", "1-0", "2-0", "3-0", "10-0", "11-1"]


def test_a_corpus_is_all_contexts_that_no_example_uses_whatever_the_limit(
    make_spec: Callable[..., TaskSpec],
) -> None:
    settings = Settings(limit=3, examples=1, neighbours=3, example_chars=100, as_corpus=True)
    found = choose(rows(12), make_spec(), Naming(dataset="d", license="CC0-1.0"), settings)
    assert [doc.doc_id[-4:] for doc in found.corpus] == [f"{n:04d}" for n in range(1, 11)]
    assert [one.input.sources for one in found.samples] == [()] * 3
    assert [one.gold.spans[0].doc_id[-4:] for one in found.samples] == ["0001", "0001", "0002"]
    assert {one.gold.distractors for one in found.samples} == {()}
    assert [len(one.input.sources) for one in found.examples] == [2]
    # The evaluated rows, the first of every other context of the corpus, the example and its pair.
    rest = [f"{n}-0" for n in range(2, 11)]
    assert [one.row_id for one in found.rows] == ["0-0", "0-1", "1-0", *rest, "11-1"]


def test_a_context_that_comes_back_later_keeps_its_number(make_spec: Callable[..., TaskSpec]) -> None:
    three = rows(3, 1)
    settings = Settings(limit=None, examples=0, neighbours=1, example_chars=0)
    found = choose((*three, *rows(1, 2)[1:]), make_spec(), Naming(dataset="d", license="x"), settings)
    assert [one.input.sample_id for one in found.samples] == ["0-0", "1-0", "2-0", "0-1"]
    assert found.samples[3].gold.spans[0].doc_id == "d-context-0001"


def test_a_source_is_the_same_in_every_sample(make_spec: Callable[..., TaskSpec]) -> None:
    found = chosen(make_spec(), 6, None, 0)
    first = {doc.doc_id: doc for doc in found.samples[0].input.sources}
    for sample in found.samples:
        for doc in sample.input.sources:
            assert first.setdefault(doc.doc_id, doc) == doc


def test_equal_answers_and_ranges_are_listed_once(make_spec: Callable[..., TaskSpec]) -> None:
    one = rows(1, 1)[0]
    twice = SquadRow(
        row_id="a",
        title=None,
        context=one.context,
        question="Q?",
        answers=(("Context", 0), ("Context", 0)),
        ranges=((0, 7), (0, 7)),
        value={},
    )
    settings = Settings(limit=None, examples=0, neighbours=3, example_chars=0)
    found = choose((twice,), make_spec(), Naming(dataset="d", license="x"), settings)
    assert len(found.samples[0].gold.answers) == len(found.samples[0].gold.spans) == 1
