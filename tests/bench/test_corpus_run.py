"""A task with a corpus, from its files to a verified run: pool, rest, scores and report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.dry_arms import count_arms, lines
from bench.pipeline import Outcome
from bench.records import BuildRow, SampleRow
from bench.records_io import read_rows
from bench.run_store import RunFolder
from bench.specs import RunSpec
from bench.stored_run import StoredRun
from bench.verification import verify_run
from capsules.canonical import canonical_bytes
from capsules.content_id import content_id
from capsules.omission import OUTSIDE_POOL

PIERS = [f"Pier {name} was built in {year}. It is {name}." for name, year in (("Ada", 1901), ("Bo", 1902))]
DOCS = [*PIERS, "The ferry has no pier.", "Gulls nest here.", "Herring is smoked.", "Nobody knows."]
QUESTIONS = ["When was pier Ada built?", "When was pier Bo built?", "What is smoked?"]
GOLD = [0, 1, 3]  # the last one's gold says nothing about smoke: no pool of one chunk holds it


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_bytes(b"".join(canonical_bytes(row) + b"\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def run(run_small: Callable[..., Outcome], tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run over a pool of one chunk, kept whole."""
    folder = tmp_path_factory.mktemp("own")
    corpus = write(folder / "corpus.jsonl", [{"id": f"d{n}", "text": text} for n, text in enumerate(DOCS)])
    asked: list[dict[str, object]] = [
        {
            "id": f"q{n}",
            "question": question,
            "answers": ["built"],
            "spans": [{"source": f"d{GOLD[n]}", "start": 0, "end": len(DOCS[GOLD[n]])}],
        }
        for n, question in enumerate(QUESTIONS)
    ]
    file = write(folder / "asked.jsonl", asked)
    small = [f"arms.{arm}.retrieval.{key}=1" for arm in ("naive", "capsule") for key in ("k", "pool")]
    files = [f"task.options.file={file}", f"task.options.corpus={corpus}"]
    return run_small(folder, "task=custom", "task.examples=0", *files, *small).folder


def test_the_rest_is_one_omission_and_the_run_verifies(run: RunFolder) -> None:
    assert [(c.check, c.detail) for c in verify_run(run, None) if c.result != "pass"] == []
    builds = {(b.sample_id, b.arm_id): b for b in read_rows(run.builds, BuildRow)}
    # Eight sentences; of pier Ada two are candidates.
    assert builds["q0", "capsule"].omissions == ((OUTSIDE_POOL, 6, None),)
    assert builds["q2", "capsule"].omissions == ((OUTSIDE_POOL, 7, None),)
    assert builds["q0", "naive"].omissions == ()
    samples = read_rows(run.samples, SampleRow)
    assert [row.sources for row in samples] == [()] * 3
    assert samples[0].gold_spans == ((content_id(DOCS[0].encode()), 0, len(DOCS[0])),)


def test_recall_counts_what_the_pool_missed(run: RunFolder) -> None:
    stored = StoredRun(run)
    found = {
        (row.sample_id, row.metric): row.value
        for row in stored.score()
        if row.cell_id == "capsule.off" and row.metric.startswith("gold_recall")
    }
    for stage in ("retrieval", "selection", "compression", "budget"):
        assert [found[f"q{n}", f"gold_recall_{stage}"] for n in range(3)] == [1.0, 1.0, 0.0]


def test_counts_and_report_show_the_rest_apart(run: RunFolder) -> None:
    spec: RunSpec = StoredRun(run).spec
    (capsule,) = (arm for arm in count_arms(run, spec) if arm.arm_id == "capsule")
    assert (capsule.outside, capsule.omissions) == (6 + 6 + 7, {})
    assert "  outside the pool, apart: 19 items, tokens not counted" in lines([capsule], {})
    table = (run.path / "tables" / "omissions.csv").read_text("utf-8").splitlines()
    rows = [line for line in table if line.startswith("capsule,")]
    assert [line.split(",")[2:4] for line in rows] == [
        [OUTSIDE_POOL, "19"],
        ["candidates", "5"],
        ["sent", "5"],
    ]
    assert "not counted" in (run.path / "report.md").read_text("utf-8")
