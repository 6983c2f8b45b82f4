"""Class keys of real capsules: what shares one, what never does."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from capsules.codec import digest_of, to_value
from capsules.content_id import content_id
from capsules.equivalence import (
    class_key,
    revoked,
)
from capsules.member import Member
from capsules.prompt import EvidenceRef
from capsules.visibility import LEVELS, Visibility

PROMPT, EVIDENCE = "prompt-capsule/1", "evidence-capsule/1"


def variants(example: Any) -> dict[str, Member]:
    """Valid prompts that differ from the example in one thing each."""
    prompt = example.prompt

    def made(**changes: Any) -> Member:
        return Member(capsule=replace(prompt, **changes), evidence=(example.evidence,))

    def with_evidence(**changes: Any) -> Member:
        evidence = replace(example.evidence, **changes)
        refs = (EvidenceRef(id=digest_of(evidence), required=True),)
        return Member(capsule=replace(prompt, evidence_capsule_refs=refs), evidence=(evidence,))

    budget, authority = prompt.token_budget, prompt.authority
    return {
        "example": made(),
        "capsule_id": made(capsule_id="a:b:c:d"),
        "task": made(task="other"),
        "text": made(active_object=replace(prompt.active_object, text="How much iron a day?")),
        "ref": made(active_object=replace(prompt.active_object, ref="q-2")),
        "snippet": made(surface_snippet=replace(prompt.surface_snippet, text="A leaflet.")),
        "snippet level": made(surface_snippet=replace(prompt.surface_snippet, level="confidential")),
        "constraints": made(constraints=prompt.constraints[:1]),
        "principal": made(authority=replace(authority, principal="reader-2")),
        "operations": made(authority=replace(authority, operations=("answer",))),
        "providers": made(authority=replace(authority, providers=("cloud", "local"))),
        "max_level": made(authority=replace(authority, max_level="restricted")),
        "not_before": made(authority=replace(authority, not_before="2024-01-02T00:00:00Z")),
        "expires_at": made(authority=replace(authority, expires_at="2026-01-02T00:00:00Z")),
        "contract": made(output_contract=replace(prompt.output_contract, max_quotes=4)),
        "tokenizer": made(token_budget=replace(budget, tokenizer_digest=content_id(b"other"))),
        "tokenizer name": made(token_budget=replace(budget, tokenizer_id="hf:other")),
        "window": made(token_budget=replace(budget, window=4_096)),
        "omissions": made(omissions=prompt.omissions[:-1]),
        "rewrites": made(rewrites=()),
        "evidence": with_evidence(confidence=replace(example.evidence.confidence, bp=1)),
        "evidence level": with_evidence(visibility=Visibility(level="public", project="demo")),
        "evidence level up": with_evidence(visibility=Visibility(level="restricted", project="demo")),
    }


def test_no_negative_pair_shares_a_key(eq: Any, example: Any) -> None:
    made = variants(example)
    keys = {name: class_key(eq.contract(), each) for name, each in made.items()}
    assert sum(keys[a] == keys[b] for a, b in combinations(keys, 2)) == 0
    keys = {
        name: class_key(eq.contract(PROMPT, "active_object.ref", "capsule_id"), each)
        for name, each in made.items()
    }
    same = {name for name in keys if keys[name] == keys["example"]}
    assert same == {"example", "capsule_id", "ref"}
    assert len(set(keys.values())) == len(keys) - 2


def test_the_label_is_derived_and_in_the_key(eq: Any, example: Any) -> None:
    """Two prompts that differ in nothing that the contract sees, but in the level of their evidence."""
    made = eq.contract(PROMPT, "evidence_capsule_refs")
    keys = set()
    for level in LEVELS:
        evidence = replace(example.evidence, visibility=Visibility(level=level, project="demo"))
        refs = (EvidenceRef(id=digest_of(evidence), required=True),)
        prompt = replace(example.prompt, evidence_capsule_refs=refs)
        each = Member(capsule=prompt, evidence=(evidence,))
        keys.add(class_key(made, each))
        joined = max("internal", level, key=LEVELS.index)
        assert class_key(made, each) == eq.key_of(made, to_value(prompt), joined)
    assert len(keys) == 3  # the snippet is internal, so public evidence gives internal too


def test_equivalence_does_not_carry_over_to_another_contract(eq: Any, example: Any) -> None:
    """a ~ b under the first, b ~ c under the second; no key of the one is a key of the other."""
    made = variants(example)
    first, second = eq.contract(PROMPT, "capsule_id"), eq.contract(PROMPT, "active_object.ref")
    a, b, c = made["capsule_id"], made["example"], made["ref"]
    assert class_key(first, a) == class_key(first, b) != class_key(first, c)
    assert class_key(second, a) != class_key(second, b) == class_key(second, c)
    assert {class_key(first, each) for each in (a, b, c)}.isdisjoint(
        class_key(second, each) for each in (a, b, c)
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"contract_id": "other"},
        {"version": 2},
        {"relation": "something else"},
        {"uses": ()},
        {"salt": 1},
        {"expires_at": "2025-06-02T00:00:00Z"},
    ],
)
def test_any_other_contract_gives_another_key(eq: Any, example: Any, changes: dict[str, Any]) -> None:
    each = eq.member(example, PROMPT)
    assert class_key(eq.contract(**changes), each) != class_key(eq.contract(), each)


def test_a_revoked_contract_gives_another_key(eq: Any, example: Any) -> None:
    each = eq.member(example, EVIDENCE)
    made = eq.contract(EVIDENCE)
    assert revoked(made) == replace(made, salt=1)
    assert class_key(revoked(made), each) != class_key(made, each)


def test_capsules_that_a_contract_does_not_cover(eq: Any, example: Any) -> None:
    assert eq.refusal(lambda: class_key(eq.contract(EVIDENCE), eq.member(example, PROMPT))) == (
        "object.type.mismatch",
        "/schema_id",
    )
    other = eq.contract(project="other")
    assert eq.refusal(lambda: class_key(other, eq.member(example, PROMPT)))[0] == "scope.project.mismatch"
    bare = Member(capsule=replace(example.prompt, evidence_capsule_refs=(), surface_snippet=None))
    assert eq.refusal(lambda: class_key(eq.contract(), bare))[0] == "label.undetermined"
