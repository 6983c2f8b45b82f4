"""An exact capsule with its evidence: identity, label by derivation, expiry."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from capsules.codec import digest_of
from capsules.errors import SchemaError
from capsules.member import Member
from capsules.prompt import EvidenceRef
from capsules.visibility import Visibility


def refusal(make: Any) -> str:
    with pytest.raises(SchemaError) as refused:
        make()
    return refused.value.code


def test_identity_and_expiry_are_those_of_the_capsule(example: Any) -> None:
    prompt = Member(capsule=example.prompt, evidence=(example.evidence,))
    assert prompt.id == digest_of(example.prompt)
    assert prompt.expires_at == example.prompt.authority.expires_at
    evidence = Member(capsule=example.evidence)
    assert evidence.id == digest_of(example.evidence)
    assert evidence.expires_at == example.evidence.freshness.expires_at


def test_the_label_is_the_join_of_everything_in_it(example: Any) -> None:
    assert Member(capsule=example.evidence).label() == example.evidence.visibility
    for level, snippet, joined in (
        ("public", "public", "public"),
        ("public", "restricted", "restricted"),
        ("confidential", "internal", "confidential"),
    ):
        evidence = replace(example.evidence, visibility=Visibility(level=level, project="demo"))
        prompt = replace(
            example.prompt,
            evidence_capsule_refs=(EvidenceRef(id=digest_of(evidence), required=True),),
            surface_snippet=replace(example.prompt.surface_snippet, level=snippet),
        )
        assert Member(capsule=prompt, evidence=(evidence,)).label() == Visibility(
            level=joined, project="demo"
        )


def test_without_evidence_and_snippet_there_is_no_label(example: Any) -> None:
    bare = replace(example.prompt, evidence_capsule_refs=(), surface_snippet=None)
    assert refusal(Member(capsule=bare).label) == "label.undetermined"
    snippet = replace(example.prompt, evidence_capsule_refs=())
    assert Member(capsule=snippet).label().level == snippet.surface_snippet.level


def test_one_project(example: Any) -> None:
    foreign = replace(example.evidence, visibility=Visibility(level="public", project="other"))
    refs = (EvidenceRef(id=digest_of(foreign), required=True),)
    prompt = replace(example.prompt, evidence_capsule_refs=refs)
    assert refusal(Member(capsule=prompt, evidence=(foreign,)).label) == "scope.project.mismatch"
    alone = replace(prompt, surface_snippet=None)
    assert refusal(Member(capsule=alone, evidence=(foreign,)).label) == "scope.project.mismatch"
    lent = replace(example.prompt, authority=replace(example.prompt.authority, project="other"))
    assert refusal(Member(capsule=lent, evidence=(example.evidence,)).label) == "scope.project.mismatch"


def test_the_evidence_must_be_the_one_referred_to(example: Any) -> None:
    other = replace(example.evidence, capsule_id="a:b:c:d")
    assert refusal(lambda: Member(capsule=example.prompt)) == "evidence.ref.missing"
    assert refusal(lambda: Member(capsule=example.prompt, evidence=(other,))) == "evidence.ref.missing"
    assert refusal(lambda: Member(capsule=example.evidence, evidence=(other,))) == "evidence.ref.missing"
    assert refusal(lambda: Member(capsule=example.evidence.visibility)) == "object.type.mismatch"
