"""Every registered task goes through every builder of the default experiment, as ``build`` does it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.dry_arms import count_arms, count_refused, lines, stored_counts
from bench.dry_run import count_cells
from bench.hydra_app import compose_config
from bench.pipeline import build_only
from bench.progress import Reporter
from bench.records import BuildRow
from bench.records_io import read_rows
from capsules.canonical import canonical_bytes
from tasks.registry import TASKS

ARMS = ("naive", "naive_volatile", "capsule", "capsule_extractive")
BUDGETS = ("engine.window=400000", *(f"arms.{a}.budget.window=400000" for a in ARMS))
WITHOUT_DATA = ("custom", "synthetic")
SQUAD_FILE = "squad-multilingual/jsquad_valid-v1.3.json"


def overrides(task: str, folder: Path) -> list[str]:
    """What a task needs beyond its name."""
    if task == "custom":
        path = folder / "own.jsonl"
        rows = [
            {
                "id": f"q{n}",
                "question": f"How long is pier {n}?",
                "sources": [{"id": f"d{n}", "text": f"Pier {n} is {n} metres long. It is old."}],
                "answers": [f"{n} metres"],
                "spans": [{"source": f"d{n}", "start": 0, "end": 10}],
            }
            for n in range(4)
        ]
        path.write_bytes(b"".join(canonical_bytes(row) + b"\n" for row in rows))
        return [f"task.options.file={path}"]
    return [f"task.options.file={SQUAD_FILE}"] if task == "squad" else []


@pytest.mark.parametrize("task", sorted(TASKS))
def test_the_task_builds(
    task: str, byte_tokenizer: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if task not in WITHOUT_DATA:
        assert request.getfixturevalue("capsule_data") == Path(os.environ["CAPSULE_DATA"])
    config = compose_config(
        [
            "experiment=build",
            f"task={task}",
            "limit=2",
            f"tokenizer=hf:{byte_tokenizer}",
            *BUDGETS,
            *overrides(task, tmp_path),
        ]
    )
    folder, spec, plan = build_only(config, tmp_path / "results", Reporter(quiet=True))
    rows = read_rows(folder.builds, BuildRow)
    assert [(row.status, row.error) for row in rows] == [("ok", None)] * 8
    assert not plan.skipped
    for row in rows:
        assert row.n_prompt == sum(piece.n for piece in row.pieces)
        assert all(held for _, held in row.laws)
        assert len(row.laws) == (4 if row.arm_id.startswith("capsule") else 0)
    arms = {arm.arm_id: arm for arm in count_arms(folder, spec)}
    assert [arm.prompts for arm in arms.values()] == [2] * 4
    for arm in arms.values():
        recall = list(arm.recall.values())
        assert recall == sorted(recall, reverse=True)  # no stage brings evidence back
        assert bool(recall) == bool(arm.with_gold)
        quality = [c for c in count_cells(spec, plan) if c.cell_id.startswith(f"{arm.arm_id}.")]
        assert {cell.tokens for cell in quality} == {arm.tokens}
    assert arms["capsule"].silent == (0, 0)
    said = "\n".join(lines(list(arms.values()), count_refused(folder)))
    assert "gold evidence left after " in said
    assert "rows refused: " in said
    data = stored_counts(folder)
    assert data is not None
    assert data.read == data.samples + data.reserved + sum(data.refused.values()) + data.unused
    assert (data.samples, data.refused) == (2, count_refused(folder))
    assert data.reserved >= data.examples
