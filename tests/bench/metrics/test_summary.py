"""Headline, mean, bounds, counts, series and pairs, with values worked out by hand."""

from __future__ import annotations

import pytest

from bench.metrics.answers import EMPTY, NO_QUOTE, count_answers
from bench.metrics.bootstrap import Interval
from bench.metrics.divergence import divergence
from bench.metrics.names import METRICS
from bench.metrics.paired import differences
from bench.metrics.percentiles import percentiles
from bench.metrics.series import Series, completed, counted
from bench.metrics.summary import by_cell, reasons, summarize
from bench.records import ScoreRow


def rows(metric: str, *values: float | str, cell: str = "a.off") -> list[ScoreRow]:
    """One row a value; a word is a status, with ``status:code`` for a code."""
    made = []
    for i, value in enumerate(values):
        status, _, code = value.partition(":") if isinstance(value, str) else ("ok", "", "")
        made.append(
            ScoreRow(
                sample_id=f"s{i}", arm_id="a", cell_id=cell, metric=metric, status=status,
                value=None if isinstance(value, str) else value, code=code or None,
            )
        )  # fmt: skip
    return made


def test_a23_errors_stay_in_the_denominator() -> None:
    """60 items, 12 errors, 36 right: 0.600 over all, 0.750 over completed, bounds 0.600 to 0.800."""
    summary = summarize("exact_citation", rows("exact_citation", *[1.0] * 36, *[0.0] * 12, *["error"] * 12))
    assert (summary.n, summary.error, summary.ok) == (60, 12, 48)
    assert summary.headline == pytest.approx(0.600)
    assert summary.mean_ok == pytest.approx(0.750)
    assert summary.bounds == pytest.approx((0.600, 0.800))


def test_a29_no_citation_is_neither_perfect_nor_gone() -> None:
    """One right citation, a refusal, an empty answer, a text without citation."""
    made = rows("exact_citation", 1.0, f"undefined:{NO_QUOTE}", f"undefined:{EMPTY}", f"undefined:{NO_QUOTE}")
    summary = summarize("exact_citation", made)
    assert (summary.n, summary.ok, summary.undefined) == (4, 1, 3)
    assert summary.mean_ok == 1.0
    assert summary.headline == 0.25
    counts = count_answers(made)
    assert (counts.n, counts.answered, counts.no_quote, counts.empty, counts.error) == (4, 1, 2, 1, 0)


def test_a11_divergence_beside_its_floor() -> None:
    """on1 differs from off1 at 2 of 10 items, off2 from off1 at 1 of 10."""
    off1 = {f"i{k}": (k, k + 1, k + 2) for k in range(10)}
    off2 = off1 | {"i4": (4, 5, 0)}
    on1 = off1 | {"i4": (4, 0, 0), "i7": (7, 8)}
    against, floor = divergence(on1, off1), divergence(off2, off1)
    assert (against.n, against.differ, dict(against.first)) == (10, 2, {"i4": 1, "i7": 2})
    assert (floor.n, floor.differ, dict(floor.first)) == (10, 1, {"i4": 2})
    assert divergence({"i0": (1,)}, {"i1": (1,)}).n == 0


def test_void_is_no_measurement() -> None:
    summary = summarize("exact_citation", rows("exact_citation", 1.0, "void:cell.void"))
    assert (summary.headline, summary.mean_ok, summary.bounds, summary.void) == (None, None, None, 1)
    assert counted("exact_citation", "a.off", rows("exact_citation", 1.0, "void")).reason == "a.off is void"


def test_amounts_have_no_bounds_and_nothing_expected_has_no_headline() -> None:
    assert summarize("tokens_prompt", rows("tokens_prompt", 10.0, "error")).bounds is None
    assert summarize("exact_citation", []).headline is None


def test_reasons_are_sorted_by_count_then_name() -> None:
    made = rows("exact_citation", 1.0, "error:b.x", "error:a.x", "undefined:c.y", "undefined:c.y", "error")
    assert list(reasons(made).items()) == [("c.y", 2), ("a.x", 1), ("b.x", 1), ("error", 1)]


def test_counted_and_completed_differ_where_they_must() -> None:
    made = rows("exact_citation", 1.0, "undefined", "error")
    assert dict(counted("exact_citation", "a.off", made).values) == {"s0": 1.0, "s1": 0.0, "s2": 0.0}
    assert dict(completed("exact_citation", "a.off", made).values) == {"s0": 1.0, "s1": 0.0, "s2": None}
    tokens = rows("tokens_cache_read", 8.0, "undefined", "error")
    assert dict(completed("tokens_cache_read", "a.off", tokens).values) == {"s0": 8.0, "s1": None, "s2": None}


def test_a_metric_never_defined_for_a_cell_has_no_series() -> None:
    made = rows("omission_law", "undefined", "undefined")
    assert completed("omission_law", "a.off", made).reason == "undefined for a.off"
    assert completed("omission_law", "a.off", []).reason == "no row of omission_law for a.off"


def series(label: str, *values: float | None) -> Series:
    return Series(label=label, values={f"s{i}": v for i, v in enumerate(values)})


def test_pairs_are_what_both_completed() -> None:
    (found,) = differences(
        [(series("x", 1.0, 1.0, None, 0.0, 1.0), series("y", 0.0, 1.0, 1.0, None, 0.5))],
        draws=100,
        seed=0,
        clusters={},
    )
    assert (found.n, found.left_out) == (3, 2)
    assert found.mean == pytest.approx(0.5)
    assert found.means == pytest.approx((1.0, 0.5))
    assert (found.higher, found.equal, found.lower) == (2, 1, 0)
    assert found.interval is not None
    assert found.interval.low <= 0.5 <= found.interval.high


def test_samples_of_one_side_only_are_no_pairs() -> None:
    left = Series(label="x", values={"s0": 1.0, "s9": 1.0})
    (found,) = differences([(left, series("y", 0.0, 0.0))], draws=10, seed=0, clusters={})
    assert (found.n, found.left_out, found.interval) == (1, 0, None)


def test_pairs_of_one_cluster_are_one_draw() -> None:
    pair = (series("x", 1.0, 1.0, 0.0, None), series("y", 0.0, 0.0, 0.5, 1.0))
    (together,) = differences([pair], draws=200, seed=0, clusters={"s0": "a", "s1": "a", "s3": "b"})
    assert (together.n, together.clusters, together.left_out) == (3, 2, 1)  # s2 is a cluster by itself
    assert together.mean == pytest.approx(0.5)
    # what can be drawn of (1, 1) and (-0.5): 1, the mean of all, -0.5
    assert together.interval == Interval(low=-0.5, high=1.0, flat=False)
    (one,) = differences([pair], draws=200, seed=0, clusters=dict.fromkeys(("s0", "s1", "s2"), "a"))
    assert (one.n, one.clusters, one.interval) == (3, 1, None)


def test_no_pair_says_why() -> None:
    found = differences(
        [
            (Series(label="x", values={}, reason="x is void"), series("y", 1.0)),
            (series("x", None), series("y", 1.0)),
        ],
        draws=10,
        seed=0,
        clusters={},
    )
    assert [d.reason for d in found] == ["x is void", "no sample completed on both sides"]
    assert [d.mean for d in found] == [None, None]


def test_percentiles_by_linear_interpolation_with_n() -> None:
    found = percentiles([400.0, 100.0, 300.0, 200.0, 600.0, 500.0])
    assert found is not None
    assert (found.n, found.p50, found.p90, found.low, found.high) == (6, 350.0, 550.0, 100.0, 600.0)
    assert percentiles([]) is None
    single = percentiles([7.0])
    assert single is not None
    assert (single.p50, single.p90) == (7.0, 7.0)


def test_the_metric_list_is_the_closed_one() -> None:
    assert list(METRICS) == [
        "exact_citation", "exact_unique", "answer_in_quote", "right_source", "omission_law",
        "silent_omissions",
        "gold_recall_retrieval", "gold_recall_selection", "gold_recall_budget", "gold_recall_compression",
        "gold_sufficient", "excess_tokens",
        "tokens_prompt", "tokens_input_uncached", "tokens_cache_read", "tokens_cache_write", "tokens_output",
        "ttft_us", "tpot_us", "itl_us", "e2e_us", "grammar_us",
    ]  # fmt: skip
    assert {spec.phase for spec in METRICS.values()} == {"quality", "latency"}


def test_rows_are_grouped_in_their_order() -> None:
    made = rows("exact_citation", 1.0, 0.0) + rows("exact_citation", 1.0, cell="b.off")
    groups = by_cell(made)
    assert [row.sample_id for row in groups["a.off", "exact_citation"]] == ["s0", "s1"]
    assert len(groups["b.off", "exact_citation"]) == 1
