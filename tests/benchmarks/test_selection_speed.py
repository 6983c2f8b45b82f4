"""Time of each selector on 10,000 sentences, as a ratio to its time on 1,000 in the same run.

Ratios of CPU time go to ``extra_info``; nothing about time is asserted. A selector whose cost grows evenly
with the number of candidates has a ratio near 10; one that compares all pairs would have 100.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from bench.selection.base import Offer, SelectionQuery, Sentence
from bench.selection.registry import SELECTORS
from bench.selection.stage import choose
from bench.specs import SelectionSpec
from capsules.content_id import content_id
from capsules.visibility import Visibility
from tasks.base import Gold, TextRange

pytestmark = pytest.mark.benchmark_ratio

FEW, MANY, ROUNDS = 1_000, 10_000, 3
QUESTION = "Which ferry with a horn left the pier of Oslo before the storm?"
WORDS = ("ferry", "horn", "pier", "oslo", "storm", "left", "gull", "rust", "barn", "mill", "gate")
LABEL = Visibility(level="public", project="p")


def offers(count: int) -> list[Offer]:
    """Sentences of ten a document, each with two words of the list and ten of its own."""
    made = []
    for n in range(count):
        source = content_id(str(n // 10).encode())
        own = " ".join(f"w{(n * 31 + i * 17) % 5_000}" for i in range(10))
        text, start = f"{WORDS[n % 11]} {WORDS[n * 7 % 5]} {own}", n % 10 * 200
        end = start + len(text)
        made.append(
            Offer(
                doc_id=str(n // 10),
                start=start,
                end=end,
                text=text,
                source=source,
                title=f"Document {n // 10}",
                label=LABEL,
                chunk=str(n // 10),
                rank=n // 10,
                score_bp=n * 37 % 10_000,
                sentences=(
                    Sentence(item=f"{source}:{start}-{end}", follows=None, tokens=20, required=False),
                ),
            )
        )
    return made


def query(name: str) -> SelectionQuery:
    spec = SelectionSpec(name=name, unit="sentence", k=64, tokens=2_000, fill=name == "fovea")
    gold = Gold(answers=("x",), spans=tuple(TextRange(doc_id=str(n), start=0, end=9) for n in range(12)))
    return SelectionQuery(
        question=QUESTION,
        k=spec.k,
        gold=gold if name == "oracle" else None,
        ref="s",
        spec=spec,
        header_tokens=16,
        header_each=False,
    )


def best(name: str, made: list[Offer]) -> float:
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time()
        choose(SELECTORS[name], query(name), made)
        taken.append(time.process_time() - began)
    return min(taken)


@pytest.mark.parametrize("name", sorted(SELECTORS))
def test_growth(name: str, benchmark: Any) -> None:
    few, many = offers(FEW), offers(MANY)
    benchmark.pedantic(choose, args=(SELECTORS[name], query(name), many), rounds=1, iterations=1)
    small, large = best(name, few), best(name, many)
    benchmark.extra_info.update(ratio=round(large / small, 1), candidates=MANY)
