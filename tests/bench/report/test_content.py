"""What a report says about the fixture run, checked against its rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.build.base import Piece
from bench.metrics.names import METRICS
from bench.report import measures
from bench.report.brief import brief_table
from bench.report.compose import compose
from bench.report.document import Paragraph
from bench.report.examples import examples
from bench.report.facts import compare_predictions, what_ran, what_went_wrong
from bench.report.inputs import ReportInput
from bench.report.promise_list import promised
from bench.report.promises import NOT_MEASURED, promise_table
from bench.report.table import Table
from bench.report.tables_cache import cache_table
from bench.report.tables_cost import latency_table, tokens_table
from bench.report.tables_differences import differences_table
from bench.report.tables_evidence import SILENT, flows, omissions_table
from bench.report.tables_outputs import outputs_table
from bench.report.tables_quality import answers_table, arms_table
from bench.report.view import RunView, is_upper_bound


@pytest.fixture(scope="module")
def view(report: ReportInput) -> RunView:
    return RunView(report)


def found(table: Table, **where: object) -> list[dict[str, object]]:
    rows = [dict(zip(table.data_head, row, strict=True)) for row in table.data]
    return [row for row in rows if all(row[key] == value for key, value in where.items())]


def test_what_went_wrong_is_told(view: RunView) -> None:
    facts = dict(what_went_wrong(view))
    assert facts["Quality answers with errors"] == "4 of 120: 3 budget.protected.truncated, 1 engine.error"
    assert facts["Void cells"] == "1: capsule_extractive.cold, quality (cell.void)"
    assert facts["Refused data rows"].startswith("1: pump-12: gold.not_found")
    assert facts["Requests without a prediction"] == "1 evicted"
    assert facts["Prompts that could not be built"].startswith("1: pump-11/capsule")


def test_predictions_that_differ_are_counted_and_named(report: ReportInput) -> None:
    victim = report.requests[5]
    turned = [replace(q, predicted_cached=31) if q is victim else q for q in report.requests]
    predictions = compare_predictions(RunView(replace(report, requests=turned)))
    assert predictions.mismatches == (victim.request_id,)
    assert predictions.compared - predictions.equal == 1
    assert dict(predictions.nulls) == {"evicted": 1}


def test_what_ran_is_told(view: RunView) -> None:
    facts = dict(what_ran(view))
    assert facts["Samples"] == "12 in each of 10 cells, over 12 sets of sources"
    assert "prefix caching off, block of 32 tokens" in facts["Engine"]
    assert facts["Hardware"] == "cores 2, cpu Example CPU, gpu none, memory_gib 24"


def test_samples_that_share_sources_are_named_and_a_corpus_is_not(report: ReportInput) -> None:
    def told(sources: tuple[tuple[str, str], ...]) -> str:
        rows = [*(replace(s, sources=sources) for s in report.samples[:4]), *report.samples[4:]]
        return dict(what_ran(RunView(replace(report, samples=rows))))["Samples"]

    alike = "; intervals draw the sets, for samples over the same sources are alike"
    assert told(report.samples[0].sources) == f"12 in each of 10 cells, over 9 sets of sources{alike}"
    assert told(()) == "12 in each of 10 cells, over 8 sets of sources"  # four over a corpus


def test_headlines_are_sums_over_all_expected_samples(view: RunView, report: ReportInput) -> None:
    for row in found(arms_table(view), metric="exact_citation"):
        mine = [s for s in report.scores if (s.cell_id, s.metric) == (row["cell_id"], "exact_citation")]
        assert row["n"] == len(mine) == 12
        if row["void"]:
            assert row["headline"] is None
        else:
            assert row["headline"] == pytest.approx(sum(s.value or 0 for s in mine) / 12)


def test_answers_and_quotes_add_up(view: RunView) -> None:
    for row in found(answers_table(view)):
        assert row["expected"] == sum(row[k] for k in ("with_a_quote", "no_quote", "empty", "error", "void"))  # type: ignore[misc]
        assert row["quotes"] == sum(row[k] for k in ("exact_raw", "exact_normalized", "not_exact"))  # type: ignore[misc]
    (naive,) = found(answers_table(view), cell_id="naive.cold")
    assert naive["error"] == 1
    assert naive["exact_normalized"] >= 1  # type: ignore[operator]  # C18: in a column of its own


def test_evidence_is_conserved_in_the_waterfall(view: RunView) -> None:
    for flow in flows(view):
        assert flow.candidates[0] == flow.sent[0] + sum(items for _, items, _ in flow.omitted)
        assert flow.candidates[1] == flow.sent[1] + sum(tokens for _, _, tokens in flow.omitted)
    assert found(omissions_table(view), arm_id="naive", step=SILENT)
    assert not found(omissions_table(view), arm_id="capsule", step=SILENT)


def test_promises_are_measured_or_say_why_not(view: RunView) -> None:
    table = promise_table(view)
    unmeasured = {row[1]: row[4] for row in table.rows if row[2] == NOT_MEASURED}
    assert set(unmeasured.values()) == {
        "all samples belong to one project", "with caching on every request has a salt",
    }  # fmt: skip
    names = [m.promise for m in promised(view)]
    assert list(dict.fromkeys(names)) == [
        "smaller context", "inspectable", "prefix reuse", "exact verification", "project isolation",
        "reproducible calls", "explicit omission", "safe routing", "accounting",
    ]  # fmt: skip
    for measure in promised(view):
        assert (measure.reason is None) == bool(measure.values)


def test_promise_numbers(view: RunView) -> None:
    table = promise_table(view)
    (denied,) = found(table, measure="text of private or foreign sources sent", arm="capsule", baseline="")
    assert denied["value"] == 0.0
    (naive,) = found(table, measure="text of private or foreign sources sent", arm="naive", baseline="")
    assert naive["value"] > 0  # type: ignore[operator]
    (mapped,) = found(table, promise="inspectable", arm="capsule", baseline="")
    assert mapped["value"] == 1.0
    (reuse,) = found(table, promise="prefix reuse", arm="naive_volatile", baseline="")
    assert reuse["value"] == 0.0
    accepts = [row for row in table.rows if "false accepts" in row[1]]
    assert {row[4].split(" of ")[0] for row in accepts} == {"0"}


def test_a_run_that_was_not_rebuilt_says_so(report: ReportInput) -> None:
    rows = promise_table(RunView(replace(report, rebuilt=()))).rows
    (row,) = [row for row in rows if row[1] == "request digests equal after a rebuild in a new process"]
    assert (row[2], row[4]) == (
        NOT_MEASURED,
        "nothing was built again (rebuild=false, or the rebuild failed)",
    )


def test_a_private_source_in_no_sample_is_not_a_zero(report: ReportInput) -> None:
    samples = [replace(s, denied=()) for s in report.samples]
    table = promise_table(RunView(replace(report, samples=samples)))
    (row,) = found(table, measure="text of private or foreign sources sent")
    assert (row["value"], row["reason"]) == (None, "no sample has a source labelled denied")


def test_isolation_is_measured_with_two_projects(report: ReportInput) -> None:
    samples = [replace(s, project=f"p{i % 2}") for i, s in enumerate(report.samples)]
    leak = next(
        r.request_id for r in report.requests if r.cell_id == "capsule.primed" and r.phase == "quality"
    )
    responses = [replace(r, measured_cached=160) if r.request_id == leak else r for r in report.responses]
    table = promise_table(RunView(replace(report, samples=samples, responses=responses)))
    (row,) = found(table, measure="cached across projects, with salt", arm="capsule", baseline="")
    assert row["value"] == pytest.approx(32 / 10)  # pump-02 has no prediction, pump-11 no prompt
    (row,) = found(table, measure="cached across projects, with salt", arm="naive", baseline="")
    assert row["value"] == 0.0


def test_unexplained_tokens_are_seen(report: ReportInput) -> None:
    def broken(build):  # type: ignore[no-untyped-def]
        return replace(build, n_prompt=build.n_prompt + 3, silent_tokens=build.silent_tokens + 2)

    builds = [broken(b) if b.status == "ok" and b.arm_id == "capsule" else b for b in report.builds]
    table = promise_table(RunView(replace(report, builds=builds)))
    (prompt,) = found(
        table, measure="sent tokens that no part of the prompt explains", arm="capsule", baseline=""
    )
    (evidence,) = found(
        table, measure="candidate tokens neither sent nor counted as omitted", arm="capsule", baseline=""
    )
    assert (prompt["value"], evidence["value"]) == (3.0, 2.0)


def test_a_token_maps_if_its_piece_says_to_what(report: ReportInput) -> None:
    build = next(b for b in report.builds if b.status == "ok")
    pieces = (
        Piece(kind="bos", n=1),
        Piece(kind="item", n=2, ref="x:0-1"),
        Piece(kind="item", n=3),
        Piece(kind="joined", n=4),
    )
    changed = replace(build, pieces=pieces, n_prompt=10)
    assert measures.mapped_share(changed, report.samples[0]) == 0.3


def test_differences_pair_what_both_completed(view: RunView) -> None:
    table = differences_table(view)
    (row,) = found(table, metric="exact_citation", cell_id="capsule.cold", baseline="naive.cold")
    assert (row["n"], row["left_out"]) == (10, 2)  # one prompt not built, one engine error
    (void,) = found(table, metric="exact_citation", cell_id="capsule_extractive.cold", baseline="naive.cold")
    assert (void["mean"], void["reason"]) == (None, "capsule_extractive.cold is void")
    prompt = found(table, metric="tokens_prompt")
    assert {str(row["cell_id"]).split(".")[1] for row in prompt} == {"primed"}
    assert {row["baseline"] for row in found(table, metric="exact_citation")} >= {
        "naive.primed",
        "naive_volatile.primed",
    }


def test_the_brief_compares_means_of_the_same_samples(view: RunView) -> None:
    table = brief_table(view)
    assert table is not None
    for row in found(table):
        assert row["difference"] == pytest.approx(row["mean"] - row["mean_baseline"])  # type: ignore[operator]


def test_latency_and_tokens_hold_their_n(view: RunView) -> None:
    assert {row["n"] for row in found(latency_table(view), metric="ttft_us")} == {5}
    for row in found(tokens_table(view), metric="tokens_prompt"):
        assert row["n_ok"] == (11 if str(row["cell_id"]).startswith("capsule.") else 12)
    (void,) = found(tokens_table(view), metric="tokens_cache_read", cell_id="capsule_extractive.cold")
    assert (void["n_ok"], void["mean"]) == (0, None)


def test_outputs_are_compared_beside_their_floor(view: RunView) -> None:
    table = outputs_table(view)
    assert table is not None
    (row,) = found(table, arm_id="naive", left="off", right="primed")
    assert row["n"] == 12
    assert (row["floor_n"], row["floor_differ"]) == (4, 1)  # one repeat of the first four goes on longer
    assert {shown[-1] for shown in table.rows} == {"1 of 4"}
    assert not found(table, arm_id="naive_volatile")


def test_without_a_repeat_the_floor_is_not_measured(report: ReportInput) -> None:
    quiet = replace(report, requests=[row for row in report.requests if row.phase != "floor"])
    table = outputs_table(RunView(quiet))
    assert table is not None
    assert {shown[-1] for shown in table.rows} == {NOT_MEASURED}


def test_a_cached_share_stands_beside_time_and_throughput(view: RunView, report: ReportInput) -> None:
    (row,) = found(cache_table(view), cell_id="naive.off")
    assert (row["cached_share"], row["equal"], row["compared"], row["n_latency"]) == (0, 21, 21, 5)
    assert row["requests_per_s"] == 12 / 4  # twelve answers in four seconds
    tokens = sum(r.n_prompt for r in report.requests if (r.cell_id, r.phase) == ("naive.off", "quality"))
    assert row["prompt_tokens_per_s"] == tokens / 4
    (row,) = found(cache_table(view), cell_id="capsule.primed")
    assert (row["null"], row["null_reasons"]) == (1, "1 evicted")
    (lost,) = found(cache_table(view), cell_id="naive.cold")
    assert lost["requests_per_s"] == 11 / 4  # the lost answer took its time
    halted = [replace(c, answered=3) if c.cell_id == "naive.off" else c for c in report.cells]
    (row,) = found(cache_table(RunView(replace(report, cells=halted))), cell_id="naive.off")
    assert (row["requests_per_s"], row["prompt_tokens_per_s"]) == (None, None)


def test_examples_are_chosen_by_rule_and_hold_real_text(view: RunView) -> None:
    chosen = examples(view)
    assert 2 <= len(chosen) <= 6
    verdicts = [v for example in chosen for answer in example.answers for v in answer.verdicts]
    assert any(v.startswith("exact: ") for v in verdicts)
    assert any(v.startswith("not exact: ") for v in verdicts)
    assert {len(example.answers) for example in chosen} == {4}


def test_upper_bounds_are_called_so(report: ReportInput) -> None:
    arms = tuple(
        replace(arm, retrieval=replace(arm.retrieval, name="gold")) if arm.arm_id == "capsule" else arm
        for arm in report.spec.arms
    )
    view = RunView(replace(report, spec=replace(report.spec, arms=arms)))
    assert [arm.arm_id for arm in view.arms if is_upper_bound(arm)] == ["capsule"]
    names = [row[0] for row in arms_table(view).rows]
    assert "capsule (upper bound, sees gold)" in names


def test_every_metric_is_defined_in_the_report(files: dict[str, bytes]) -> None:
    lines = files["tables/metrics.csv"].decode().splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == list(METRICS)


def test_errors_are_told_at_the_top_and_only_where_there_are_some(report: ReportInput) -> None:
    def warnings(changed: ReportInput) -> list[str]:
        blocks = compose(RunView(changed)).sections[0].blocks
        return [b.text for b in blocks if isinstance(b, Paragraph) and b.warning]

    (told,) = [text for text in warnings(report) if text.startswith("ERRORS: ")]
    answers, builds = len({r.request_id for r in report.responses}), len(report.builds)
    assert f"1 of {answers:,} requests failed, 1 of {builds:,} prompts could not be built" in told
    good = [row for row in report.responses if row.status == "ok"]
    kept = [row for row in report.requests if row.request_id in {r.request_id for r in good}]
    built = [row for row in report.builds if row.status == "ok"]
    clean = replace(report, responses=good, requests=kept, builds=built)
    assert not [text for text in warnings(clean) if text.startswith("ERRORS")]
