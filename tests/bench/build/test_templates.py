from __future__ import annotations

import pytest

from bench.build.base import BuildError
from bench.build.templates import answer_text, instructions


@pytest.mark.parametrize("contract", ["quote", "pointer"])
def test_a_constrained_contract_reads_like_the_free_one(contract: str) -> None:
    assert instructions(contract) == instructions(f"{contract}_constrained")
    assert answer_text(contract, "a b", 2) == answer_text(f"{contract}_constrained", "a b", 2)


def test_answers() -> None:
    assert answer_text("quote", "a b", 2) == "<q>a b</q> [2]"
    assert answer_text("pointer", "a b", 2) == "[2]"


def test_instructions_hold_no_mock_answer_to_copy() -> None:
    texts = [c.text for name in ("quote", "pointer") for c in instructions(name)]
    assert not any(mark in text for text in texts for mark in ("<q>", "</q>", "[", "]", "\n"))


def test_an_unknown_contract_is_named() -> None:
    with pytest.raises(BuildError, match="found 'poem'") as refused:
        instructions("poem")
    assert refused.value.code == "contract.unknown"
