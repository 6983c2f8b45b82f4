from __future__ import annotations

import pytest

from bench.registry import RegistryError
from bench.retrieval.base import Passage, Query
from bench.selection.registry import SELECTORS, selector


@pytest.mark.parametrize(("k", "kept"), [(1, [0]), (3, [0, 1, 2]), (9, [0, 1, 2])])
def test_top_k_takes_the_first(k: int, kept: list[int]) -> None:
    passages = [Passage(doc_id="d", start=i, end=i + 1, text="x") for i in range(3)]
    assert list(selector("top_k")(Query(question="?", k=k), passages)) == kept


def test_names() -> None:
    assert sorted(SELECTORS) == ["top_k"]
    with pytest.raises(RegistryError, match="unknown selection 'mmr'"):
        selector("mmr")
