"""What a report says of prompts that could not be built, and of requests without a measurement."""

from __future__ import annotations

from dataclasses import replace

from bench.report.facts import compare_predictions, what_went_wrong
from bench.report.inputs import ReportInput
from bench.report.numbers import MISSING
from bench.report.tables_compression import losses_table
from bench.report.tables_unbuilt import unbuilt_table, unbuilt_told
from bench.report.view import RunView


def test_requests_without_a_measurement_are_counted_by_reason(report: ReportInput) -> None:
    """One request failed and one cell is void; two more are made to say nothing, one to have been retried."""
    view = RunView(report)
    void = sum((q.cell_id, q.phase) in view.index.void for q in report.requests)
    assert dict(compare_predictions(view).unmeasured) == {"failed": 1, "in a void cell": void}
    good = [r for r in report.responses if r.status == "ok" and view.index.responses[r.request_id] is r]
    keys = {q.request_id: (q.cell_id, q.phase) for q in report.requests}
    seen = [r for r in good if keys[r.request_id] not in view.index.void and r.measured_cached is not None]
    changed = {
        seen[0].request_id: replace(seen[0], retries=1),
        seen[1].request_id: replace(seen[1], measured_cached=None),
        seen[2].request_id: replace(seen[2], measured_cached=None),
    }
    responses = [changed.get(r.request_id, r) for r in report.responses]
    turned = RunView(replace(report, responses=responses))
    told = dict(compare_predictions(turned).unmeasured)
    assert told == {"failed": 1, "in a void cell": void, "retried": 1, "not said by the engine": 2}
    facts = dict(what_went_wrong(turned))
    assert "2 not said by the engine, 1 failed, 1 retried" in facts["Requests without a measurement"]


def test_prompts_that_could_not_be_built_are_told_by_arm_and_code(report: ReportInput) -> None:
    def told(changed: ReportInput) -> str:
        text = unbuilt_told(RunView(changed))
        assert text is not None
        return text

    first = told(report)
    assert first.startswith("NO PROMPT: capsule, 1 of 12 samples: budget.protected.truncated (")
    assert first.endswith("Tokens are counted by the model's own tokenizer.")
    counted = replace(report, spec=replace(report.spec, tokenizer="bytes"))
    assert "Tokens are counted by tokenizer bytes, not by the model's own" in told(counted)
    many = [
        replace(row, arm_id=f"arm_{n}", status="error", error="x.y: why")
        for n in range(8)
        for row in report.builds[:1]
    ]
    assert told(replace(report, builds=many)).endswith("; and 2 more in the table below.")
    table = unbuilt_table(RunView(replace(report, builds=many)))
    assert table is not None
    assert [row[:4] for row in table.data] == [(f"arm_{n}", "x.y", 1, 1) for n in range(8)]
    clean = RunView(replace(report, builds=[row for row in report.builds if row.status == "ok"]))
    assert (unbuilt_told(clean), unbuilt_table(clean)) == (None, None)


def test_an_arm_without_a_prompt_lost_nothing_that_is_known(report: ReportInput) -> None:
    arms = [
        replace(arm, compression=replace(arm.compression, mode="raw"))
        if arm.arm_id == "capsule_extractive"
        else arm
        for arm in report.spec.arms
    ]
    builds = [
        replace(row, status="error", error="budget.required.unfit: no")
        if row.arm_id == "capsule_extractive"
        else row
        for row in report.builds
    ]
    table = losses_table(RunView(replace(report, spec=replace(report.spec, arms=tuple(arms)), builds=builds)))
    (data,) = [row for row in table.data if row[0] == "capsule_extractive"]
    assert data[1:7] == (0, None, None, None, None, None)
    (shown,) = [row for row in table.rows if row[0] == "capsule_extractive"]
    assert shown[2:7] == (MISSING,) * 5
