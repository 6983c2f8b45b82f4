from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest
from building import Arms, Contexts, Docs, Look, Samples, build
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.build.base import BuildError
from bench.specs import (
    BudgetSpec,
    ClaimsSpec,
    CompressionSpec,
    RetrievalSpec,
    SelectionSpec,
)
from bench.tokenizers import ByteTokenizer
from capsules.content_id import content_id
from tasks.base import Sample, TextRange


def budget(limit: int, window: int = 100_000, reserved: int = 64) -> BudgetSpec:
    return BudgetSpec(window=window, reserved_output=reserved, evidence_limit=limit)


class Adversarial(ByteTokenizer):
    """Counts that no part predicts: a text costs up to 30 ids more than its bytes."""

    def encode(self, text: str) -> list[int]:
        more = int(content_id(text.encode())[3:6], 16) % 30 if text else 0
        return [*text.encode(), *[0] * more]

    def decode(self, ids: Sequence[int]) -> str:
        return super().decode([i for i in ids if i])


_WORD = st.sampled_from(["ferry", "gull", "pier", "old", "1931", "is", "the"])


_SENTENCE = st.lists(_WORD, min_size=1, max_size=6).map(lambda words: " ".join(words).capitalize() + ".")


_PARAGRAPH = st.lists(_SENTENCE, min_size=1, max_size=4).map(" ".join)


_TEXT = st.lists(_PARAGRAPH, min_size=1, max_size=3).map("\n\n".join)


_MORE = st.sampled_from(
    [
        {},
        {"level": "internal"},
        {"level": "restricted"},
        {"project": "q"},
        {"expires_at": "2025-01-01T00:00:00Z"},
    ]
)


_SHARED = [HealthCheck.function_scoped_fixture]


@settings(max_examples=60, deadline=None, suppress_health_check=_SHARED)
@given(
    texts=st.lists(st.tuples(_TEXT, _MORE), max_size=4),
    limit=st.integers(1, 500),
    rate_bp=st.integers(1, 10_000),
    k=st.tuples(st.integers(1, 4), st.integers(1, 3)),
    tokenizer=st.sampled_from([ByteTokenizer(), Adversarial()]),
)
def test_the_laws_hold_or_there_is_no_prompt(
    look: Look,
    doc: Docs,
    sample_of: Samples,
    context: Contexts,
    arm_of: Arms,
    texts: list[tuple[str, dict[str, str]]],
    limit: int,
    rate_bp: int,
    k: tuple[int, int],
    tokenizer: ByteTokenizer,
) -> None:
    arm = arm_of(
        budget=budget(limit),
        compression=CompressionSpec(name="extractive", rate_bp=rate_bp),
        retrieval=RetrievalSpec(k=k[0]),
        selection=SelectionSpec(k=k[1]),
        claims=ClaimsSpec(method="rule"),
    )
    docs = [doc(f"d{i}", text, **more) for i, (text, more) in enumerate(texts)]
    sample = sample_of("Is the ferry old?", *docs)
    try:
        built = build(sample, context(arm, tokenizer=tokenizer))
    except BuildError as error:
        refused = error.code
    else:
        refused = None
    if refused is not None:
        assert refused in ("budget.required.unfit", "budget.protected.truncated")
        return
    assert all(built.laws.values())
    assert look.evidence_tokens(built) <= limit
    record = look.prompt(built)
    sent = {p.ref: p.n for p in built.pieces if p.ref}
    assert record.candidates.items == len(sent) + sum(o.count for o in record.omissions)
    assert record.candidates.tokens == sum(sent.values()) + sum(o.tokens or 0 for o in record.omissions)
    required = {span for e in built.evidence for c in e.claim_candidates for span in c.span_ids}
    assert required <= set(sent)
    assert bool(required) == bool(built.evidence)


def test_required_by_everything_or_nothing(
    look: Look, harbour: Sample, context: Contexts, arm_of: Arms
) -> None:
    every = tuple(TextRange(doc_id=d.doc_id, start=0, end=len(d.text)) for d in harbour.input.sources)
    whole = build(replace(harbour.input, required=every), context())
    assert look.prompt(whole).omissions == ()
    need = look.evidence_tokens(whole)
    exact = build(replace(harbour.input, required=every), context(arm_of(budget=budget(need))))
    assert exact.ids[: len(exact.stable_ids)] == whole.stable_ids
    assert look.kept(exact) == look.kept(whole)
    with pytest.raises(BuildError, match=r"expected required items with their headers within evidence_limit"):
        build(replace(harbour.input, required=every), context(arm_of(budget=budget(need - 1))))


_ELSEWHERE = """
import sys
from bench.build.base import BuildContext
from bench.build.registry import builder
from bench.specs import *
from bench.tokenizers import ByteTokenizer
from capsules.codec import digest_of
from capsules.source import Origin
from tasks.base import SampleInput, SourceDoc

docs = tuple(
    SourceDoc(doc_id=f"d{i}", text=f"The ferry {i} is old. It has {i} seats.\\n\\nIt is grey.", title=None,
              origin=Origin(dataset="toy", row=str(i)), license="CC0-1.0", project="p")
    for i in range(6)
)
sample = SampleInput(sample_id="s", task="toy", project="p", question="Which ferry has 3 seats?",
                     sources=docs, as_of="2026-01-01T00:00:00Z")
for layout in ("capsule", "naive", "naive_volatile"):
    arm = ArmSpec(arm_id=layout, layout=layout, builder=layout, retrieval=RetrievalSpec(),
                  selection=SelectionSpec(), compression=CompressionSpec(), contract=ContractSpec(),
                  budget=BudgetSpec(), caches=("off",), authority=AuthoritySpec(operations=("b", "a", "c")))
    built = builder(layout)(sample, BuildContext(arm=arm, tokenizer=ByteTokenizer(), examples=()))
    print(hash(built.ids), built.prompt and digest_of(built.prompt))
"""


def test_the_same_ids_and_digests_in_any_process() -> None:  # A07, A17
    found = set()
    for seed in ("0", "1", "random"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        run = subprocess.run(
            [sys.executable, "-c", _ELSEWHERE], env=env, capture_output=True, text=True, check=True
        )
        found.add(run.stdout)
    assert len(found) == 1  # hashes of tuples of int do not depend on the seed
    assert "b3:" in found.pop()
