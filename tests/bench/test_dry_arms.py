"""What ``build`` says of each arm, against rows changed by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.dry_arms import ArmCount, count_arms, count_refused, lines
from bench.hydra_app import compose_config
from bench.pipeline import build_only
from bench.progress import Reporter
from bench.records import BuildRow, SampleRow
from bench.records_io import read_rows, rows_bytes
from bench.run_store import RunFolder
from bench.specs import RunSpec
from tasks.base import RefusedRow


@pytest.fixture
def dry(small: Callable[..., list[str]], tmp_path: Path) -> tuple[RunFolder, RunSpec]:
    """Three samples; full context, so that no gold is lost before the budget."""
    config = compose_config(
        small(
            *(f"arms.{a}.retrieval.name=full_context" for a in ("capsule", "naive")),
            "~arm@arms.naive_volatile",
        )
    )
    folder, spec, _ = build_only(config, tmp_path, Reporter(quiet=True))
    return folder, spec


def of(arms: list[ArmCount], arm_id: str) -> ArmCount:
    (found,) = (arm for arm in arms if arm.arm_id == arm_id)
    return found


def test_sums_are_those_of_the_rows(dry: tuple[RunFolder, RunSpec]) -> None:
    folder, spec = dry
    rows = [row for row in read_rows(folder.builds, BuildRow) if row.arm_id == "capsule"]
    capsule = of(count_arms(folder, spec), "capsule")
    assert (capsule.prompts, capsule.with_gold, capsule.failed) == (3, 3, {})
    assert capsule.recall["retrieval"] == 10_000
    assert capsule.tokens == sum(row.n_prompt for row in rows)
    assert sum(items for items, _ in capsule.omissions.values()) == sum(
        items for row in rows for _, items, _ in row.omissions
    )
    assert count_refused(folder) == {}


def test_a_prompt_that_could_not_be_built_counts_as_nothing_found(dry: tuple[RunFolder, RunSpec]) -> None:
    folder, spec = dry
    rows = read_rows(folder.builds, BuildRow)
    first = next(i for i, row in enumerate(rows) if row.arm_id == "capsule")
    rows[first] = dataclasses.replace(
        rows[first],
        status="error",
        error="budget.required.unfit: too long",
        stages=(),
        omissions=(),
        n_prompt=0,
    )
    folder.builds.write_bytes(rows_bytes(rows))
    capsule = of(count_arms(folder, spec), "capsule")
    assert (capsule.prompts, capsule.with_gold) == (2, 3)
    assert capsule.recall["retrieval"] == 6_667  # two of three samples
    assert capsule.failed == {"budget.required.unfit": 1}
    assert "  not built: budget.required.unfit 1" in lines([capsule], {})


def test_samples_without_gold_have_no_recall_and_refused_rows_are_counted_by_code(
    dry: tuple[RunFolder, RunSpec],
) -> None:
    folder, spec = dry
    samples = read_rows(folder.samples, SampleRow)
    folder.samples.write_bytes(rows_bytes([dataclasses.replace(row, gold_spans=()) for row in samples]))
    refused = [RefusedRow(row=f"line {n}", where="", code=c, reason="r") for n, c in enumerate("bab")]
    folder.refused.write_bytes(rows_bytes(refused))
    capsule = of(count_arms(folder, spec), "capsule")
    assert (capsule.with_gold, capsule.recall) == (0, {})
    said = lines([capsule], count_refused(folder))
    assert said[-1] == "rows refused: a 1, b 2"
    assert "  gold evidence left after no stage (0 samples with gold spans)" in said
