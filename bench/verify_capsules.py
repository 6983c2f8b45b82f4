"""Validates every capsule that a run sent, as a stranger would: from the store, at a given time."""

from __future__ import annotations

from collections.abc import Iterator

from bench.groups import provider_asked
from bench.planner import OPERATION
from bench.stored_run import StoredRun
from capsules.errors import CapsuleError
from capsules.validation import Given, validate


def capsule_findings(run: StoredRun, now: str) -> Iterator[str]:
    """Every failure of every prompt capsule of a run, its evidence and sources included.

    Args:
        run: The run.
        now: Validity is judged at this time. Checks that need the tokenizer are not made.
    """
    projects = {row.sample_id: row.project for row in run.samples}
    asked = {arm.arm_id: provider_asked(arm) for arm in run.spec.arms}
    for row in run.builds:
        if row.prompt_capsule is None:
            continue
        given = Given(
            now=now,
            store=run.store,
            project=projects[row.sample_id],
            provider=asked[row.arm_id],
            operation=OPERATION,
        )
        try:
            data = run.store.get(row.prompt_capsule).data
        except CapsuleError as error:
            yield f"{row.prompt_capsule}: {error.code}"
            continue
        report = validate(data, given, expect=row.prompt_capsule)
        for check in report.checks:
            if check.result == "fail":
                yield f"{row.prompt_capsule}: {check.code} at {check.at or check.record}"
