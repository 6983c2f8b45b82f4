from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.studies.stages import rows_of
from capsules.canonical import canonical_bytes

ASKED = ["study", "stages", "experiment=build", "engine=fake", "tokenizer=bytes", "limit=3", "bootstrap=20"]
ONE_ARM = ["~arm@arms.naive_volatile", "~arm@arms.capsule_extractive"]


def test_the_rows_by_hand() -> None:
    rows = rows_of("a", [{"laws": 1000, "claims": 3000}, {"claims": 4000}], draws=20, seed=0)
    assert [(row.stage, row.n, row.mean, row.median, row.share) for row in rows] == [
        ("claims", 2, 3.5, 3.5, 7 / 8),  # microseconds; in the order of a build
        ("laws", 2, 0.5, 0.5, 1 / 8),
        ("all", 2, 4.0, 4.0, 1.0),
    ]
    assert rows[-1].interval is not None
    assert rows[-1].interval.flat
    assert rows_of("a", [], draws=20, seed=0) == []


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASKED, *ONE_ARM, "--json", "--out", str(tmp_path)]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    stages = {arm: {row["stage"] for row in rows if row["arm_id"] == arm} for arm in ("naive", "capsule")}
    assert stages["naive"] == {"other", "storing", "all"}
    assert {"candidates", "retrieval", "selection", "claims", "sealing", "validation"} <= stages["capsule"]
    assert {row["n"] for row in rows} == {3}
    whole = {row["arm_id"]: row["mean_us"] for row in rows if row["stage"] == "all"}
    for arm, mean in whole.items():
        parts = [row["mean_us"] for row in rows if row["arm_id"] == arm and row["stage"] != "all"]
        assert sum(parts) == pytest.approx(mean, abs=len(parts))
    assert "mean, ms" in (tmp_path / "stages-synthetic.md").read_text("utf-8")


def test_what_has_no_prompt_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = "Alma is " + "very " * 600 + "old."
    file = tmp_path / "long.jsonl"
    line = {
        "id": "s",
        "question": "How old?",
        "sources": [{"id": "a", "text": long}],
        "required": [{"source": "a", "start": 0, "end": 8}],
    }
    file.write_bytes(canonical_bytes(line) + b"\n")
    own = ["task=custom", f"task.options.file={file}", "task.examples=0", "~arm@arms.naive"]
    assert main([*ASKED, *ONE_ARM, *own]) == 2
    assert "expected prompts to time, found none" in capsys.readouterr().err
