"""Scores of one cell, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from bench.build.base import StageItems
from bench.scorers.base import Score, ScoringError
from bench.scorers.recall import merged, parse_item

EXACT = ("exact_citation", "exact_unique", "answer_in_quote", "right_source")


@pytest.mark.parametrize(
    ("answer", "exact", "unique", "in_quote", "right", "code"),
    [
        ("<q>must not run dry</q> [1]", 1, 1, 1, 1, None),
        ("<q>must not  run dry</q> [1]", 1, 1, 1, 1, None),  # norm_exact under quote/1
        ('<q>"90 litres"</q> [2]', 1, 1, 0, 0, None),  # straight quotes for curly ones
        ("<q>must run dry</q> [1]", 0, 0, 1, 1, "quote.absent"),
        ("<q>must not run dry</q> [2]", 0, 0, 1, 0, "quote.place.other_source"),
        ("<q>had no alarm</q> [1]", 0, 0, 0, 1, "quote.place.omitted"),
        ("<q>must not run dry</q>", 0, 0, 1, 0, "contract.number_missing"),
        ("<q>must not run dry</q> [7]", 0, 0, 1, 0, "contract.number_unknown"),
        ("<q>must not run dry", 0, 0, 1, 0, "contract.unfinished"),
        ("<q></q> [1]", 0, 0, 0, 1, "quote.empty"),
        ("<q>\u200b</q> [1]", 0, 0, 0, 1, "quote.empty"),
        ("<q>5 mg</q> [2]", 1, 0, 0, 0, None),  # exact, and twice in the source
        ("<q>The pump must ... run dry.</q> [1]", 0, 0, 1, 1, "quote.elided"),
        ("<q>MUST NOT RUN DRY</q> [1]", 0, 0, 0, 1, "quote.absent"),  # case never folds
        ("<q>dry. Below 5</q> [1]", 1, 1, 0, 1, None),  # adjacent items read as the raw text
        ("<q>run dry</q> [1] <q>nothing</q> [2]", 0.5, 0.5, 1, 0.5, "quote.absent"),
        ("<q>run dry</q> [1] <q>alarm</q> [1]", 1, 1, 1, 1, "contract.quotes_exceeded"),
    ],
)
def test_quotes(
    world: Any, answer: str, exact: float, unique: float, in_quote: float, right: float, code: str | None
) -> None:
    rows = world.score(answer)
    assert [rows[m].value for m in EXACT] == [exact, unique, in_quote, right]
    assert {rows[m].status for m in EXACT} == {"ok"}
    assert rows["exact_citation"].code == code


def test_why_a_quote_is_not_unique(world: Any) -> None:
    assert world.score("<q>5 mg</q> [2]")["exact_unique"].code == "quote.ambiguous"


@pytest.mark.parametrize(
    ("answer", "code"),
    [("", "answer.empty"), (" \n", "answer.empty"), ("I do not know [1].", "answer.no_quote")],
)
def test_an_answer_without_a_quote_is_undefined(world: Any, answer: str, code: str) -> None:
    rows = world.score(answer)
    assert {(rows[m].status, rows[m].value, rows[m].code) for m in EXACT} == {("undefined", None, code)}
    assert rows["tokens_output"].status == "ok"


def test_min_chars_of_the_contract(world: Any) -> None:
    from bench.specs import ContractSpec

    rows = world.score("<q>dry</q> [1]", contract={"capsule": ContractSpec(min_chars=4)})
    assert (rows["exact_citation"].value, rows["exact_citation"].code) == (0.0, "quote.too_short")


def test_samples_without_gold(world: Any) -> None:
    rows = world.score("<q>run dry</q> [1]", samples=[world.sample(answers=("", "\u200b"), gold_spans=())])
    assert (rows["answer_in_quote"].status, rows["answer_in_quote"].code) == ("undefined", "gold.no_answers")
    assert (rows["right_source"].status, rows["right_source"].code) == ("undefined", "gold.no_spans")
    assert (rows["gold_recall_budget"].status, rows["gold_recall_budget"].code) == (
        "undefined",
        "gold.no_spans",
    )
    assert rows["exact_citation"].value == 1.0


def test_answers_are_compared_under_quote_1(world: Any) -> None:
    samples = [world.sample(answers=('"90\u00a0litres"',))]
    assert world.score("<q>holds “90 litres”</q> [2]", samples=samples)["answer_in_quote"].value == 1.0


def stages(world: Any, **items: tuple[str, ...]) -> tuple[StageItems, ...]:
    return tuple(StageItems(stage=stage, items=left, tokens=0) for stage, left in items.items())


def test_recall_counts_code_points_that_are_not_white_space(world: Any) -> None:
    """Gold "not run dry. Below 5 bar" (14 to 38): 10 + 9 letters and stops; the gap does not count."""
    pump = world.ids["pump"]
    samples = [world.sample(gold_spans=((pump, 14, 38), (pump, 14, 20)))]
    made = stages(
        world,
        candidates=(f"{pump}:0-26", f"{pump}:27-59"),
        retrieval=(f"{pump}:0-26", f"{pump}:27-59"),
        selection=(f"{pump}:0-26",),
        compression=(f"{pump}:27-59",),
        budget=(),
    )
    rows = world.score(samples=samples, builds=[world.build(stages=made)])
    assert rows["gold_recall_retrieval"].value == 1.0
    assert rows["gold_recall_selection"].value == pytest.approx(10 / 19)
    assert rows["gold_recall_compression"].value == pytest.approx(9 / 19)
    assert rows["gold_recall_budget"].value == 0.0


def test_recall_of_a_stage_that_the_builder_lacks_is_undefined(world: Any) -> None:
    rows = world.score(builds=[world.build(stages=stages(world, candidates=(f"{world.ids['pump']}:0-26",)))])
    assert (rows["gold_recall_budget"].status, rows["gold_recall_budget"].code) == (
        "undefined",
        "stage.absent",
    )


def test_items_and_ranges() -> None:
    assert parse_item("b3:ab:3-9") == ("b3:ab", 3, 9)
    assert merged([("x", 5, 9), ("x", 0, 5), ("y", 3, 3), ("x", 20, 21)]) == {"x": [(0, 9), (20, 21)]}
    for wrong in ("b3:ab", ":3-9", "x:3", "x:a-9", "x:3-"):
        with pytest.raises(ScoringError, match="expected an item id"):
            parse_item(wrong)


def test_omission_accounting(world: Any) -> None:
    rows = world.score(builds=[world.build(silent_omissions=3)])
    assert (rows["omission_law"].value, rows["silent_omissions"].value) == (1.0, 3.0)
    broken = world.score(builds=[world.build(laws=(("ids", True), ("tokens", False)))])
    assert (broken["omission_law"].value, broken["omission_law"].code) == (0.0, "omission.unaccounted")
    naive = world.score(builds=[world.build(laws=())])
    assert (naive["omission_law"].status, naive["omission_law"].code) == ("undefined", "omission.no_record")


def test_token_classes_are_disjoint_and_sum_to_the_prompt(world: Any) -> None:
    responses = [world.response(measured_cached=64), world.response(phase="latency", measured_cached=96)]
    rows = world.score(responses=responses)
    classes = [rows[f"tokens_{name}"].value for name in ("input_uncached", "cache_read", "cache_write")]
    assert classes == [36.0, 64.0, 0.0]
    assert sum(classes) == rows["tokens_prompt"].value == 100.0


@pytest.mark.parametrize("reason", [None, "kv.hybrid"])
def test_unknown_cached_tokens_are_undefined_never_zero(world: Any, reason: str | None) -> None:
    rows = world.score(
        requests=[world.request(predicted_cached=None, predicted_reason=reason), world.request("latency")],
        responses=[world.response(measured_cached=None, n_output=None), world.response(phase="latency")],
    )
    for metric in ("tokens_input_uncached", "tokens_cache_read"):
        assert (rows[metric].status, rows[metric].code) == ("undefined", reason or "engine.unknown")
    assert rows["tokens_cache_write"].value == 0.0
    assert (rows["tokens_output"].status, rows["tokens_output"].code) == ("undefined", "engine.unknown")


@pytest.mark.parametrize("cached", [-1, 101])
def test_impossible_cached_tokens_are_a_contradiction(world: Any, cached: int) -> None:
    with pytest.raises(ScoringError, match=r"expected cached tokens in 0\.\.100"):
        world.score(responses=[world.response(measured_cached=cached), world.response(phase="latency")])


def test_latency_comes_from_the_latency_phase_alone(world: Any) -> None:
    responses = [
        world.response(ttft_us=1),
        world.response(phase="latency", ttft_us=140_000, tpot_us=None, n_output=1),
    ]
    rows = world.score(responses=responses)
    assert rows["ttft_us"].value == 140_000.0
    assert (rows["tpot_us"].status, rows["tpot_us"].code) == ("undefined", "latency.single_token")
    assert (rows["itl_us"].status, rows["itl_us"].code) == ("undefined", "latency.not_streaming")
    unknown = world.score(responses=[world.response(), world.response(phase="latency", ttft_us=None)])
    assert (unknown["ttft_us"].status, unknown["ttft_us"].code) == ("undefined", "engine.unknown")


@pytest.mark.parametrize(
    ("status", "value"), [("ok", None), ("error", 1.0), ("ok", float("nan")), ("ok", float("inf"))]
)
def test_a_score_is_never_nan_and_has_a_value_exactly_when_ok(status: str, value: float | None) -> None:
    with pytest.raises(ScoringError):
        Score(metric="exact_citation", status=status, value=value, code=None)
