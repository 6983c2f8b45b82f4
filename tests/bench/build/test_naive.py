from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from building import Arms, Contexts, Docs, Samples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.build.base import BuildError, BuiltPrompt
from bench.build.naive import NaiveBuilder
from bench.specs import BudgetSpec, CompressionSpec, RetrievalSpec, SelectionSpec
from bench.tokenizers import ByteTokenizer
from tasks.base import Sample

build = NaiveBuilder()


LEAD = "Answer each question with a short quote from the sources and the number of its source.\n\n"


def text_of(built: BuiltPrompt) -> str:
    return ByteTokenizer().decode(built.ids[1:])


def test_the_whole_form(harbour: Sample, context: Contexts, arm_of: Arms) -> None:
    arm = arm_of("naive", retrieval=RetrievalSpec(k=3), selection=SelectionSpec(k=2))
    built = build(harbour.input, context(arm))
    assert text_of(built) == (
        LEAD + "[1] The ferry Alma crosses the sound in nine minutes. She was built in 1931.\n"
        "[2] Herring is smoked over alder. The ferry does not carry fish.\n"
        "Question: When was the ferry Alma built?\nAnswer:"
    )
    assert [(s.number, s.doc_id, s.ranges) for s in built.shown] == [
        (1, "boats", ((0, 72),)),
        (2, "fish", ((0, 60),)),
    ]
    assert [(p.kind, p.n) for p in built.pieces] == [("bos", 1), ("joined", len(built.ids) - 1)]
    assert (built.prompt, built.evidence, built.laws) == (None, (), {})
    # nine sentences, of which four are shown; tokens are item tokens with SEP, as in every arm
    assert [len(s.items) for s in built.stages] == [9, 6, 4, 4, 4]
    assert (built.silent_omissions, built.silent_tokens) == (5, 33 + 26 + 28 + 27 + 37)


def test_nothing_is_filtered(harbour: Sample, doc: Docs, context: Contexts, arm_of: Arms) -> None:
    docs = (
        doc("foreign", "The ferry Alma was built in secret.", project="q"),
        doc("private", "The ferry Alma was built in 1900.", level="restricted"),
        doc("old", "The ferry Alma was built in 1929.", expires_at="2020-01-01T00:00:00Z"),
        doc("again", "The ferry Alma was built in 1929."),
    )
    built = build(replace(harbour.input, sources=docs), context(arm_of("naive")))
    assert sorted(s.doc_id for s in built.shown) == ["again", "foreign", "old", "private"]
    assert built.level == "restricted"
    # two documents of the same bytes: their item is a candidate once, as in the capsule arms
    assert len(built.stages[0].items) == 3
    assert built.silent_omissions == 0


def test_stable_ids_lead_every_prompt_of_the_arm(
    harbour: Sample, doc: Docs, context: Contexts, arm_of: Arms, examples: tuple[Sample, ...]
) -> None:
    ctx = context(arm_of("naive"), examples=examples)
    found = set()
    for docs in (harbour.input.sources, (), (doc("x", "日本語です。"),), (doc("y", "(7)"),)):
        built = build(replace(harbour.input, sources=docs), ctx)
        assert built.ids[: len(built.stable_ids)] == built.stable_ids
        found.add(built.stable_ids)
    (stable,) = found
    text = ByteTokenizer().decode(stable)
    assert text.startswith("<bos>" + LEAD + "[1] Long ago there was a well near the barn.\n[2] Lars")
    assert text.endswith("Answer: <q>blue</q> [1]\n\n")


class Joining(ByteTokenizer):
    """Joins a newline with what follows it into one id, as merges across a boundary do."""

    control_ids = frozenset({256})

    def encode(self, text: str) -> list[int]:
        ids, rest = [], list(text.encode())
        while rest:
            first = rest.pop(0)
            ids.append(300 + rest.pop(0) if first == 10 and rest else first)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        return super().decode([b for i in ids for b in ((10, i - 300) if i >= 300 else (i,))])


def test_stable_ids_stop_before_a_token_that_depends_on_what_follows(
    harbour: Sample, context: Contexts, arm_of: Arms
) -> None:
    ctx = context(arm_of("naive"), tokenizer=Joining())
    with_sources = build(harbour.input, ctx)
    without = build(replace(harbour.input, sources=()), ctx)
    assert with_sources.stable_ids == without.stable_ids
    assert Joining().decode(with_sources.stable_ids).endswith("the number of its source.\n\n")
    assert with_sources.ids[: len(with_sources.stable_ids)] == with_sources.stable_ids


def test_a_volatile_head_shares_nothing_and_is_rebuilt_the_same(
    harbour: Sample, context: Contexts, arm_of: Arms
) -> None:
    ctx = context(arm_of("naive_volatile"))
    one, again = build(harbour.input, ctx), build(harbour.input, ctx)
    two = build(replace(harbour.input, sample_id="s-2"), ctx)
    head = re.match(r"Request [0-9a-f]{32} at 2026-01-01T\d\d:\d\d:\d\dZ\n", text_of(one))
    assert head is not None
    assert text_of(one)[head.end() :] == text_of(build(harbour.input, context(arm_of("naive"))))
    assert one.ids == again.ids
    common = next(i for i, (a, b) in enumerate(zip(one.ids, two.ids, strict=False)) if a != b)
    assert common < len("<bos>Request ") + 8
    assert one.stable_ids == ()
    assert [(p.kind, p.n) for p in one.pieces] == [
        ("bos", 1),
        ("volatile", len(head[0])),
        ("joined", len(one.ids) - 1 - len(head[0])),
    ]


def test_evidence_over_the_limit_is_cut_at_its_end_in_silence(
    doc: Docs, sample_of: Samples, context: Contexts, arm_of: Arms
) -> None:
    sample = sample_of("What is one?", doc("d", "One is here. Two is hére.\n\nThe rest is there."))
    whole = "[1] One is here. Two is hére.\n[2] The rest is there.\n"
    for limit in range(1, len(whole.encode()) + 2):
        built = build(sample, context(arm_of("naive", budget=BudgetSpec(window=9_999, evidence_limit=limit))))
        evidence = text_of(built).removeprefix(LEAD).removesuffix("Question: What is one?\nAnswer:")
        assert len(evidence.encode()) <= limit
        assert whole.startswith(evidence.removesuffix("\n"))
        assert "\ufffd" not in evidence
        shown = [built.sources[s.source][a:b] for s in built.shown for a, b in s.ranges]
        assert [line[4:] for line in evidence.splitlines() if len(line) > 4] == shown
        kept = [
            ("One is here." in evidence),
            ("Two is hére." in evidence),
            ("The rest is there." in evidence),
        ]
        assert built.silent_omissions == 3 - sum(kept)
        assert built.silent_tokens == sum(n for n, k in zip((12, 14, 20), kept, strict=True) if not k)


_PIECES = st.lists(st.sampled_from(["a", " ", "é", "日", "\n", ". "]), max_size=30).map("".join)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(_PIECES, max_size=3), limit=st.integers(1, 60), joining=st.booleans())
def test_the_limit_holds_whatever_the_text(
    doc: Docs,
    sample_of: Samples,
    context: Contexts,
    arm_of: Arms,
    texts: list[str],
    limit: int,
    joining: bool,
) -> None:
    tokenizer = Joining() if joining else ByteTokenizer()
    sample = sample_of("Why?", *(doc(f"d{i}", text) for i, text in enumerate(texts)))
    arm = arm_of("naive", budget=BudgetSpec(window=9_999, evidence_limit=limit))
    built = build(sample, context(arm, tokenizer=tokenizer))
    evidence = tokenizer.decode(built.ids[1:]).removeprefix(LEAD).removesuffix("Question: Why?\nAnswer:")
    assert len(tokenizer.encode(evidence)) <= limit
    assert sum(p.n for p in built.pieces) == len(built.ids)
    assert built.ids[: len(built.stable_ids)] == built.stable_ids


def test_what_cannot_fit_or_is_not_offered_is_refused(
    harbour: Sample, context: Contexts, arm_of: Arms
) -> None:
    fixed = 1 + len(LEAD) + len("Question: When was the ferry Alma built?\nAnswer:")
    exact = BudgetSpec(window=fixed + 100 + 64, evidence_limit=100, reserved_output=64)
    assert len(build(harbour.input, context(arm_of("naive", budget=exact))).ids) <= fixed + 100
    with pytest.raises(BuildError) as refused:
        build(harbour.input, context(arm_of("naive", budget=replace(exact, evidence_limit=101))))
    assert refused.value.code == "budget.protected.truncated"
    assert f"at most {fixed + 164} tokens (budget.window), found {fixed + 165}" in str(refused.value)
    with pytest.raises(BuildError) as refused:
        build(harbour.input, context(arm_of("naive", compression=CompressionSpec(name="extractive"))))
    assert refused.value.code == "arm.unsupported"
