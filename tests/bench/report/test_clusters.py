"""Samples over one set of sources are one draw, in tables with intervals and in what "In brief" reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from bench.cost.ledger import cell_costs
from bench.metrics.bootstrap import bootstrap_means
from bench.report.brief import brief_table
from bench.report.inputs import ReportInput
from bench.report.table import Table, Value
from bench.report.tables_differences import differences_table
from bench.report.tables_price import price_table
from bench.report.tables_quality import headline_intervals
from bench.report.view import RunView
from bench.specs import PriceSpec, PricesSpec


@pytest.fixture(scope="module")
def alike(report: ReportInput) -> RunView:
    """The fixture run with three questions to a set of sources: 12 samples, 4 sets."""
    heads = [report.samples[place // 3 * 3] for place in range(len(report.samples))]
    shared = [replace(row, sources=head.sources) for row, head in zip(report.samples, heads, strict=True)]
    return RunView(replace(report, samples=shared))


def rows(table: Table | None) -> dict[tuple[Value, ...], Mapping[str, Value]]:
    assert table is not None
    made = [dict(zip(table.data_head, row, strict=True)) for row in table.data]
    return {(row["metric"], row["cell_id"], row["baseline"]): row for row in made}


def test_pairs_say_in_how_many_sets_they_are_and_four_are_too_few(alike: RunView) -> None:
    table = brief_table(alike)
    row = rows(table)["exact_citation", "capsule.primed", "naive.primed"]
    assert (row["n"], row["clusters"]) == (11, 4)
    assert table is not None
    shown = [row for row in table.rows if row[1].startswith("exact citations")]
    assert {row[-2:] for row in shown} == {
        ("11 in 4 sets", "too few sets of sources"),
        ("12 in 4 sets", "too few sets of sources"),
    }


def test_means_stay_and_intervals_are_of_the_sets(alike: RunView, report: ReportInput) -> None:
    key = ("exact_citation", "capsule.primed", "naive.primed")
    apart, together = (rows(differences_table(view))[key] for view in (RunView(report), alike))
    assert (apart["n"], apart["clusters"], together["clusters"]) == (11, 11, 4)
    assert apart["mean"] == together["mean"]
    assert (apart["low"], apart["high"]) != (together["low"], together["high"])


def test_headlines_are_drawn_by_set(alike: RunView) -> None:
    cells = [cell for cell in alike.cells if cell.cell_id == "naive.primed"]
    values = alike.counted(cells[0], "exact_citation").known
    spec = alike.input.spec
    expected = bootstrap_means([values], draws=spec.bootstrap, seed=spec.seed, clusters=["aaabbbcccddd"])
    assert len(values) == 12
    assert headline_intervals(alike, cells, "exact_citation") == expected


def test_a_cost_is_drawn_by_set(alike: RunView) -> None:
    price = PriceSpec(provider="local", input_uncached=1_000_000, cache_read=1_000_000, output=1_000_000)
    prices = PricesSpec(as_of="2026-01-01", currency="USD", source="a test", providers=(price,))
    priced = RunView(replace(alike.input, spec=replace(alike.input.spec, prices=prices)))
    table = price_table(priced)
    assert table is not None
    rows = [dict(zip(table.data_head, row, strict=True)) for row in table.data]
    (row,) = [row for row in rows if row["cell_id"] == "naive.primed"]
    (cell,) = [cell for cell in priced.cells if cell.cell_id == "naive.primed"]
    costs = [float(cost.total) for cost in cell_costs(priced, cell).values() if cost is not None]
    assert row["n_priced"] == len(costs) == 12
    (expected,) = bootstrap_means(
        [costs], draws=priced.input.spec.bootstrap, seed=priced.input.spec.seed, clusters=["aaabbbcccddd"]
    )
    assert expected is not None
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))


def test_samples_over_a_corpus_are_apart(report: ReportInput) -> None:
    view = RunView(replace(report, samples=[replace(row, sources=()) for row in report.samples]))
    row = rows(differences_table(view))["exact_citation", "capsule.primed", "naive.primed"]
    assert row == rows(differences_table(RunView(report)))["exact_citation", "capsule.primed", "naive.primed"]
    assert (row["n"], row["clusters"]) == (11, 11)
