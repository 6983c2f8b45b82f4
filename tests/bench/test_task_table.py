"""``list tasks --data`` and ``recall --tasks``: what every task holds, and that the docs say the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.recall import RecallRow
from bench.recall_table import TaskRecall, recall_markdown
from bench.task_table import OF_THE_USER, TaskRow, count_tasks, markdown, table_names
from tasks.registry import TASKS

DOCS = Path(__file__).parents[2] / "docs"


def nothing(count: int) -> None:
    assert count == 1


@pytest.fixture(scope="module")
def rows(capsule_data: Path) -> list[TaskRow]:
    """Every task, read whole."""
    assert capsule_data
    return count_tasks(table_names(), nothing)


def test_every_task_has_a_row_and_its_rows_add_up(rows: list[TaskRow]) -> None:
    assert {row.task for row in rows} == set(TASKS) - set(OF_THE_USER)
    for row in rows:
        assert row.error is None
        assert row.rows == row.samples + sum((row.refused or {}).values()), row.task
        left_out = (row.repaired or {}).get("left_out", 0)
        places = row.exact + sum((row.repaired or {}).values()) - left_out
        assert places >= row.spans, row.task  # several answers may name one range
        assert row.with_gold <= min(row.samples, row.spans), row.task


def test_the_table_of_the_docs_is_what_the_command_prints(rows: list[TaskRow]) -> None:
    page = (DOCS / "tasks.md").read_text("utf-8").splitlines()
    at = page.index(markdown([])[0])
    assert page[at : at + len(rows) + 2] == markdown(rows)


def test_the_recall_table_of_the_docs_is_of_the_same_samples(rows: list[TaskRow]) -> None:
    page = (DOCS / "retrieval.md").read_text("utf-8")
    by_task = {row.task: row for row in rows}
    told = [
        [cell.strip() for cell in line.split("|")[1:4]]
        for line in page.split("recall --tasks all")[1].splitlines()
        if line.startswith("| `")
    ]
    assert len(told) > 10
    for task, n, spans in told:
        row = by_task[task.strip("`")]
        assert (n, spans) == (f"{row.with_gold:,}", f"{row.spans:,}")


def test_a_task_that_cannot_be_loaded_is_a_line_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CAPSULE_DATA", str(tmp_path))
    (synthetic, arcd) = count_tasks(("synthetic", "arcd"), nothing)
    assert (synthetic.error, synthetic.samples, synthetic.rows) == (None, 64, 64)
    assert arcd.error is not None
    assert "squad-multilingual/arcd-test.json" in arcd.error
    assert markdown([arcd])[-1].startswith("| `arcd` | not loaded: task arcd: no such file")
    few = ("arcd", "musique", "synthetic", "xquad_en")
    monkeypatch.setattr("bench.task_table.table_names", lambda: few)
    assert main(["list", "tasks", "--data", "--json"]) == 2
    value = json.loads(capsys.readouterr().out)
    assert [row["task"] for row in value["tasks"]] == list(few)
    assert [row["task"] for row in value["tasks"] if row["error"] is None] == ["synthetic"]


@pytest.mark.parametrize("what", ["arms", "metrics", "experiments"])
def test_only_tasks_have_data(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", what, "--data"]) == 2
    assert f"expected `list tasks`, found `list {what}`" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["local_set", "nope"])
def test_what_tasks_share_is_never_offered(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recall", f"task={name}"]) == 2
    said = capsys.readouterr().err
    assert f"unknown task '{name}': expected one of arcd, " in said
    assert "local_set" not in said.split("expected one of")[1]


def recall_of(
    task: str, cells: Callable[[str, int], tuple[int | None, int | None, int | None]]
) -> TaskRecall:
    found = tuple(
        RecallRow(retriever=name, k=k, n=2, spans=3, mean_bp=mean, low_bp=low, high_bp=high)
        for name in ("a", "b")
        for k in (1, 2)
        for mean, low, high in (cells(name, k),)
    )
    return TaskRecall(
        task=task,
        content_digest="b3:",
        corpus=0,
        chunk="paragraph",
        samples=4,
        asked=2,
        passages=9,
        refused=0,
        bootstrap=9,
        rows=found,
    )


def test_the_recall_table_leaves_out_rows_where_all_is_found() -> None:
    half = recall_of("half", lambda name, k: (5_000, 2_500, 7_500) if k == 1 else (10_000, None, None))
    all_found = recall_of("all", lambda name, k: (10_000, None, None))
    mixed = recall_of("mixed", lambda name, k: (10_000, None, None) if name == "a" else (3_333, None, None))
    assert recall_markdown([half, all_found, mixed], ["a", "b"])[2:] == [
        "| `half` | 2 | 3 | 4.5 | 1 | 50.0 (25.0 to 75.0) | 50.0 (25.0 to 75.0) |",
        "| `mixed` | 2 | 3 | 4.5 | 1 | 100.0 | 33.3 |",
        "|  |  |  |  | 2 | 100.0 | 33.3 |",
    ]


def test_recall_of_several_tasks_is_one_json_line(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    arguments = ["--tasks", "synthetic", "--k", "1", "--retrievers", "bm25,full_context"]
    assert main(["recall", "limit=8", *arguments]) == 0
    captured = capsysbinary.readouterr()
    (task,) = json.loads(captured.out)["tasks"]
    assert (task["task"], task["samples"], {row["n"] for row in task["recall"]}) == ("synthetic", 8, {8})
    assert b"| `synthetic` | 8 | 8 |" in captured.err


def test_an_unknown_task_to_measure_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recall", "--tasks", "synthetic,nope"]) == 2
    assert "unknown task 'nope': expected all, or some of arcd," in capsys.readouterr().err
