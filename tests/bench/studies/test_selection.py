"""The selection study: samples by hand, verdicts by hand, and the command with its files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.config import to_spec
from bench.hydra_app import compose_config
from bench.metrics.bootstrap import Interval
from bench.specs import ArmSpec
from bench.studies.selection import SPLITS, half
from bench.studies.selection_files import Study, files, markdown
from bench.studies.selection_summary import Difference, differences, means
from bench.studies.selectors import CONTENDERS, PLACE, Cell, Shown, ask, compare
from bench.tokenizers import ByteTokenizer
from capsules.source import Origin
from tasks.base import Gold, Sample, SampleInput, SourceDoc, TextRange

BOATS = "The ferry Alma was built in 1931. Her engine is new."
BIRDS = "Gulls nest on the pier. Terns do not."
HEADER = len("[1] 0123456789\n") + 1


def doc(doc_id: str, text: str, level: str = "public") -> SourceDoc:
    origin = Origin(dataset="toy", row=doc_id)
    return SourceDoc(
        doc_id=doc_id, text=text, title=None, origin=origin, license="CC0-1.0", project="p", level=level
    )


def sample(*spans: tuple[str, int, int], level: str = "public", required: bool = False) -> Sample:
    return Sample(
        input=SampleInput(
            sample_id="s",
            task="toy",
            project="p",
            question="When was the ferry Alma built?",
            sources=(doc("birds", BIRDS, level), doc("boats", BOATS)),
            as_of="2026-01-01T00:00:00Z",
            required=(TextRange(doc_id="boats", start=0, end=5),) if required else (),
        ),
        gold=Gold(answers=("x",), spans=tuple(TextRange(doc_id=d, start=a, end=b) for d, a, b in spans)),
    )


BUILT, NEST, BOTH = ("boats", 27, 32), ("birds", 0, 5), ("boats", 30, 40)  # BOTH: over two sentences


@pytest.fixture(scope="module")
def arm() -> ArmSpec:
    spec = to_spec(compose_config(["task=synthetic"]))
    return next(arm for arm in spec.arms if arm.arm_id == "capsule")


def cells(samples: Sequence[Sample], arm: ArmSpec, budgets: Sequence[int]) -> dict[tuple[str, str], Cell]:
    steps: list[int] = []
    asked = ask(samples, arm, ByteTokenizer())
    found = compare(asked, CONTENDERS, budgets, ByteTokenizer(), steps.append)
    assert sum(steps) == len(asked) * len(CONTENDERS) * (len(budgets) + 1)
    return {(cell.contender, cell.budget): cell for cell in found}


def test_what_is_shown_and_what_it_costs(arm: ArmSpec) -> None:
    one = len("The ferry Alma was built in 1931.") + HEADER  # 49
    found = cells([sample(BUILT)], arm, [one - 1, one, 999])
    assert found["oracle", str(one)].shown == (Shown(recall=1, sufficient=True, tokens=one, excess=0),)
    assert found["oracle", "999"].shown[0].tokens == one
    for name in CONTENDERS:
        assert found[name, str(one - 1)].shown[0].recall == 0
        assert found[name, "999"].shown[0].sufficient
    everything = len(BOATS) + len(BIRDS) + 2 * HEADER  # sentences with the spaces before them
    assert found["top_k", "999"].shown[0] == Shown(
        recall=1, sufficient=True, tokens=everything, excess=everything - one
    )
    assert found["fovea", PLACE].shown[0] == Shown(recall=1, sufficient=True, tokens=one, excess=0)
    assert found["top_k", PLACE].shown[0].tokens <= one


def test_a_span_is_shown_if_all_of_it_is_and_hidden_gold_never(arm: ArmSpec) -> None:
    found = cells([sample(BOTH, NEST), sample(NEST, BUILT, level="restricted")], arm, [60, 999])
    assert [one.recall for one in found["top_k", "60"].shown] == [0, 0.5]  # half of BOTH is nothing
    assert [one.recall for one in found["oracle", "999"].shown] == [1, 0.5]
    assert [one.excess for one in found["oracle", "999"].shown] == [0, None]


def test_required_evidence_that_does_not_fit_shows_nothing(arm: ArmSpec) -> None:
    found = cells([sample(BUILT, required=True)], arm, [10, 999])
    assert found["fovea", "10"].shown == (Shown(recall=0, sufficient=False, tokens=0, excess=None),)
    assert found["fovea", "999"].shown[0].sufficient
    closed = replace(
        sample(NEST, level="restricted"),
        input=replace(
            sample(NEST, level="restricted").input, required=(TextRange(doc_id="birds", start=0, end=5),)
        ),
    )
    (asked,) = ask([closed], arm, ByteTokenizer())
    assert asked.code == "evidence.required.omitted"
    assert {cell.shown[0].tokens for cell in cells([closed], arm, [99]).values()} == {0}


def test_halves_are_of_each_file() -> None:
    def named(name: str, number: int) -> Sample:
        made = sample(BUILT)
        origin = Origin(dataset=name, row=str(number))
        sources = tuple(replace(one, origin=origin) for one in made.input.sources)
        return replace(made, input=replace(made.input, sample_id=f"{name}{number}", sources=sources))

    samples = [named("en", n) for n in range(3)] + [named("th", n) for n in range(2)]
    ids = {split: [one.input.sample_id for one in half(samples, split)] for split in SPLITS}
    assert ids["first"] == ["en0", "en1", "th0"]
    assert ids["second"] == ["en2", "th1"]
    assert ids["all"] == ["en0", "en1", "en2", "th0", "th1"]


def row(*recalls: float, contender: str = "fovea") -> Cell:
    shown = tuple(
        Shown(recall=r, sufficient=r == 1, tokens=10, excess=4 if r == 1 else None) for r in recalls
    )
    return Cell(contender=contender, budget="64", shown=shown)


def test_means_and_paired_differences() -> None:
    made = [row(1, 0.5, 1, 1), row(0, 0.5, 0.5, 1, contender="top_k"), row(1, 1, 1, 1, contender="oracle")]
    ours, theirs, _ = means("toy", made, range(4), draws=200, seed=0)
    assert (ours.n, ours.recall, ours.sufficient, ours.tokens, ours.excess, ours.n_excess) == (
        *(4, 0.875, 0.75, 10, 4, 3),
    )
    assert (theirs.recall, theirs.sufficient) == (0.5, 0.25)
    recall, sufficient = differences("toy", made, range(4), draws=200, seed=0)
    assert (recall.baseline, recall.measure, recall.mean, recall.n) == ("top_k", "recall", 0.375, 4)
    assert (sufficient.measure, sufficient.mean) == ("sufficient", 0.5)
    assert means("toy", [row()], (), draws=9, seed=0) == []


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        (Interval(low=0.1, high=0.2, flat=False), "beats"),
        (Interval(low=-0.2, high=-0.1, flat=False), "loses"),
        (Interval(low=0.0, high=0.2, flat=False), "not told apart"),
        (Interval(low=0.1, high=0.1, flat=True), "not told apart"),
        (None, "not told apart"),
    ],
)
def test_verdicts(interval: Interval | None, verdict: str) -> None:
    one = Difference(
        task="t", baseline="b", budget="64", measure="recall", n=7, clusters=6, mean=0.1, interval=interval
    )
    assert one.verdict == verdict
    assert replace(one, clusters=5).verdict == "not told apart"


def test_files_are_the_same_bytes_twice_and_say_where_it_loses() -> None:
    made = [row(0.5, 0, 0.5, 0), row(1, 0.5, 1, 0.5, contender="top_k"), row(1, 1, 1, 1, contender="oracle")]
    made += [replace(cell, budget=PLACE) for cell in made]
    study = Study(
        facts=(("samples", "all"),),
        means=tuple(means("toy", made, range(4), draws=100, seed=0)),
        differences=tuple(differences("toy", made, range(4), draws=100, seed=0)),
    )
    first = files(study)
    assert first == files(study)
    assert sorted(first) == [
        "differences.csv", "selection.csv", "selection.md", "selection.pdf", "selection.png",
    ]  # fmt: skip
    assert "- toy, against top_k: not told apart at 64, place." in markdown(
        study
    )  # all four differ by the same
    assert "Nothing was compared." in markdown(replace(study, differences=()))


def test_the_command_writes_its_files_and_prints_json(
    tmp_path: Path, byte_tokenizer: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    out = tmp_path / "study"
    words = ["limit=6", f"tokenizer=hf:{byte_tokenizer}", "bootstrap=50", "--tasks", "synthetic"]
    words += ["--budgets", "200,400", "--split", "first", "--out", str(out), "--json"]
    assert main(["study", "selection", *words]) == 0
    captured = capsysbinary.readouterr()
    value = json.loads(captured.out)
    assert {one["n"] for one in value["means"]} == {3}
    assert len(value["means"]) == len(CONTENDERS) * 3
    assert len(value["differences"]) == (len(CONTENDERS) - 2) * 3 * 2
    rows = list(csv.DictReader(io.StringIO((out / "selection.csv").read_text())))
    assert [one["budget"] for one in rows[:: len(CONTENDERS)]] == ["200", "400", "place"]
    assert (out / "selection.png").read_bytes().startswith(b"\x89PNG")
    assert b"selecting (synthetic)" in captured.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--budgets", "64,0"], "--budgets: expected whole numbers from 1, e.g. 64,128,256, found '0'"),
        (["--split", "third"], "--split: expected one of all, first, second, found 'third'"),
        (["--pool", "0"], "--pool: expected at least 1, found 0"),
        (["--retrieval", "bm52"], "unknown retrieval 'bm52'"),
        (["--tasks", "nope"], "nope"),
    ],
)
def test_bad_arguments_are_2(
    arguments: list[str], says: str, byte_tokenizer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["limit=1", f"tokenizer=hf:{byte_tokenizer}", *arguments]
    assert (
        main(["study", "selection", *words, *([] if "--tasks" in arguments else ["--tasks", "synthetic"])])
        == 2
    )
    assert says in capsys.readouterr().err
