"""A row for every expected (sample, cell, metric), whatever happened."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bench.metrics.names import METRICS
from bench.records import CellState
from bench.report.inputs import ExpectedCell
from bench.scorers.base import ScoringError
from bench.scorers.registry import SCORERS
from bench.scorers.run import leading_code, score_run
from bench.specs import ContractSpec
from capsules.codes import CODES
from capsules.content_id import content_id

BUILD = {name for name, spec in METRICS.items() if spec.basis == "build"}
LATENCY = {name for name, spec in METRICS.items() if spec.basis == "latency"}
QUALITY = set(METRICS) - LATENCY
GOOD = "<q>must not run dry</q> [1]"


def statuses(rows: dict[str, Any]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, row in rows.items():
        found.setdefault(row.status, set()).add(name)
    return found


def test_all_metrics_in_the_order_of_the_list(world: Any) -> None:
    assert list(world.score(GOOD)) == list(METRICS)


def test_only_the_phases_that_the_plan_holds(world: Any) -> None:
    cell = ExpectedCell(sample_id="s0", arm_id="capsule", cell_id="capsule.off", phases=("quality",))
    assert set(world.score(GOOD, expected=[cell])) == QUALITY
    assert set(world.score(GOOD, expected=[replace(cell, phases=("latency",))])) == LATENCY


def test_an_engine_error_leaves_what_the_prompt_alone_gives(world: Any) -> None:
    failed = world.response(status="error", error="engine.error: died", measured_cached=None, ttft_us=None)
    rows = world.score(responses=[failed, world.response(GOOD, "latency")])
    assert statuses(rows)["error"] == QUALITY - BUILD
    assert {rows[m].code for m in QUALITY - BUILD} == {"engine.error"}
    assert rows["tokens_prompt"].value == 100.0
    assert rows["ttft_us"].status == "ok"


def test_missing_rows_are_errors_with_their_reason(world: Any) -> None:
    rows = world.score(responses=[world.response(GOOD, "latency")])
    assert {rows[m].code for m in QUALITY - BUILD} == {"response.missing"}
    rows = world.score(requests=[], responses=[])
    assert {rows[m].code for m in LATENCY} == {"request.missing"}
    denied = {("s0", "capsule"): "provider.unauthorized"}  # built, and not sent: for this reason
    rows = world.score(requests=[], responses=[], unsent=denied)
    assert {rows[m].code for m in LATENCY | QUALITY - BUILD} == {"provider.unauthorized"}
    assert rows["tokens_prompt"].value == 100.0
    rows = world.score(builds=[])
    assert {(row.status, row.code) for row in rows.values()} == {("error", "build.missing")}


def test_a_prompt_that_cannot_be_built_is_an_error_everywhere(world: Any) -> None:
    unfit = world.build(status="error", error="budget.protected.truncated: 4100 of 4096")
    rows = world.score(builds=[unfit], requests=[], responses=[])
    assert {(r.status, r.code) for r in rows.values()} == {("error", "budget.protected.truncated")}


@pytest.mark.parametrize("phase", ["quality", "latency"])
def test_a_void_cell_voids_what_rests_on_its_answers(
    world: Any, void_cell: Callable[[str], CellState], phase: str
) -> None:
    rows = world.score(GOOD, cells=[void_cell(phase)])
    assert statuses(rows)["void"] == (LATENCY if phase == "latency" else QUALITY - BUILD)
    assert all(row.value is None and row.code == "cell.void" for row in rows.values() if row.status == "void")


def test_the_highest_attempt_counts(world: Any) -> None:
    first = world.response("<q>nothing</q> [1]")
    later = world.response(GOOD, attempt=3)
    lost = world.response(status="error", attempt=2, error="engine.error")
    rows = world.score(responses=[later, first, lost, world.response(GOOD, "latency")])
    assert rows["exact_citation"].value == 1.0


def test_contradicting_rows_are_refused(world: Any) -> None:
    again = [world.response(GOOD), world.response("other"), world.response(GOOD, "latency")]
    with pytest.raises(ScoringError, match="attempt 1, found two"):
        world.score(responses=again)
    with pytest.raises(ScoringError, match="one build row"):
        world.score(builds=[world.build(), world.build()])
    with pytest.raises(ScoringError, match="one request row"):
        world.score(requests=[world.request(), world.request(request_id="other")])
    with pytest.raises(ScoringError, match="a sample row for s0"):
        world.score(samples=[])
    with pytest.raises(ScoringError, match="a contract for arm capsule"):
        world.score(contract={})


def test_scorers_must_cover_the_metric_list(world: Any) -> None:
    fewer = {name: scorer for name, scorer in SCORERS.items() if name != "tokens"}
    with pytest.raises(ScoringError, match="from one scorer"):
        world.score(scorers=fewer)
    wrong = dict(SCORERS) | {"tokens": replace(SCORERS["tokens"], basis="latency")}
    with pytest.raises(ScoringError, match="scorer tokens: expected basis engine, found latency"):
        world.score(scorers=wrong)
    silent = dict(SCORERS) | {"tokens": replace(SCORERS["tokens"], score=lambda case: ())}
    with pytest.raises(ScoringError, match="expected scores of"):
        world.score(GOOD, scorers=silent)


def test_codes_of_messages() -> None:
    assert leading_code("budget.limit: too long", "x") == "x"  # no registered code
    assert leading_code("engine.unknown: no count", "x") == "engine.unknown"
    assert leading_code("torch.cuda failed", "x") == "x"
    assert leading_code(None, "x") == "x"


def test_every_code_written_is_registered(world: Any, void_cell: Callable[[str], CellState]) -> None:
    answers = (
        GOOD,
        "",
        "no",
        "<q>a",
        "<q>a</q>",
        "<q>a</q> [9]",
        "<q>5 mg</q> [2]",
        "<q>had no alarm</q> [1]",
    )
    rows = [row for answer in answers for row in world.score(answer).values()]
    rows += world.score(cells=[void_cell("quality")]).values()
    assert {row.code for row in rows if row.code} <= CODES.keys()


def test_rows_do_not_depend_on_the_order_of_the_input(world: Any) -> None:
    requests = [world.request(), world.request("latency")]
    responses = [world.response(GOOD), world.response(GOOD, "latency")]
    assert world.score(requests=requests[::-1], responses=responses[::-1]) == world.score(GOOD)


def test_ten_thousand_requests_in_seconds(world: Any) -> None:
    n = 1_000
    texts, samples, builds, requests, responses, expected = {}, [], [], [], [], []
    for i in range(n):
        text = f"Document {i}. " + " ".join(
            f"The value of item {j} in lot {i} is {i * j}." for j in range(40)
        )
        source = content_id(text.encode())
        texts[source] = text
        shown = world.build().shown[:1]
        samples.append(
            world.sample(sample_id=f"s{i}", gold_spans=((source, 0, 60),), sources=(("d", source),))
        )
        builds.append(
            world.build(
                sample_id=f"s{i}",
                shown=(replace(shown[0], source=source, ranges=((0, len(text)),)),),
                stages=tuple(replace(s, items=(f"{source}:0-{len(text)}",)) for s in world.build().stages),
            )
        )
        for k in range(10):
            cell, request_id = f"capsule.c{k}", f"r{i}-{k}"
            answer = f"<q>The value of item {k} in lot {i} is {i * k + (k > 6)}.</q> [1]"
            requests.append(world.request(request_id=request_id, sample_id=f"s{i}", cell_id=cell))
            responses.append(world.response(answer, request_id=request_id))
            expected.append(
                ExpectedCell(sample_id=f"s{i}", arm_id="capsule", cell_id=cell, phases=("quality",))
            )
    began = time.perf_counter()
    rows = score_run(
        samples, builds, requests, responses, [], texts.__getitem__, {"capsule": ContractSpec()}, expected
    )
    took = time.perf_counter() - began
    assert len(rows) == 10_000 * len(QUALITY)
    assert sum(row.value or 0 for row in rows if row.metric == "exact_citation") == 7_000
    assert took < 30, f"scoring 10,000 requests took {took:.1f} s"
