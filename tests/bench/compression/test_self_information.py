"""self_information with log-probabilities by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.compression.self_information import ScoreError, most_informative, shorten
from bench.tokenizers import ByteTokenizer

RARE = b"5KZ"


def by_letter(prompts: Sequence[tuple[int, ...]]) -> list[list[float | None]]:
    """Rare letters surprise (9 nats), all others hardly (0.1)."""
    return [[None, *(-9.0 if i in RARE else -0.1 for i in ids[1:])] for ids in prompts]


def test_predictable_words_go_first() -> None:
    text = "Give drug K at 25 mg, not at all Z."
    # units: Give, drug, K, at, 25, mg, not, at, all, Z. with " " each; K and Z. carry 9 nats, 25 too
    assert shorten([text, ""], 3_000, ByteTokenizer(), by_letter) == ["K 25 Z.", ""]
    assert shorten([text], 10_000, ByteTokenizer(), by_letter) == [text]
    assert shorten([text], 1, ByteTokenizer(), by_letter) == [""]


def test_the_first_unit_that_does_not_fit_ends_it() -> None:
    assert most_informative([5.0, 9.0, 1.0, 5.0], [2, 4, 1, 2], 7_000) == [0, 1]  # 6 of at most 6
    assert most_informative([5.0, 9.0, 1.0, 5.0], [2, 4, 1, 2], 6_000) == [1]  # 4 of at most 5
    assert most_informative([5.0, 9.0, 1.0, 5.0], [2, 4, 1, 2], 4_000) == []  # the best alone is too long
    assert most_informative([], [], 5_000) == []


@given(st.lists(st.tuples(st.floats(0, 50), st.integers(1, 9)), max_size=20), st.integers(1, 10_000))
def test_the_asked_share_is_never_exceeded(units: list[tuple[float, int]], rate_bp: int) -> None:
    tokens = [n for _, n in units]
    kept = most_informative([i for i, _ in units], tokens, rate_bp)
    assert kept == sorted(set(kept))
    assert sum(tokens[i] for i in kept) * 10_000 <= sum(tokens) * rate_bp


def test_long_texts_are_scored_in_parts_each_behind_the_bos() -> None:
    seen: list[list[int]] = []

    def note(prompts: Sequence[tuple[int, ...]]) -> list[list[float | None]]:
        seen.append([len(ids) for ids in prompts])
        assert {ids[0] for ids in prompts} == {256}
        return by_letter(prompts)

    assert shorten(["a" * 25, "b" * 4, "K"], 10_000, ByteTokenizer(), note, part=11) == [
        "a" * 25,
        "b" * 4,
        "K",
    ]
    assert seen == [[11], [11], [6, 5], [2]]  # at most 11 ids at once


@pytest.mark.parametrize("scores", [[None, -1.0], [None, -1.0, float("nan")], [None, None, -1.0]])
def test_scores_that_are_none_are_refused(scores: list[float | None]) -> None:
    with pytest.raises(ScoreError, match="expected"):
        shorten(["ab"], 5_000, ByteTokenizer(), lambda prompts: [scores for _ in prompts])
