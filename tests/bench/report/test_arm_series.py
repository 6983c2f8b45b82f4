"""Series of arms that differ in one whole number: found by settings, named by what their names share."""

from __future__ import annotations

from dataclasses import replace

from bench.report.arm_series import arm_series
from bench.report.inputs import ReportInput
from bench.specs import ArmSpec


def limited(arm: ArmSpec, limit: int, name: str) -> ArmSpec:
    return replace(arm, arm_id=name, budget=replace(arm.budget, evidence_limit=limit))


def test_arms_that_differ_in_one_number_are_a_series_by_rising_value(report: ReportInput) -> None:
    naive, _, capsule, _ = report.spec.arms
    arms = [limited(capsule, n, f"capsule_{n}") for n in (512, 128, 256)]
    arms += [limited(naive, n, f"naive_{n}") for n in (128, 512, 256)]
    found = arm_series(arms)
    assert {(s.name, s.key, tuple(x for x, _ in s.arms)) for s in found} == {
        ("capsule", "budget.evidence_limit", (128, 256, 512)),
        ("naive", "budget.evidence_limit", (128, 256, 512)),
    }


def test_two_arms_or_a_second_difference_are_no_series(report: ReportInput) -> None:
    capsule = report.spec.arms[2]
    two = [limited(capsule, n, f"capsule_{n}") for n in (128, 256)]
    assert arm_series(two) == []
    third = limited(capsule, 512, "capsule_512")
    other = replace(third, selection=replace(third.selection, name="mmr"))
    assert arm_series([*two, other]) == []
    assert len(arm_series([*two, third])) == 1
    assert arm_series(report.spec.arms) == []  # the quickstart has none


def test_arms_without_a_shared_name_are_named_by_the_first(report: ReportInput) -> None:
    capsule = report.spec.arms[2]
    (series,) = arm_series([limited(capsule, n, name) for n, name in ((1, "a"), (2, "b"), (3, "c"))])
    assert series.name == "a"
