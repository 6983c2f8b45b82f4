"""What became of the rows of a data set: told by ``build`` and stored with the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from data_facts import FACTS, REFUSED

from bench.__main__ import main
from bench.data_counts import data_counts, dataset_facts
from bench.run_store import read_json
from tasks.base import TaskData


def test_the_counts_add_up_for_people() -> None:
    counts = data_counts(FACTS, REFUSED)
    assert counts is not None
    assert list(counts.lines()) == [
        "rows read: 12 = 4 evaluated + 2 reserved for 1 example + 3 refused + 3 beyond the limit",
        "gold places: 7 exact; repaired: caseless 2, left_out 1",
    ]
    assert counts.to_value()["refused"] == {"json.syntax": 1, "text.control": 2}


def test_a_task_that_does_not_say_has_no_counts() -> None:
    data = TaskData(
        samples=(),
        examples=(),
        dataset="d",
        revision="1",
        license="l",
        content_digest="b3:",
        rows=0,
        origin="o",
    )
    assert data_counts(dataset_facts(data), []) is None
    assert data_counts({}, []) is None


def test_build_says_and_stores_the_counts(
    byte_tokenizer: Path,
    tmp_path: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [
        {
            "id": f"q{n}",
            "question": f"How long is pier {n}?",
            "sources": [{"id": f"d{n}", "text": f"Pier {n} is {n} metres long."}],
            "answers": [f"{n} metres"],
            "spans": [{"source": f"d{n}", "start": 0, "end": 18}],
        }
        for n in range(5)
    ]
    lines = [json.JSONEncoder().encode(row) for row in rows]
    own = tmp_path / "own.jsonl"
    own.write_text("\n".join([*lines[:2], "{", *lines[2:]]), encoding="utf-8")
    arguments = ["task=custom", f"task.options.file={own}", "task.strict=false", "task.examples=1", "limit=2"]
    command = ["build", "experiment=build", f"tokenizer=hf:{byte_tokenizer}", "engine.window=400000"]
    budgets = [f"arms.{arm}.budget.window=400000" for arm in ("naive", "capsule")]
    monkeypatch.chdir(tmp_path)
    code = main([*command, *budgets, *arguments])
    captured = capsysbinary.readouterr()
    value = json.loads(captured.out)
    assert code == value["exit"]
    assert value["data"] == {
        "read": 6,
        "samples": 2,
        "examples": 1,
        "reserved": 1,
        "unused": 2,
        "refused": {"json.syntax": 1},
        "gold_exact": 5,
        "gold_repaired": {},
    }
    said = captured.err.decode()
    assert "rows read: 6 = 2 evaluated + 1 reserved for 1 example + 1 refused + 2 beyond the limit" in said
    assert "gold places: 5 exact; repaired: none" in said
    assert read_json(Path(value["run"]) / "run.json")["dataset"]["read"] == 6
