"""Every accepted answer of XQuAD, in five languages and scripts, can be quoted under the grammar."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.build.base import ShownSource
from bench.contracts.grammar import grammar_of, is_number_first
from bench.specs import ContractSpec
from tasks.base import TaskSpec
from tasks.registry import load_task

SAMPLES = 12


@pytest.mark.parametrize("language", ["en", "zh", "th", "ar", "hi"])
def test_gold_answers_are_expressible_and_altered_ones_are_not(
    capsule_data: Path, accepts: Callable[[str, str], bool], language: str
) -> None:
    task = TaskSpec(
        name=f"xquad_{language}",
        project="bench",
        as_of="2025-01-01T00:00:00Z",
        data_dir=str(capsule_data),
        revision=None,
        digest=None,
        limit=SAMPLES,
        examples=0,
        seed=0,
        strict=True,
        options={},
    )
    tried = 0
    for sample in load_task(task).samples:
        docs = {doc.doc_id: doc.text for doc in sample.input.sources}
        shown = tuple(
            ShownSource(number=n, doc_id=name, source=name, ranges=((0, len(text)),))
            for n, (name, text) in enumerate(docs.items(), 1)
        )
        grammar = grammar_of(ContractSpec(name="quote_constrained"), shown, docs.__getitem__, lead=" ")
        assert grammar is not None
        first = is_number_first(grammar)
        for answer in sample.gold.answers:
            for source in shown:
                held = answer in docs[source.source]
                for quote, right in ((answer, held), (answer + "\U00100000", False)):
                    text = f"<q>{quote}</q>"
                    number = f"[{source.number}]"
                    said = f" {number} {text}" if first else f" {text} {number}"
                    assert accepts(grammar, said) is right, (sample.input.sample_id, quote, number)
            tried += any(answer in text for text in docs.values())
    assert tried >= SAMPLES
