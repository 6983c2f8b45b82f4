"""Aliases: made of equivalent capsules only, resolved to an exact member that the caller has validated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsules.alias import AliasRecord, Caller, Resolution, make_alias, resolve
from capsules.codec import digest_of, preimage, read_stored
from capsules.content_id import content_id
from capsules.equivalence import AliasError, EquivalenceContract, class_key, revoked
from capsules.errors import CapsuleError, InvalidCapsuleError, SchemaError
from capsules.evidence import EvidenceCapsule
from capsules.member import Member
from capsules.omission import Candidates
from capsules.policy import Policy, ProviderProfile
from capsules.prompt import EvidenceRef, PromptCapsule
from capsules.report import ValidationReport
from capsules.store import MemoryStore
from capsules.validation import Given, validate
from capsules.visibility import LEVELS, Visibility

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
    return replace(example.prompt, omissions=kept, candidates=Candidates(items=9, tokens=120), **changes)


@pytest.fixture(scope="module")
def shelf(example: Any) -> Shelf:
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


# --- making ---


def test_an_alias_names_its_members_by_exact_id(shelf: Shelf) -> None:
    alias = shelf.alias()
    assert alias == AliasRecord(
        schema_id="alias/1",
        class_key=class_key(CONTRACT, shelf.first),
        contract=digest_of(CONTRACT),
        label=Visibility(level="internal", project="demo"),
        members=tuple(sorted([shelf.first.id, shelf.second.id])),
        created_at=MADE,
        expires_at="2025-03-01T00:00:00Z",  # the second member's authority is the first to end
    )
    assert make_alias(CONTRACT, [shelf.second, shelf.first, shelf.second], created_at=MADE) == alias
    assert read_stored(preimage(alias), AliasRecord) == alias


def test_it_ends_with_the_first_of_contract_and_members(shelf: Shelf) -> None:
    assert make_alias(CONTRACT, [shelf.first], created_at=MADE).expires_at == CONTRACT.expires_at
    assert shelf.alias(expires_at="2025-03-01T00:00:00Z") == shelf.alias()
    assert shelf.alias(expires_at="2025-02-28T23:59:59Z").expires_at == "2025-02-28T23:59:59Z"
    assert refusal(lambda: shelf.alias(expires_at="2025-03-01T00:00:01Z")) == "alias.expiry.exceeded"
    late = lambda at: make_alias(CONTRACT, [shelf.second], created_at=at)  # noqa: E731
    assert refusal(lambda: late("2025-03-01T00:00:00Z")) == "schema.limit"


def test_evidence_capsules_have_aliases_too(example: Any) -> None:
    contract = replace(CONTRACT, subject="evidence-capsule/1", ignores=("capsule_id", "confidence"))
    endless = replace(example.evidence, freshness=replace(example.evidence.freshness, expires_at=None))
    again = replace(endless, capsule_id="a:b:c:d", confidence=replace(endless.confidence, bp=1))
    alias = make_alias(contract, [Member(capsule=endless), Member(capsule=again)], created_at=MADE)
    assert len(alias.members) == 2
    assert alias.expires_at == contract.expires_at
    assert (
        make_alias(contract, [Member(capsule=example.evidence)], created_at=MADE).expires_at
        == "2025-03-01T00:00:00Z"
    )


def test_what_an_alias_is_not_made_of(shelf: Shelf, example: Any) -> None:
    other = Member(capsule=prompt_of(example, task="other"), evidence=(example.evidence,))
    assert (
        refusal(lambda: make_alias(CONTRACT, [shelf.first, other], created_at=MADE)) == "alias.class.mismatch"
    )
    assert refusal(lambda: make_alias(CONTRACT, [], created_at=MADE)) == "schema.limit"
    foreign = replace(CONTRACT, project="other")
    assert refusal(lambda: make_alias(foreign, [shelf.first], created_at=MADE)) == "scope.project.mismatch"
    alias = shelf.alias()
    assert refusal(lambda: replace(alias, members=())) == "schema.limit"
    assert refusal(lambda: replace(alias, members=alias.members[::-1])) == "schema.order"
    assert refusal(lambda: replace(alias, expires_at=MADE)) == "schema.limit"


# --- resolving ---


def test_an_alias_gives_an_exact_member_and_its_report(shelf: Shelf) -> None:
    alias = shelf.alias()
    found = resolve(alias, CONTRACT, shelf.caller())
    assert found.id == alias.members[0] == digest_of(found.member.capsule)
    assert (found.alias, found.report.subject, found.report.valid) == (digest_of(alias), found.id, True)
    for name in alias.members:
        assert resolve(alias, CONTRACT, shelf.caller(), member=name).id == name


@pytest.mark.parametrize("use", ["group", "kv", "tokens", "evidence", ""])
def test_only_the_uses_of_the_contract(shelf: Shelf, use: str) -> None:
    assert refusal(lambda: resolve(shelf.alias(), CONTRACT, shelf.caller(use=use))) == "alias.use.denied"


def test_a_contract_without_uses_allows_none(shelf: Shelf) -> None:
    none = replace(CONTRACT, uses=())
    alias = make_alias(none, [shelf.first], created_at=MADE)
    assert refusal(lambda: resolve(alias, none, shelf.caller())) == "alias.use.denied"


def test_a_revoked_or_changed_contract_disowns_the_alias(shelf: Shelf) -> None:
    for contract in (
        revoked(CONTRACT),
        replace(CONTRACT, version=2),
        replace(CONTRACT, ignores=("capsule_id",)),
    ):
        code = refusal(lambda contract=contract: resolve(shelf.alias(), contract, shelf.caller()))
        assert code == "alias.contract.mismatch"


@pytest.mark.parametrize(
    ("now", "code"),
    [
        ("2025-02-28T23:59:59Z", None),
        ("2025-03-01T00:00:00Z", "alias.expired"),
        ("2025-03-01T00:00:01Z", "alias.expired"),
    ],
)
def test_an_alias_is_in_force_until_it_expires(shelf: Shelf, now: str, code: str | None) -> None:
    caller = shelf.caller(shelf.given(now=now), now=now)
    if code is None:
        assert resolve(shelf.alias(), CONTRACT, caller).report.now == now
    else:
        assert refusal(lambda: resolve(shelf.alias(), CONTRACT, caller)) == code


def test_a_forged_expiry_does_not_outlive_contract_or_member(shelf: Shelf) -> None:
    forged = replace(shelf.alias(), expires_at="2030-01-01T00:00:00Z")
    assert refusal(lambda: resolve(forged, CONTRACT, shelf.caller())) == "alias.expiry.exceeded"
    late = shelf.caller(now="2025-06-01T00:00:00Z")
    assert refusal(lambda: resolve(forged, CONTRACT, late)) == "alias.expired"


def test_another_project_gets_nothing(shelf: Shelf) -> None:
    assert (
        refusal(lambda: resolve(shelf.alias(), CONTRACT, shelf.caller(project="other")))
        == "scope.project.mismatch"
    )


def test_an_id_that_is_no_member(shelf: Shelf) -> None:
    other = content_id(b"other")
    caller = shelf.caller()
    assert refusal(lambda: resolve(shelf.alias(), CONTRACT, caller, member=other)) == "alias.member.unknown"


def test_a_loader_that_gives_something_else_is_caught(shelf: Shelf) -> None:
    alias = shelf.alias()
    (wrong,) = [each for name, each in shelf.members.items() if name != alias.members[0]]
    caller = shelf.caller(load=lambda _: wrong)
    assert refusal(lambda: resolve(alias, CONTRACT, caller)) == "alias.member.unverified"


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


@given(st.permutations(LEVELS), st.booleans())
@settings(max_examples=48, deadline=None)
def test_an_alias_of_one_label_never_reaches_a_member_of_another(
    example: Any, shelf: Shelf, order: list[str], honest: bool
) -> None:
    """Even under a contract that does not look at the evidence, in an honest and in a forged record."""
    one, other = (private_twin(example, level) for level in order[:2])
    assert class_key(BLIND, one) != class_key(BLIND, other)
    if honest:
        assert refusal(lambda: make_alias(BLIND, [one, other], created_at=MADE)) == "alias.class.mismatch"
        return
    alias = make_alias(BLIND, [one], created_at=MADE)
    for label in (alias.label, other.label()):
        for key in (alias.class_key, class_key(BLIND, other)):
            if (label, key) == (other.label(), class_key(BLIND, other)):
                continue  # that is an honest alias of the other
            forged = replace(alias, label=label, class_key=key, members=(other.id,))
            caller = shelf.caller(load={other.id: other}.__getitem__)
            assert (
                refusal(lambda forged=forged, caller=caller: resolve(forged, BLIND, caller))
                == "alias.class.mismatch"
            )


def test_a_member_that_is_not_valid_for_the_caller_is_refused_with_its_report(shelf: Shelf) -> None:
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
        resolve(alias, CONTRACT, shelf.caller(shelf.given(policy=policy)), member=id_)
    assert refused.value.code == "authority.revoked"
    assert isinstance(refused.value.report, ValidationReport)
    assert refused.value.report.subject == id_
    # The other member is valid, but it may not go to this provider: internal evidence, a public limit.
    context = shelf.given(policy=policy, provider="local", operation="answer")
    with pytest.raises(InvalidCapsuleError) as refused:
        resolve(alias, CONTRACT, shelf.caller(context))
    assert refused.value.code == "label.flow.denied"


def test_a_changed_source_is_found_although_the_alias_is_in_order(shelf: Shelf, example: Any) -> None:
    store = MemoryStore()
    store.put_many([example.sources["label"].data, preimage(example.evidence)])
    with pytest.raises(InvalidCapsuleError) as refused:
        resolve(shelf.alias(), CONTRACT, shelf.caller(shelf.given(store=store)))
    assert refused.value.code == "source.missing"


def test_a_report_on_something_else_verifies_nothing(shelf: Shelf) -> None:
    alias = shelf.alias()
    other = shelf.members[alias.members[1]]
    report = validate(preimage(other.capsule), shelf.given(), expect=other.id)
    swapped = shelf.caller(validate=lambda data, expect: report)
    assert refusal(lambda: resolve(alias, CONTRACT, swapped)) == "alias.member.unverified"
    earlier = shelf.caller(shelf.given(now="2024-06-01T11:59:59Z"))
    assert refusal(lambda: resolve(alias, CONTRACT, earlier)) == "alias.member.unverified"


def test_a_validation_without_store_is_not_in_full(shelf: Shelf) -> None:
    blind = shelf.caller(shelf.given(store=None))
    assert refusal(lambda: resolve(shelf.alias(), CONTRACT, blind)) == "alias.member.unverified"


def test_evidence_needs_the_callers_project(shelf: Shelf, example: Any) -> None:
    contract = replace(CONTRACT, subject="evidence-capsule/1", ignores=())
    evidence = Member(capsule=example.evidence)
    alias = make_alias(contract, [evidence], created_at=MADE)
    load = {evidence.id: evidence}.__getitem__
    found = resolve(alias, contract, shelf.caller(load=load))
    assert isinstance(found, Resolution)
    assert isinstance(found.member.capsule, EvidenceCapsule)
    nobody = shelf.caller(shelf.given(project=None), load=load)
    assert refusal(lambda: resolve(alias, contract, nobody)) == "alias.member.unverified"


def test_errors_are_of_their_own_kind(shelf: Shelf) -> None:
    with pytest.raises(AliasError, match="expected a use of the contract"):
        resolve(shelf.alias(), CONTRACT, shelf.caller(use="kv"))
    with pytest.raises(SchemaError, match="caller's project"):
        resolve(shelf.alias(), CONTRACT, shelf.caller(project="other"))
