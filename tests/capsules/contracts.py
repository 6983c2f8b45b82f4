"""Equivalence contracts and their members; loaded by path (fixture ``eq``)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from capsules.canonical import canonical_bytes
from capsules.codec import digest_of
from capsules.content_id import derived_key
from capsules.equivalence import (
    EquivalenceContract,
    projected,
)
from capsules.errors import SchemaError
from capsules.member import Member

PROMPT, EVIDENCE = "prompt-capsule/1", "evidence-capsule/1"


def contract(subject: str = PROMPT, *ignores: str, **changes: Any) -> EquivalenceContract:
    made = EquivalenceContract(
        schema_id="equivalence-contract/1",
        contract_id="same-question",
        version=1,
        relation="the same question over the same evidence",
        subject=subject,
        projection="fields/1",
        ignores=tuple(sorted(ignores)),
        uses=("group", "inspect", "substitute"),
        project="demo",
        salt=0,
        expires_at="2025-06-01T00:00:00Z",
    )
    return replace(made, **changes)


def refusal(make: Any) -> tuple[str, str]:
    with pytest.raises(SchemaError) as refused:
        make()
    return refused.value.code, refused.value.at


def member(example: Any, subject: str) -> Member:
    if subject == EVIDENCE:
        return Member(capsule=example.evidence)
    return Member(capsule=example.prompt, evidence=(example.evidence,))


def key_of(made: EquivalenceContract, value: Any, level: str = "internal") -> str:
    """The formula, written out once more."""
    parts = (digest_of(made), made.project, level)
    return derived_key(
        "alias/v1", *(part.encode() for part in parts), canonical_bytes(projected(made, value))
    )
