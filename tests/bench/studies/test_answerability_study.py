from __future__ import annotations

from pathlib import Path

import pytest

from bench.__main__ import main
from bench.evidence.answerability import Answerability
from bench.studies.answerability import Verdict, best_threshold, score


def verdict(score_bp: int, answerable: bool, time_bp: int | None = None) -> Verdict:
    judged = Answerability(
        score_bp=score_bp, coverage_bp=score_bp, time_bp=time_bp, missing=(), scope=None, in_scope=None
    )
    return Verdict(judged=judged, answerable=answerable, refused=False)


@pytest.mark.parametrize(
    ("rows", "threshold"),
    [
        ([(1000, False), (2000, False), (3000, True)], 2001),  # the lowest that tells them apart
        ([(1000, True), (2000, False)], 0),  # nothing is better than always yes
        ([(5000, True), (5000, False), (9000, True)], 5001),
        ([(4000, True)], 0),
    ],
)
def test_the_lowest_best_threshold(rows: list[tuple[int, bool]], threshold: int) -> None:
    assert best_threshold([verdict(*row) for row in rows]) == threshold


def test_the_table_by_hand() -> None:
    verdicts = [
        verdict(1000, False),
        verdict(8000, True),
        verdict(2000, False, time_bp=0),
        verdict(9000, True, time_bp=10_000),
        verdict(7000, False),
        verdict(3000, True),
    ]
    rows = {row.what: row for row in score(verdicts, 5000, draws=50, seed=0)}
    every = rows["all samples"]
    assert (every.threshold_bp, every.n, every.unanswerable) == (5000, 6, 3)
    assert every.accuracy is not None
    assert every.accuracy.value == 4 / 6
    assert every.precision is not None
    assert (every.precision.value, every.precision.n) == (2 / 3, 3)
    assert every.recall is not None
    assert (every.recall.value, every.recall.n) == (2 / 3, 3)
    assert every.majority is not None
    assert every.majority.value == 0.5
    # answerable 8000 9000 3000 against 1000 2000 7000: 8 of 9 pairs in order
    assert every.auroc.value == pytest.approx(8 / 9)
    half = rows["second half, threshold of the first"]
    assert (half.threshold_bp, half.n, half.unanswerable) == (
        2001,
        3,
        1,
    )  # the first three: 1000 no 8000 yes 2000 no
    time = rows["time alone"]
    assert (time.n, time.auroc.value, time.accuracy) == (2, 1.0, None)


def test_scores_below_the_threshold_are_unanswerable() -> None:
    (row, *_) = score([verdict(5000, True), verdict(4999, False)], 5000, draws=5, seed=0)
    assert row.accuracy is not None
    assert row.accuracy.value == 1.0


def test_the_command_on_clapnq(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], capsule_data: Path
) -> None:
    out = tmp_path / "out"
    assert main(["study", "answerability", "task=clapnq", "limit=12", "bootstrap=20", "--out", str(out)]) == 0
    assert (out / "answerability-clapnq.md").read_text("utf-8") == capsys.readouterr().out
    assert main(["study", "answerability", "task=clapnq", "limit=12", "bootstrap=20", "--json"]) == 0
    assert '"unanswerable":6' in capsys.readouterr().out


def test_one_kind_alone_cannot_be_scored(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "answerability", "task=synthetic", "limit=4"]) == 2
    assert "expected answerable and unanswerable samples, found 4 of one kind" in capsys.readouterr().err
