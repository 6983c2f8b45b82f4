"""The arms with dense and hybrid retrieval: composed, refused without the extra, built with it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.config import to_spec
from bench.hydra_app import compose_config
from bench.pipeline import build_only
from bench.progress import Reporter
from bench.records import BuildRow
from bench.records_io import read_rows
from bench.retrieval import dense as module
from bench.retrieval.dense import dense_retriever

ARMS = (
    "+arm@arms.d=capsule_dense",
    "+arm@arms.h=capsule_hybrid",
    "~arm@arms.naive",
    "~arm@arms.naive_volatile",
)


def test_the_arms_differ_in_retrieval_alone() -> None:
    arms = {arm.arm_id: arm for arm in to_spec(compose_config(["experiment=build", *ARMS])).arms}
    assert [arms[a].retrieval.name for a in ("capsule", "d", "h")] == ["bm25", "dense", "hybrid"]
    assert {(a.layout, a.builder, a.selection, a.budget, a.caches) for a in (arms["d"], arms["h"])} == {
        (a.layout, a.builder, a.selection, a.budget, a.caches) for a in (arms["capsule"],)
    }


def test_a_model_of_ones_own_is_named_in_an_override() -> None:
    name = "hybrid@org/some-model@" + "0" * 40
    spec = to_spec(compose_config(["experiment=build", f"arms.capsule.retrieval.name={name}"]))
    assert name in [arm.retrieval.name for arm in spec.arms]


def test_without_the_extra_nothing_is_begun(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dense_retriever.cache_clear()
    monkeypatch.setattr(module, "find_spec", lambda wanted: None)
    arguments = ["build", "--results", str(tmp_path / "results"), "experiment=build", "limit=1", ARMS[0]]
    assert main(arguments) == 2
    assert "need the extra `dense`" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


@pytest.mark.filterwarnings("ignore")  # of the packages behind the extra, not ours to fix
def test_the_arms_build(byte_tokenizer: Path, tmp_path: Path) -> None:
    if importlib.util.find_spec("sentence_transformers") is None or not importlib.util.find_spec(
        module.PACKAGED
    ):
        pytest.skip("the extra `dense` is not installed: the arms with embeddings are not built")
    config = compose_config(
        [
            "experiment=build",
            "limit=2",
            f"tokenizer=hf:{byte_tokenizer}",
            "engine.window=100000",
            *ARMS,
            *(f"arms.{a}.budget.window=100000" for a in ("d", "h", "capsule", "capsule_extractive")),
        ]
    )
    folder, _, _ = build_only(config, tmp_path, Reporter(quiet=True))
    rows = read_rows(folder.builds, BuildRow)
    assert [row.status for row in rows] == ["ok"] * 8
    assert all(held for row in rows for _, held in row.laws)
