"""Staged validation: bytes, parse, schema, resolve, policy, render.

* Inside a stage every failure is reported, each with a stable code; after the first stage with a
  failure the later ones are ``not_evaluated``, blocked by it: their input cannot be trusted.
* A check whose input was not given (store, project, policy, provider, tokenizer) is ``not_evaluated``,
  blocked by ``input``, and does not make the capsule invalid.
* The clock is passed in. It runs before sealing is acknowledged, before every send, with the provider
  really chosen, and on every read. Nothing is sent when it fails.
* ``validate`` returns the report; ``require_valid`` is the same check and raises. An error that is
  raised by ``validate`` itself says that it could not look (no store, I/O), not that it found something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from capsules.checks_accounts import check_accounts
from capsules.checks_bytes import check_bytes, check_parse
from capsules.checks_case import Case, Given, SealedCapsule, skip_without_input
from capsules.checks_labels import check_labels
from capsules.checks_policy import check_policy
from capsules.checks_render import check_render
from capsules.checks_resolve import resolve_evidence, resolve_sources
from capsules.checks_schema import check_schema
from capsules.codec import digest_of
from capsules.content_id import require_content_id
from capsules.errors import InvalidCapsuleError
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule
from capsules.report import CHECKS, ValidationReport, build_report
from capsules.shape import Record

__all__ = ["Given", "require_valid", "validate", "validate_evidence", "validate_prompt"]


def _check_resolve(case: Case) -> None:
    resolve_evidence(case)
    resolve_sources(case)
    check_labels(case)
    check_accounts(case)


_STAGES: dict[str, Callable[[Case], None]] = {
    "bytes": check_bytes,
    "parse": check_parse,
    "schema": check_schema,
    "resolve": _check_resolve,
    "policy": check_policy,
    "render": check_render,
}


def validate(
    data: bytes,
    given: Given,
    *,
    expect: str | None = None,
    record_type: type[Record] | None = None,
    sealed: Iterable[SealedCapsule] = (),
) -> ValidationReport:
    """Validate a capsule and return everything that was found.

    Args:
        data: The wire form; or the stored form, which needs ``expect``.
        given: Clock, store, project, policy, provider and tokenizer, as far as there are any.
        expect: The ContentId that the capsule must have.
        record_type: ``PromptCapsule`` or ``EvidenceCapsule``; ``None`` takes either.
        sealed: Capsules that the caller made itself. Their bytes are hashed and compared with what is
            validated or stored; where they agree, the record stands for what would be read from them. All
            other bytes are parsed, and the report is the same with and without.

    Raises:
        SchemaError: ``id.malformed`` of ``expect``.
        StoreError: The store could not be read (``store.io``, ``store.not_found``,
            ``store.format.unknown``).
    """
    if expect is not None:
        require_content_id(expect, "/expect")
    made = {one.digest: one for one in sealed}
    case = Case(given=given, data=data, expect=expect, wanted=record_type, sealed=made)
    skip_without_input(case)
    for stage, check in _STAGES.items():
        check(case)
        if case.ledger.failed(stage):
            case.ledger.skip(CHECKS, stage)
            break
    policy_id = None if given.policy is None else digest_of(given.policy)
    return build_report(case.ledger.rows, subject=case.subject, now=given.now, policy_id=policy_id)


def validate_prompt(data: bytes, given: Given, *, expect: str | None = None) -> ValidationReport:
    """``validate`` for a prompt capsule: any other type is ``object.type.mismatch``."""
    return validate(data, given, expect=expect, record_type=PromptCapsule)


def validate_evidence(data: bytes, given: Given, *, expect: str | None = None) -> ValidationReport:
    """``validate`` for an evidence capsule: any other type is ``object.type.mismatch``."""
    return validate(data, given, expect=expect, record_type=EvidenceCapsule)


def require_valid(
    data: bytes, given: Given, *, expect: str | None = None, record_type: type[Record] | None = None
) -> ValidationReport:
    """The raising form of ``validate``. With a provider and a policy it also requires authorization.

    Raises:
        InvalidCapsuleError: The report holds a failure; it carries the report.
        SchemaError: As ``validate``.
        StoreError: As ``validate``.
    """
    report = validate(data, given, expect=expect, record_type=record_type)
    if not report.valid or report.authorized is False:
        raise InvalidCapsuleError(report)
    return report
