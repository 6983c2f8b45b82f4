from __future__ import annotations

import pytest
from building import Arms, Contexts, Docs, Look, Samples, build

from bench.build.base import BuildError
from bench.specs import (
    BudgetSpec,
)

FENCES, RUN = 43, 16


def budget(limit: int, window: int = 100_000, reserved: int = 64) -> BudgetSpec:
    return BudgetSpec(window=window, reserved_output=reserved, evidence_limit=limit)


@pytest.mark.parametrize(
    ("limit", "left"),
    [
        (FENCES + RUN + 12 + 13 + 14, 3),
        (FENCES + RUN + 12 + 13 + 14 - 1, 2),
        (FENCES + RUN + 12 + 13, 2),
        (FENCES + RUN + 12 + 13 - 1, 1),
        (FENCES + RUN + 12, 1),
    ],
)
def test_the_limit_bounds_items_and_headers_to_the_token(
    look: Look, doc: Docs, sample_of: Samples, context: Contexts, arm_of: Arms, limit: int, left: int
) -> None:
    sample = sample_of("What is one?", doc("d", "One is here. Two is here. Last is here."))
    built = build(sample, context(arm_of(budget=budget(limit))))
    assert look.kept(built) == sorted(["One is here.", "Two is here.", "Last is here."][:left])
    assert look.evidence_tokens(built) <= limit
    gone = {"budget.limit": sorted(["Two is here.", "Last is here."][left - 1 :])} if left < 3 else {}
    assert look.reasons(built) == gone


def test_a_required_item_that_does_not_fit_means_no_prompt(
    doc: Docs, sample_of: Samples, context: Contexts, arm_of: Arms
) -> None:
    sample = sample_of("What is one?", doc("d", "One is here. Two is here."))
    for limit in (1, 12, FENCES + RUN + 11):
        with pytest.raises(BuildError) as refused:
            build(sample, context(arm_of(budget=budget(limit))))
        assert refused.value.code == "budget.required.unfit"
        assert f"evidence_limit {limit}" in str(refused.value)
    for limit, found in (
        (FENCES + RUN + 11, f"{FENCES + RUN + 12} tokens"),  # the sentence fits, its header does not
        (11, "12 tokens, headers apart"),
    ):
        with pytest.raises(BuildError, match=f"within evidence_limit {limit}, found {found}$"):
            build(sample, context(arm_of(budget=budget(limit))))
    with pytest.raises(BuildError) as refused:
        build(sample_of("Why?"), context(arm_of(budget=budget(FENCES - 1))))
    assert refused.value.code == "budget.protected.truncated"


def test_later_ranks_go_before_earlier_and_larger_starts_before_smaller(
    look: Look, doc: Docs, sample_of: Samples, context: Contexts, arm_of: Arms
) -> None:
    docs = doc("low", "Fish. Fowl."), doc("top", "The ferry is old. The ferry is grey. The ferry.")
    sample = sample_of("Is the ferry old?", *docs)
    order = []
    for limit in range(140, FENCES + RUN + 17 - 1, -1):
        left = look.kept(build(sample, context(arm_of(budget=budget(limit)))))
        if not order or order[-1] != left:
            order.append(left)
    assert order == [
        ["Fish.", "Fowl.", "The ferry is grey.", "The ferry is old.", "The ferry."],
        ["Fish.", "The ferry is grey.", "The ferry is old.", "The ferry."],
        ["The ferry is grey.", "The ferry is old.", "The ferry."],
        ["The ferry is grey.", "The ferry is old."],
        ["The ferry is old."],
    ]


def test_the_numbers_of_field_case_a14(
    look: Look,
    doc: Docs,
    sample_of: Samples,
    context: Contexts,
    arm_of: Arms,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # window 2048, answer 256, instruction 40, question 25, overhead 19 (BOS, "Question: ", "\n", "Answer:")
    from bench.build import templates

    monkeypatch.setitem(templates._BASE, "quote", "i" * 38)  # + "\n\n"
    sentences = [f"Sentence {n:02d} {'x' * 47}." for n in range(50)]  # 60 code points; 59 + SEP
    text = " ".join(f"{s[:-2]}." for s in sentences) + "x"  # 59 a sentence, 60 with SEP; 3000 in all
    assert len(text) == 3000
    sample = sample_of("Which is sentence one? 25", doc("d", text))
    assert len(sample.question) == 25
    built = build(sample, context(arm_of(budget=budget(1708, 2048, 256))))
    assert len(built.ids) + 256 <= 2048
    assert look.evidence_tokens(built) <= 1708
    gone = sum(o.tokens or 0 for o in look.prompt(built).omissions)
    assert gone + built.stages[-1].tokens == 3000
    assert {o.reason for o in look.prompt(built).omissions} == {"budget.limit"}
    assert look.text(built).startswith("i" * 38 + "\n\n<sources ")
    assert look.text(built).endswith("Question: Which is sentence one? 25\nAnswer:")
    with pytest.raises(BuildError) as refused:
        build(sample, context(arm_of(budget=budget(1709, 2048, 256))))
    assert refused.value.code == "budget.protected.truncated"
    assert "at most 2048 tokens" in str(refused.value)
    assert "found 2049: fixed parts 84 + evidence_limit 1709 + reserved_output 256" in str(refused.value)
