"""Aliases: the exact capsules that share a class key under an equivalence contract.

* An alias is no capsule and carries no authority, no label and no validity of its own. Whoever uses one gets
  an exact member, whose key is computed again and which is validated in full in the user's context.
* Nobody states a label: it is derived from each member. A key of class ``public`` never fits a private
  member, in an honest alias or in a forged one (``alias.class.mismatch``).
* It ends with the contract, or with the first of its members (``alias.expiry.exceeded``).
* No fallback: where the member does not pass, the answer is that member's report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from capsules.arrays import Sorted, itself
from capsules.codec import digest_of, preimage
from capsules.equivalence import AliasError, EquivalenceContract, class_key
from capsules.errors import InvalidCapsuleError, SchemaError
from capsules.member import Member
from capsules.report import INPUT, ValidationReport
from capsules.rules import ContentId, Problem, SchemaIdRule, Time
from capsules.shape import Record, law
from capsules.timestamp import parse_time
from capsules.visibility import Visibility

SCHEMA_ID = "alias/1"

# What a full validation has looked at; a report that could not, for want of input, verifies nothing.
_NEEDED = ("source.bytes", "span.text", "span.context", "label.derivation", "scope.project")


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasRecord(Record):
    """The members of one class, by exact id."""

    schema_id: Annotated[str, SchemaIdRule(SCHEMA_ID)]
    class_key: ContentId
    contract: ContentId
    label: Visibility
    members: Annotated[tuple[ContentId, ...], Sorted("id", itself)]
    created_at: Time
    expires_at: Time

    @law("members")
    def _some_member(self) -> Iterator[Problem]:
        if not self.members:
            yield Problem("schema.limit", "/members", "at least 1 member", "0 members")

    @law("created_at", "expires_at")
    def _some_time(self) -> Iterator[Problem]:
        if self.expires_at <= self.created_at:
            yield Problem("schema.limit", "/expires_at", f"after {self.created_at}", self.expires_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who resolves an alias, for what and when.

    Attributes:
        project: The project that the caller works for.
        now: The clock, ``YYYY-MM-DDTHH:MM:SSZ``.
        use: One of the uses that the contract allows.
        load: Gives the exact capsule of an id, with its evidence.
        validate: The validation of stored bytes and the id expected of them, in the caller's own context
            (its store, project, policy, provider): ``lambda data, id: validate(data, given, expect=id)``.
    """

    project: str
    now: str
    use: str
    load: Callable[[str], Member]
    validate: Callable[[bytes, str], ValidationReport]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """An alias resolved: which exact member is used, and the report that allows it."""

    alias: str
    id: str
    member: Member
    report: ValidationReport


def make_alias(
    contract: EquivalenceContract,
    members: Sequence[Member],
    *,
    created_at: str,
    expires_at: str | None = None,
) -> AliasRecord:
    """The alias of some equivalent capsules.

    Args:
        contract: The relation.
        members: At least one.
        created_at: The clock that was passed in.
        expires_at: ``None`` is as late as the contract and all members allow.

    Raises:
        AliasError: ``alias.class.mismatch``: not all of one class; ``alias.expiry.exceeded``.
        SchemaError: ``schema.limit``: no member, or nothing left of their time; what ``class_key`` raises.
    """
    if not members:
        raise SchemaError("schema.limit", "expected at least 1 member, found 0", at="/members")
    keys = {member.id: class_key(contract, member) for member in members}
    first = members[0]
    for name, key in keys.items():
        if key != keys[first.id]:
            raise AliasError(
                "alias.class.mismatch", f"expected the class of {first.id}, found another: {name}"
            )
    latest = min(_last_moment(contract, member) for member in members)
    if expires_at is not None and expires_at > latest:
        raise AliasError("alias.expiry.exceeded", f"expected at most {latest}, found {expires_at}")
    return AliasRecord(
        schema_id=SCHEMA_ID,
        class_key=keys[first.id],
        contract=digest_of(contract),
        label=first.label(),
        members=tuple(sorted(keys)),
        created_at=created_at,
        expires_at=expires_at or latest,
    )


def resolve(
    alias: AliasRecord, contract: EquivalenceContract, caller: Caller, *, member: str | None = None
) -> Resolution:
    """Pick an exact member of an alias and verify it.

    Args:
        alias: The alias, as found.
        contract: The contract as it is now; a revoked or changed one disowns the alias.
        caller: For whom, for what, when.
        member: The id to use; ``None`` is the first.

    Raises:
        AliasError: ``alias.use.denied``, ``alias.contract.mismatch``, ``alias.expired``,
            ``alias.member.unknown``, ``alias.class.mismatch``, ``alias.expiry.exceeded``, or
            ``alias.member.unverified``: a report on something else, of another time, or not in full.
        InvalidCapsuleError: The member is not valid (or not authorized) in the caller's context.
        SchemaError: ``scope.project.mismatch``; what ``class_key`` raises.
    """
    _require_in_force(alias, contract, caller)
    chosen = member or alias.members[0]
    if chosen not in alias.members:
        raise AliasError("alias.member.unknown", f"expected a member of the alias, found {chosen}")
    found = caller.load(chosen)
    if found.id != chosen:
        raise AliasError("alias.member.unverified", f"expected capsule {chosen}, found {found.id}")
    if (class_key(contract, found), found.label()) != (alias.class_key, alias.label):
        raise AliasError("alias.class.mismatch", f"expected class {alias.class_key}, found another: {chosen}")
    latest = _last_moment(contract, found)
    if alias.expires_at > latest:
        raise AliasError("alias.expiry.exceeded", f"expected at most {latest}, found {alias.expires_at}")
    report = caller.validate(preimage(found.capsule), chosen)
    _require_report(report, chosen, caller.now)
    return Resolution(alias=digest_of(alias), id=chosen, member=found, report=report)


def _last_moment(contract: EquivalenceContract, member: Member) -> str:
    """Times in the one form compare as strings."""
    return min(contract.expires_at, member.expires_at or contract.expires_at)


def _require_in_force(alias: AliasRecord, contract: EquivalenceContract, caller: Caller) -> None:
    if caller.use not in contract.uses:
        allowed = ", ".join(contract.uses) or "none"
        raise AliasError(
            "alias.use.denied", f"expected a use of the contract ({allowed}), found {caller.use!r}"
        )
    current = digest_of(contract)
    if alias.contract != current:
        raise AliasError("alias.contract.mismatch", f"expected contract {current}, found {alias.contract}")
    if caller.project != alias.label.project:
        raise SchemaError("scope.project.mismatch", "expected the caller's project, found another")
    ends = min(alias.expires_at, contract.expires_at)
    if parse_time(caller.now, "/now") >= parse_time(ends):
        raise AliasError("alias.expired", f"expected now before {ends}, found {caller.now}")


def _require_report(report: ValidationReport, member: str, now: str) -> None:
    """The report must be about the exact member, at this clock, in full, and without a failure."""
    if (report.subject, report.now) != (member, now):
        raise AliasError(
            "alias.member.unverified",
            f"expected a report on {member} at {now}, found one on {report.subject}",
        )
    if not report.valid or report.authorized is False:
        raise InvalidCapsuleError(report)
    unseen = [row.check for row in report.checks if row.check in _NEEDED and row.blocked_by == INPUT]
    if unseen:
        raise AliasError(
            "alias.member.unverified", f"expected a full validation, found no input for {unseen}"
        )
