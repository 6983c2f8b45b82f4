from __future__ import annotations

import pytest

from bench.compression.base import CompressionItem
from bench.compression.registry import COMPRESSORS, compressor, require_compressor
from bench.registry import RegistryError

ITEMS = [
    ("Do not give drug K to patients under 12; the limit is 2.5 mg, never 25 mg.", 20),
    ("The weather was fine.", 10),
    ("Drug K is blue.", 6),
    ("Patients like it.", 4),
]


def items(*required: int) -> list[CompressionItem]:
    return [CompressionItem(text=t, tokens=n, required=i in required) for i, (t, n) in enumerate(ITEMS)]


@pytest.mark.parametrize(
    ("rate_bp", "kept"),
    [
        (10_000, [0, 1, 2, 3]),
        (7_500, [0, 2, 3]),  # 30 of 40 tokens: sentence 0 is the most relevant, then 2, then 3
        (7_499, [0, 2]),
        (6_500, [0, 2]),
        (6_499, [0]),
        (5_000, [0]),
        (4_999, []),  # the first that does not fit ends it: nothing less relevant takes its place
    ],
)
def test_extractive_keeps_a_prefix_of_the_relevance_order(rate_bp: int, kept: list[int]) -> None:
    found = compressor("extractive")("What is the limit of drug K for patients under 12?", rate_bp, items())
    assert list(found) == kept


def test_required_sentences_stay_whatever_they_cost() -> None:
    question = "What is the limit of drug K for patients under 12?"
    assert list(compressor("extractive")(question, 1, items(1, 3))) == [1, 3]
    assert list(compressor("extractive")(question, 8_500, items(1))) == [0, 1]  # 30 of 34


def test_whole_sentences_stay_byte_for_byte() -> None:  # A18, A20: nothing is ever cut inside
    texts = ["試験は失敗した。", "\ufffd is in the source.", "Not 2.5 mg."]
    given = [CompressionItem(text=t, tokens=1, required=False) for t in texts]
    assert list(compressor("extractive")("失敗", 3_400, given)) == [0]


def test_nothing_in_nothing_out() -> None:
    assert list(compressor("extractive")("x", 5_000, [])) == []
    assert list(compressor("none")("x", 1, [])) == []


def test_none_keeps_everything_at_any_rate() -> None:
    assert list(compressor("none")("x", 1, items())) == [0, 1, 2, 3]


def test_names() -> None:
    assert sorted(COMPRESSORS) == ["extractive", "none"]
    with pytest.raises(RegistryError, match="unknown compression 'zip': expected one of extractive, none"):
        compressor("zip")


@pytest.mark.parametrize(
    ("name", "mode", "says"),
    [
        ("self_information", "items", "expected mode protected or raw"),
        ("extractive", "raw", "expected mode items, found raw"),
        ("zip", "raw", "expected one of extractive, none, llmlingua, llmlingua2, self_information, or"),
        ("math:sqrt", "raw", "expected a callable"),
    ],
)
def test_a_compressor_has_its_modes(name: str, mode: str, says: str) -> None:
    with pytest.raises(RegistryError, match=says):
        require_compressor(name, mode)
    require_compressor("llmlingua", "raw")
    require_compressor("none", "items")
