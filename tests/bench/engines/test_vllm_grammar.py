"""What is said of a grammar that vLLM refuses. The rest: tests/integration/test_engine.py."""

from __future__ import annotations

from bench.engines.vllm_grammar import UNCOMPILABLE, refusal
from bench.scorers.run import leading_code


def test_a_refused_grammar_is_named_and_other_refusals_stay_what_they_are() -> None:
    said = "VLLMValidationError: Grammar error: at 30(7): too big"
    quoted = f'{said}\n  29 | S12: %regex {{"substring_chars": "a secret of the evidence"}}'
    assert refusal(quoted) == f"{UNCOMPILABLE}: {said}"
    assert leading_code(refusal(said), "engine.error") == "contract.grammar_uncompilable"
    other = "ValueError: The decoder prompt (length 9000) is longer than the maximum model length of 4096"
    assert refusal(other) == other
    assert leading_code(refusal(other), "engine.error") == "engine.error"
