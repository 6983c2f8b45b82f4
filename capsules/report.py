"""The validation report: a closed list of checks, each with a result and a code.

* A report has at least one row for every check of ``CHECKS``; one that lacks a row is itself
  malformed (``report.incomplete``): "not mentioned" can never pass for "checked".
* Results: ``pass`` (with a success code), ``fail`` (a failure code), ``info`` (an info code, changes
  nothing), ``not_evaluated`` (with ``blocked_by``: the stage that failed before it, or ``input`` where
  what the check needs was not given).
* ``valid`` covers every check but those of ``AUTHORIZATION``; ``authorized`` covers those too and is
  null where one lacked its input. The two are never mixed.
* Rows name ids, pointers, digests, counts and words of closed lists; never a text of the evidence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from capsules.codes import kind_of
from capsules.errors import SchemaError
from capsules.rules import Problem

STAGES = ("bytes", "parse", "schema", "resolve", "policy", "render")
INPUT = "input"

Result = Literal["pass", "fail", "info", "not_evaluated"]

# check: (stage, code of its success). The order is that of the report.
CHECKS: dict[str, tuple[str, str]] = {
    "bytes.size": ("bytes", "bytes.size.ok"),
    "bytes.digest": ("bytes", "bytes.digest.match"),
    "json.strict": ("parse", "json.strict.ok"),
    "json.canonical": ("parse", "json.canonical.ok"),
    "schema.version": ("schema", "schema.major.supported"),
    "object.type": ("schema", "object.type.match"),
    "schema.shape": ("schema", "schema.shape.ok"),
    "runtime.version": ("schema", "runtime.supported"),
    "evidence.refs": ("resolve", "evidence.ref.resolved"),
    "evidence.order": ("resolve", "evidence.order.ok"),
    "source.bytes": ("resolve", "source.digest.match"),
    "span.text": ("resolve", "span.exact.match"),
    "span.context": ("resolve", "span.context.match"),
    "label.derivation": ("resolve", "label.derived"),
    "scope.project": ("resolve", "scope.project.match"),
    "freshness.expiry": ("resolve", "freshness.valid"),
    "omission.items": ("resolve", "omission.items.accounted"),
    "omission.ranges": ("resolve", "omission.ranges.apart"),
    "evidence.required": ("resolve", "evidence.required.kept"),
    "budget.protected": ("resolve", "budget.protected.kept"),
    "rewrite.items": ("resolve", "rewrite.items.kept"),
    "authority.validity": ("policy", "authority.valid"),
    "authority.level": ("policy", "authority.level.covered"),
    "policy.revoked": ("policy", "authority.not_revoked"),
    "policy.schema": ("policy", "schema.listed"),
    "policy.runtime": ("policy", "runtime.listed"),
    "policy.project": ("policy", "scope.project.listed"),
    "authority.operation": ("policy", "authority.operation.covered"),
    "authority.provider": ("policy", "authority.provider.covered"),
    "provider.listed": ("policy", "provider.listed"),
    "provider.operation": ("policy", "provider.operation.listed"),
    "provider.project": ("policy", "provider.project.listed"),
    "provider.level": ("policy", "label.flow.allowed"),
    "tokenizer.identity": ("render", "tokenizer.match"),
    "render.segments": ("render", "render.rendered"),
    "render.control": ("render", "render.plain"),
    "render.fidelity": ("render", "render.faithful"),
    "omission.tokens": ("render", "omission.tokens.accounted"),
    "budget.window": ("render", "budget.window.fits"),
}

# What a named provider and operation need beyond a valid capsule.
AUTHORIZATION = frozenset(
    {
        "authority.operation",
        "authority.provider",
        "provider.listed",
        "provider.operation",
        "provider.project",
        "provider.level",
    }
)


_ORDER = {check: index for index, check in enumerate(CHECKS)}
_REACHED = {check: STAGES.index(stage) for check, (stage, _) in CHECKS.items()}
_BLOCKERS = (*STAGES, INPUT)
_KINDS = {"pass": "success", "fail": "failure", "info": "info"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One row: what was checked, on which record, and what came out.

    Attributes:
        record: ContentId of the record; ``None`` for the subject before its id is known.
        at: JSON pointer in that record.
        expected: An id, a number or a word; never evidence.
        actual: Likewise.
        blocked_by: A stage or ``input``, for ``not_evaluated`` only.
    """

    check: str
    result: Result
    code: str | None = None
    record: str | None = None
    at: str | None = None
    expected: str | None = None
    actual: str | None = None
    blocked_by: str | None = None

    def __post_init__(self) -> None:
        wanted = _KINDS.get(self.result)
        found = None if self.code is None else kind_of(self.code)
        if self.check not in CHECKS or wanted != found:
            raise SchemaError(
                "report.incomplete", f"expected a {wanted} code of {self.check}, found {self.code} ({found})"
            )
        if (self.result == "not_evaluated") != (self.blocked_by in _BLOCKERS):
            raise SchemaError(
                "report.incomplete", f"expected blocked_by with not_evaluated alone, found {self.blocked_by}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationReport:
    """Everything that was checked on one capsule at one moment.

    Attributes:
        subject: ContentId of the capsule; ``None`` where its bytes say none and none was expected.
        now: The clock that was passed in.
        policy_id: ContentId of the policy's canonical form.
        valid: No check failed, those of ``AUTHORIZATION`` apart.
        authorized: Valid, and every check of ``AUTHORIZATION`` passed; ``None`` where one of those
            lacked its input (no provider was named) and none failed.
        stage_reached: The last stage of which something was evaluated.
    """

    subject: str | None
    now: str
    policy_id: str | None
    valid: bool
    authorized: bool | None
    stage_reached: str
    checks: tuple[Check, ...]

    def __post_init__(self) -> None:
        found = {row.check for row in self.checks}
        lacking = [check for check in CHECKS if check not in found]
        if lacking:
            raise SchemaError(
                "report.incomplete", f"expected a row for every check, found none for {lacking}"
            )
        verdict = _verdict(self.checks)
        if (self.valid, self.authorized, self.stage_reached) != verdict:
            raise SchemaError(
                "report.incomplete",
                f"expected valid, authorized, stage_reached {verdict} from the rows, "
                f"found {(self.valid, self.authorized, self.stage_reached)}",
            )

    def codes(self) -> tuple[str, ...]:
        """The failure codes, in the order of the rows, each once."""
        return tuple(dict.fromkeys(row.code for row in self.checks if row.result == "fail" and row.code))


def _verdict(rows: Iterable[Check]) -> tuple[bool, bool | None, str]:
    valid = True
    refused = undecided = unreached = False
    reached = 0
    for row in rows:
        gate = row.check in AUTHORIZATION
        if row.result == "not_evaluated":
            undecided = undecided or (gate and row.blocked_by == INPUT)
            unreached = unreached or gate
            continue
        reached = max(reached, _REACHED[row.check])
        if row.result == "fail":
            refused = refused or gate
            valid = valid and gate
    if refused:
        return valid, False, STAGES[reached]
    return valid, None if undecided else valid and not unreached, STAGES[reached]


def build_report(
    rows: Iterable[Check], *, subject: str | None, now: str, policy_id: str | None
) -> ValidationReport:
    """The report of some rows, in the order of ``CHECKS``, then of their arrival."""
    checks = tuple(sorted(rows, key=lambda row: _ORDER[row.check]))
    valid, authorized, reached = _verdict(checks)
    return ValidationReport(
        subject=subject,
        now=now,
        policy_id=policy_id,
        valid=valid,
        authorized=authorized,
        stage_reached=reached,
        checks=checks,
    )


@lru_cache(maxsize=1 << 10)  # most are of no record, and so the same in every report
def _not_evaluated(check: str, blocked_by: str, record: str | None) -> Check:
    return Check(check=check, result="not_evaluated", blocked_by=blocked_by, record=record)


class Ledger:
    """Rows as they are found; every check leaves at least one."""

    __slots__ = ("_failed", "rows")

    def __init__(self) -> None:
        self.rows: list[Check] = []
        self._failed: set[str] = set()

    def judge(self, check: str, record: str | None, problems: Iterable[Problem]) -> bool:
        """One ``fail`` a problem, or one ``pass``; returns whether it passed."""
        rows = [
            Check(
                check=check,
                result="fail",
                code=found.code,
                record=record,
                at=found.at,
                expected=found.expected,
                actual=found.actual,
            )
            for found in problems
        ]
        if rows:
            self._failed.add(CHECKS[check][0])
            self.rows += rows
            return False
        self.rows.append(Check(check=check, result="pass", code=CHECKS[check][1], record=record))
        return True

    def inform(self, check: str, record: str | None, code: str, at: str) -> None:
        """A row that changes nothing."""
        self.rows.append(Check(check=check, result="info", code=code, record=record, at=at))

    def skip(self, checks: Iterable[str], blocked_by: str, record: str | None = None) -> None:
        """Checks that could not be made, on one record, or (``None``) wherever there is no row yet."""
        present = {row.check for row in self.rows} if record is None else set()
        self.rows += [_not_evaluated(check, blocked_by, record) for check in checks if check not in present]

    def failed(self, stage: str) -> bool:
        """Whether a check of this stage failed."""
        return stage in self._failed
