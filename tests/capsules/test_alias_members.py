"""An alias never stands in for a member: each is validated in full in the context of the caller."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsules.alias import Resolution, make_alias, resolve
from capsules.codec import preimage
from capsules.equivalence import class_key
from capsules.errors import InvalidCapsuleError
from capsules.evidence import EvidenceCapsule
from capsules.member import Member
from capsules.policy import Policy, ProviderProfile
from capsules.report import ValidationReport
from capsules.store import MemoryStore
from capsules.validation import validate
from capsules.visibility import LEVELS


def test_a_loader_that_gives_something_else_is_caught(al: Any, shelf: Any) -> None:
    alias = shelf.alias()
    (wrong,) = [each for name, each in shelf.members.items() if name != alias.members[0]]
    caller = shelf.caller(load=lambda _: wrong)
    assert al.refusal(lambda: resolve(alias, al.CONTRACT, caller)) == "alias.member.unverified"


@given(st.permutations(LEVELS), st.booleans())
@settings(max_examples=48, deadline=None)
def test_an_alias_of_one_label_never_reaches_a_member_of_another(
    al: Any, example: Any, shelf: Any, order: list[str], honest: bool
) -> None:
    """Even under a contract that does not look at the evidence, in an honest and in a forged record."""
    one, other = (al.private_twin(example, level) for level in order[:2])
    assert class_key(al.BLIND, one) != class_key(al.BLIND, other)
    if honest:
        assert (
            al.refusal(lambda: make_alias(al.BLIND, [one, other], created_at=al.MADE))
            == "alias.class.mismatch"
        )
        return
    alias = make_alias(al.BLIND, [one], created_at=al.MADE)
    for label in (alias.label, other.label()):
        for key in (alias.class_key, class_key(al.BLIND, other)):
            if (label, key) == (other.label(), class_key(al.BLIND, other)):
                continue  # that is an honest alias of the other
            forged = replace(alias, label=label, class_key=key, members=(other.id,))
            caller = shelf.caller(load={other.id: other}.__getitem__)
            assert (
                al.refusal(lambda forged=forged, caller=caller: resolve(forged, al.BLIND, caller))
                == "alias.class.mismatch"
            )


def test_a_member_that_is_not_valid_for_the_caller_is_refused_with_its_report(al: Any, shelf: Any) -> None:
    alias = shelf.alias()
    id_ = alias.members[1]
    policy = Policy(
        schema_id="policy/1",
        projects=("demo",),
        providers=(
            ProviderProfile(
                id="local",
                endpoint=None,
                max_level="public",
                projects=("demo",),
                operations=("answer",),
                fallbacks=(),
            ),
        ),
        revoked=(id_,),
        supported_schemas=("prompt-capsule/1", "evidence-capsule/1"),
        runtime="1.0.0",
    )
    with pytest.raises(InvalidCapsuleError) as refused:
        resolve(alias, al.CONTRACT, shelf.caller(shelf.given(policy=policy)), member=id_)
    assert refused.value.code == "authority.revoked"
    assert isinstance(refused.value.report, ValidationReport)
    assert refused.value.report.subject == id_
    # The other member is valid, but it may not go to this provider: internal evidence, a public limit.
    context = shelf.given(policy=policy, provider="local", operation="answer")
    with pytest.raises(InvalidCapsuleError) as refused:
        resolve(alias, al.CONTRACT, shelf.caller(context))
    assert refused.value.code == "label.flow.denied"


def test_a_changed_source_is_found_although_the_alias_is_in_order(al: Any, shelf: Any, example: Any) -> None:
    store = MemoryStore()
    store.put_many([example.sources["label"].data, preimage(example.evidence)])
    with pytest.raises(InvalidCapsuleError) as refused:
        resolve(shelf.alias(), al.CONTRACT, shelf.caller(shelf.given(store=store)))
    assert refused.value.code == "source.missing"


def test_a_report_on_something_else_verifies_nothing(al: Any, shelf: Any) -> None:
    alias = shelf.alias()
    other = shelf.members[alias.members[1]]
    report = validate(preimage(other.capsule), shelf.given(), expect=other.id)
    swapped = shelf.caller(validate=lambda data, expect: report)
    assert al.refusal(lambda: resolve(alias, al.CONTRACT, swapped)) == "alias.member.unverified"
    earlier = shelf.caller(shelf.given(now="2024-06-01T11:59:59Z"))
    assert al.refusal(lambda: resolve(alias, al.CONTRACT, earlier)) == "alias.member.unverified"


def test_a_validation_without_store_is_not_in_full(al: Any, shelf: Any) -> None:
    blind = shelf.caller(shelf.given(store=None))
    assert al.refusal(lambda: resolve(shelf.alias(), al.CONTRACT, blind)) == "alias.member.unverified"


def test_evidence_needs_the_callers_project(al: Any, shelf: Any, example: Any) -> None:
    contract = replace(al.CONTRACT, subject="evidence-capsule/1", ignores=())
    evidence = Member(capsule=example.evidence)
    alias = make_alias(contract, [evidence], created_at=al.MADE)
    load = {evidence.id: evidence}.__getitem__
    found = resolve(alias, contract, shelf.caller(load=load))
    assert isinstance(found, Resolution)
    assert isinstance(found.member.capsule, EvidenceCapsule)
    nobody = shelf.caller(shelf.given(project=None), load=load)
    assert al.refusal(lambda: resolve(alias, contract, nobody)) == "alias.member.unverified"
