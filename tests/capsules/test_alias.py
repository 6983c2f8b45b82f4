"""Aliases: made of equivalent capsules only, resolved to an exact member that the caller has validated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from capsules.alias import AliasRecord, make_alias, resolve
from capsules.codec import digest_of, preimage, read_stored
from capsules.content_id import content_id
from capsules.equivalence import AliasError, class_key, revoked
from capsules.errors import SchemaError
from capsules.member import Member
from capsules.visibility import Visibility


def test_an_alias_names_its_members_by_exact_id(al: Any, shelf: Any) -> None:
    alias = shelf.alias()
    assert alias == AliasRecord(
        schema_id="alias/1",
        class_key=class_key(al.CONTRACT, shelf.first),
        contract=digest_of(al.CONTRACT),
        label=Visibility(level="internal", project="demo"),
        members=tuple(sorted([shelf.first.id, shelf.second.id])),
        created_at=al.MADE,
        expires_at="2025-03-01T00:00:00Z",  # the second member's authority is the first to end
    )
    assert make_alias(al.CONTRACT, [shelf.second, shelf.first, shelf.second], created_at=al.MADE) == alias
    assert read_stored(preimage(alias), AliasRecord) == alias


def test_it_ends_with_the_first_of_contract_and_members(al: Any, shelf: Any) -> None:
    assert make_alias(al.CONTRACT, [shelf.first], created_at=al.MADE).expires_at == al.CONTRACT.expires_at
    assert shelf.alias(expires_at="2025-03-01T00:00:00Z") == shelf.alias()
    assert shelf.alias(expires_at="2025-02-28T23:59:59Z").expires_at == "2025-02-28T23:59:59Z"
    assert al.refusal(lambda: shelf.alias(expires_at="2025-03-01T00:00:01Z")) == "alias.expiry.exceeded"
    late: Callable[[str], object] = lambda at: make_alias(al.CONTRACT, [shelf.second], created_at=at)  # noqa: E731
    assert al.refusal(lambda: late("2025-03-01T00:00:00Z")) == "schema.limit"


def test_evidence_capsules_have_aliases_too(al: Any, example: Any) -> None:
    contract = replace(al.CONTRACT, subject="evidence-capsule/1", ignores=("capsule_id", "confidence"))
    endless = replace(example.evidence, freshness=replace(example.evidence.freshness, expires_at=None))
    again = replace(endless, capsule_id="a:b:c:d", confidence=replace(endless.confidence, bp=1))
    alias = make_alias(contract, [Member(capsule=endless), Member(capsule=again)], created_at=al.MADE)
    assert len(alias.members) == 2
    assert alias.expires_at == contract.expires_at
    assert (
        make_alias(contract, [Member(capsule=example.evidence)], created_at=al.MADE).expires_at
        == "2025-03-01T00:00:00Z"
    )


def test_what_an_alias_is_not_made_of(al: Any, shelf: Any, example: Any) -> None:
    other = Member(capsule=al.prompt_of(example, task="other"), evidence=(example.evidence,))
    assert (
        al.refusal(lambda: make_alias(al.CONTRACT, [shelf.first, other], created_at=al.MADE))
        == "alias.class.mismatch"
    )
    assert al.refusal(lambda: make_alias(al.CONTRACT, [], created_at=al.MADE)) == "schema.limit"
    foreign = replace(al.CONTRACT, project="other")
    assert (
        al.refusal(lambda: make_alias(foreign, [shelf.first], created_at=al.MADE)) == "scope.project.mismatch"
    )
    alias = shelf.alias()
    assert al.refusal(lambda: replace(alias, members=())) == "schema.limit"
    assert al.refusal(lambda: replace(alias, members=alias.members[::-1])) == "schema.order"
    assert al.refusal(lambda: replace(alias, expires_at=al.MADE)) == "schema.limit"


def test_an_alias_gives_an_exact_member_and_its_report(al: Any, shelf: Any) -> None:
    alias = shelf.alias()
    found = resolve(alias, al.CONTRACT, shelf.caller())
    assert found.id == alias.members[0] == digest_of(found.member.capsule)
    assert (found.alias, found.report.subject, found.report.valid) == (digest_of(alias), found.id, True)
    for name in alias.members:
        assert resolve(alias, al.CONTRACT, shelf.caller(), member=name).id == name


@pytest.mark.parametrize("use", ["group", "kv", "tokens", "evidence", ""])
def test_only_the_uses_of_the_contract(al: Any, shelf: Any, use: str) -> None:
    assert (
        al.refusal(lambda: resolve(shelf.alias(), al.CONTRACT, shelf.caller(use=use))) == "alias.use.denied"
    )


def test_a_contract_without_uses_allows_none(al: Any, shelf: Any) -> None:
    none = replace(al.CONTRACT, uses=())
    alias = make_alias(none, [shelf.first], created_at=al.MADE)
    assert al.refusal(lambda: resolve(alias, none, shelf.caller())) == "alias.use.denied"


def test_a_revoked_or_changed_contract_disowns_the_alias(al: Any, shelf: Any) -> None:
    for contract in (
        revoked(al.CONTRACT),
        replace(al.CONTRACT, version=2),
        replace(al.CONTRACT, ignores=("capsule_id",)),
    ):
        code = al.refusal(lambda contract=contract: resolve(shelf.alias(), contract, shelf.caller()))
        assert code == "alias.contract.mismatch"


@pytest.mark.parametrize(
    ("now", "code"),
    [
        ("2025-02-28T23:59:59Z", None),
        ("2025-03-01T00:00:00Z", "alias.expired"),
        ("2025-03-01T00:00:01Z", "alias.expired"),
    ],
)
def test_an_alias_is_in_force_until_it_expires(al: Any, shelf: Any, now: str, code: str | None) -> None:
    caller = shelf.caller(shelf.given(now=now), now=now)
    if code is None:
        assert resolve(shelf.alias(), al.CONTRACT, caller).report.now == now
    else:
        assert al.refusal(lambda: resolve(shelf.alias(), al.CONTRACT, caller)) == code


def test_a_forged_expiry_does_not_outlive_contract_or_member(al: Any, shelf: Any) -> None:
    forged = replace(shelf.alias(), expires_at="2030-01-01T00:00:00Z")
    assert al.refusal(lambda: resolve(forged, al.CONTRACT, shelf.caller())) == "alias.expiry.exceeded"
    late = shelf.caller(now="2025-06-01T00:00:00Z")
    assert al.refusal(lambda: resolve(forged, al.CONTRACT, late)) == "alias.expired"


def test_another_project_gets_nothing(al: Any, shelf: Any) -> None:
    assert (
        al.refusal(lambda: resolve(shelf.alias(), al.CONTRACT, shelf.caller(project="other")))
        == "scope.project.mismatch"
    )


def test_an_id_that_is_no_member(al: Any, shelf: Any) -> None:
    other = content_id(b"other")
    caller = shelf.caller()
    assert (
        al.refusal(lambda: resolve(shelf.alias(), al.CONTRACT, caller, member=other))
        == "alias.member.unknown"
    )


def test_errors_are_of_their_own_kind(al: Any, shelf: Any) -> None:
    with pytest.raises(AliasError, match="expected a use of the contract"):
        resolve(shelf.alias(), al.CONTRACT, shelf.caller(use="kv"))
    with pytest.raises(SchemaError, match="caller's project"):
        resolve(shelf.alias(), al.CONTRACT, shelf.caller(project="other"))
