from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.studies.contradictions import judge, score
from bench.studies.labelled_pairs import LabelledPair, labelled_pairs
from capsules.source import Origin
from tasks.base import Gold, LabelledContradiction, Sample, SampleInput, SourceDoc, TextRange


def sample_of(
    name: str,
    texts: dict[str, str],
    pairs: Sequence[tuple[str, str]],
    gold: Sequence[str] = (),
) -> Sample:
    """A sample whose labels and gold spans are the first word of a document."""

    def place(doc_id: str) -> TextRange:
        return TextRange(doc_id=doc_id, start=0, end=len(texts[doc_id].split()[0]))

    docs = [
        SourceDoc(
            doc_id=doc_id,
            text=text,
            title=None,
            origin=Origin(dataset="toy", row=doc_id),
            license="CC0-1.0",
            project="p",
        )
        for doc_id, text in texts.items()
    ]
    given = SampleInput(
        sample_id=name,
        task="toy",
        project="p",
        question=f"claim {name}",
        sources=tuple(docs),
        as_of="2026-01-01T00:00:00Z",
        contradictions=tuple(
            LabelledContradiction(left=place(a), right=place(b), kind="labelled") for a, b in pairs
        ),
    )
    return Sample(input=given, gold=Gold(answers=("a",), spans=tuple(place(one) for one in gold)))


def told(pairs: Sequence[LabelledPair]) -> list[tuple[str, str, str, bool, str]]:
    return [(p.group, p.left, p.right, p.contradicts, p.stratum) for p in pairs]


def test_pairs_of_claims_and_evidence() -> None:
    samples = [
        sample_of("1", {"e1": "yes 1", "e2": "no 1"}, [("e1", "e2")]),
        sample_of("2", {"e1": "no 1", "e2": "yes 1"}, [("e1", "e2")]),  # the mirrored claim
        sample_of("3", {"e1": "yes 3", "e2": "no 3"}, [("e1", "e2")]),
        sample_of("4", {"e1": "alone"}, []),
    ]
    assert told(labelled_pairs("fever_symmetric", samples)) == [
        ("claim and evidence", "claim 1", "yes 1", False, ""),
        ("claim and evidence", "claim 1", "no 1", True, ""),
        ("claim and evidence", "claim 2", "no 1", False, ""),
        ("claim and evidence", "claim 2", "yes 1", True, ""),
        ("claim and evidence", "claim 3", "yes 3", False, ""),
        ("claim and evidence", "claim 3", "no 3", True, ""),
        ("evidence and evidence", "yes 1", "no 1", True, ""),
        ("evidence and evidence", "yes 3", "no 3", True, ""),
        ("evidence and evidence", "no 1", "yes 3", False, ""),  # 1 and 2 share their evidence: no pair
    ]


def test_pairs_of_right_and_wrong_documents() -> None:
    texts = {"a": "Oslo it is", "b": "oslo again", "c": "Rome too", "w": "Paris rather", "n": "noise"}
    sample = sample_of("1", texts, [("a", "w")], gold=("a", "b", "c"))
    assert told(labelled_pairs("ramdocs", [sample])) == [
        ("documents", "Oslo it is", "oslo again", False, "same answer"),
        ("documents", "Oslo it is", "Rome too", False, "other answer"),
        ("documents", "oslo again", "Rome too", False, "other answer"),
        ("documents", "Oslo it is", "Paris rather", True, ""),
        ("documents", "oslo again", "Paris rather", True, ""),
        ("documents", "Rome too", "Paris rather", True, ""),
    ]


def test_pairs_of_any_task_count_once() -> None:
    texts = {"a": "one", "b": "two", "c": "three"}
    samples = [sample_of("1", texts, []), sample_of("2", texts, [("a", "b")])]
    assert told(labelled_pairs("mine", samples)) == [
        ("documents", "one", "two", True, "labelled labelled"),
        ("documents", "one", "three", False, ""),
        ("documents", "two", "three", False, ""),
    ]


def pair(
    cluster: str, contradicts: bool, left: str = "red barn", right: str = "red barn", **more: str
) -> LabelledPair:
    return LabelledPair(cluster=cluster, group="g", left=left, right=right, contradicts=contradicts, **more)


def test_a_pair_is_flagged_by_its_first_similar_sentences_in_conflict() -> None:
    seen: list[tuple[str, str]] = []

    def ask(pairs: Sequence[tuple[str, str]]) -> list[str | None]:
        seen.extend(pairs)
        return [None if "roof" in left else "date" for left, _ in pairs]

    left = "The red barn roof leaks. The red barn stands. Gulls nest."
    judged = judge(
        [pair("1", True, left, "The red barn burns."), pair("1", True, "Gulls.", "Terns.")], ask, 5000, int
    )
    assert [kind for _, kind in judged] == ["date", None]
    assert seen == [
        ("The red barn roof leaks.", "The red barn burns."),
        ("The red barn stands.", "The red barn burns."),
    ]


def test_precision_and_recall_by_hand() -> None:
    judged = [
        (pair("1", True), "date"),
        (pair("1", True), "numeric"),
        (pair("2", True), None),
        (pair("2", False, stratum="near"), "date"),
        (pair("3", False), None),
    ]
    rows = {(row.group, row.what): row for row in score(judged, "rule", 5000, draws=50, seed=0)}
    assert list(rows) == [("g", "any"), ("g", "numeric"), ("g", "date"), ("g: near", "any")]

    def values(group: str, what: str) -> list[tuple[float | None, int] | None]:
        row = rows[group, what]
        return [
            None if rate is None else (rate.value, rate.n)
            for rate in (row.precision, row.recall, row.false_alarms)
        ]

    assert values("g", "any") == [(2 / 3, 3), (2 / 3, 3), (1 / 2, 2)]
    assert values("g", "numeric") == [(1.0, 1), (1 / 3, 3), (0.0, 2)]
    assert values("g", "date") == [(1 / 2, 2), (1 / 3, 3), (1 / 2, 2)]
    assert values("g: near", "any") == [None, None, (1.0, 1)]


def test_the_command_writes_what_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert (
        main(["study", "contradictions", "task=synthetic", "limit=8", "bootstrap=20", "--out", str(out)]) == 0
    )
    printed = capsys.readouterr().out
    assert (out / "contradictions-synthetic.md").read_text("utf-8") == printed
    lines = (out / "contradictions-synthetic.csv").read_text("utf-8").splitlines()
    assert lines[0].startswith("pairs,detector,similarity_bp,kind,contradict,others,flagged,precision_value")
    assert "| documents | rule | 0.50 | any |" in printed


def test_a_task_without_labels_is_refused(capsys: pytest.CaptureFixture[str], capsule_data: Path) -> None:
    assert main(["study", "contradictions", "task=hotpotqa", "limit=2"]) == 2
    assert "expected labelled contradictions, found none" in capsys.readouterr().err
    assert main(["study", "contradictions", "task=synthetic", "--similarity", "0"]) == 2
    assert "--similarity: expected whole numbers from 1 to 10000" in capsys.readouterr().err
