"""Two equivalent prompts and a public one, with all that a validation needs; loaded by path (``al``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from capsules.alias import AliasRecord, Caller, make_alias
from capsules.codec import digest_of, preimage
from capsules.equivalence import EquivalenceContract
from capsules.errors import CapsuleError
from capsules.member import Member
from capsules.omission import Candidates
from capsules.prompt import EvidenceRef, PromptCapsule
from capsules.store import MemoryStore
from capsules.validation import Given, validate
from capsules.visibility import Visibility

NOW, MADE = "2024-06-01T12:00:00Z", "2024-05-01T00:00:00Z"


CONTRACT = EquivalenceContract(
    schema_id="equivalence-contract/1",
    contract_id="same-question",
    version=1,
    relation="the same question over the same evidence",
    subject="prompt-capsule/1",
    projection="fields/1",
    ignores=("active_object.ref", "authority.expires_at", "capsule_id"),
    uses=("inspect", "substitute"),
    project="demo",
    salt=0,
    expires_at="2025-06-01T00:00:00Z",
)


@dataclass(frozen=True)
class Shelf:
    """Two equivalent prompts and a public one, with everything that a validation needs."""

    members: dict[str, Member]  # by ContentId
    store: MemoryStore
    first: Member
    second: Member

    def alias(self, **options: Any) -> AliasRecord:
        return make_alias(CONTRACT, [self.first, self.second], created_at=MADE, **options)

    def given(self, **context: Any) -> Given:
        return Given(**{"now": NOW, "store": self.store, "project": "demo", **context})

    def caller(self, given: Given | None = None, **changes: Any) -> Caller:
        context = given or self.given()
        usual = Caller(
            project="demo",
            now=NOW,
            use="substitute",
            load=self.members.__getitem__,
            validate=lambda data, expect: validate(data, context, expect=expect),
        )
        return replace(usual, **changes)


def prompt_of(example: Any, **changes: Any) -> PromptCapsule:
    """The example's prompt without the omission of a constraint, which is protected: it is valid."""
    kept = tuple(gone for gone in example.prompt.omissions if gone.item != "example-2")
    prompt: PromptCapsule = example.prompt
    return replace(prompt, omissions=kept, candidates=Candidates(items=9, tokens=120), **changes)


def shelf_of(example: Any) -> Shelf:
    until = replace(example.prompt.authority, expires_at="2025-03-01T00:00:00Z")
    first = Member(capsule=prompt_of(example), evidence=(example.evidence,))
    second = Member(
        capsule=prompt_of(example, capsule_id="demo:dosage:q-1:again", authority=until),
        evidence=(example.evidence,),
    )
    store = MemoryStore()
    store.put_many([*(source.data for source in example.sources.values()), preimage(example.evidence)])
    return Shelf(members={each.id: each for each in (first, second)}, store=store, first=first, second=second)


def refusal(make: Callable[[], object]) -> str:
    with pytest.raises(CapsuleError) as refused:
        make()
    return refused.value.code


def private_twin(example: Any, level: str) -> Member:
    """The example's prompt over the same evidence at another level; the snippet at the lowest."""
    evidence = replace(example.evidence, visibility=Visibility(level=level, project="demo"))
    prompt = prompt_of(
        example,
        evidence_capsule_refs=(EvidenceRef(id=digest_of(evidence), required=True),),
        surface_snippet=replace(example.prompt.surface_snippet, level="public"),
    )
    return Member(capsule=prompt, evidence=(evidence,))


BLIND = replace(CONTRACT, ignores=("authority.expires_at", "capsule_id", "evidence_capsule_refs"))
