"""Errors of the core: each carries a stable code and a JSON pointer.

    CapsuleError
      · ParseError            bytes that are not the strict JSON that we read (bytes.*, json.*)
      · SchemaError           a value that breaks the shape of a record (schema.*, id.*, span.*, ...)
      · InvalidCapsuleError   a validation report that holds at least one failure
      · StoreError            the content-addressed store (store.*, ref.*)
      · RenderError           a prompt that cannot be rendered or tokenized faithfully (render.*)
      · OmissionLawError      candidates and omissions do not add up (omission.*, budget.*)

A message says what was expected, what was found and where. It never holds the text of a
field: whoever reads a log may not be allowed to read the evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class CapsuleError(Exception):
    """Base of all errors of the core.

    Attributes:
        code: A code of ``capsules.codes.CODES``.
        at: JSON pointer to the offending place; ``""`` is the whole document.
    """

    def __init__(self, code: str, message: str, *, at: str = "") -> None:
        super().__init__(f"{code} at {at}: {message}" if at else f"{code}: {message}")
        self.code = code
        self.at = at
        self.message = message


class ParseError(CapsuleError):
    """Bytes that are not strict, canonical JSON.

    Attributes:
        position: Byte offset of the offence, or ``None`` where only the pointer is known.
    """

    def __init__(self, code: str, message: str, *, at: str = "", position: int | None = None) -> None:
        super().__init__(code, message if position is None else f"{message} (byte {position})", at=at)
        self.position = position


class SchemaError(CapsuleError):
    """A value that breaks the shape of a record."""


class StoreError(CapsuleError):
    """The store refused, or holds something else than it should."""


class RenderError(CapsuleError):
    """A prompt that cannot be rendered or tokenized faithfully."""


class OmissionLawError(CapsuleError):
    """Candidates, kept items and omissions do not add up."""


class FailedCheck(Protocol):
    """What ``InvalidCapsuleError`` needs to know of one row of a report."""

    @property
    def result(self) -> str: ...  # noqa: D102 - "pass" | "fail" | "not_evaluated"
    @property
    def code(self) -> str | None: ...  # noqa: D102
    @property
    def at(self) -> str | None: ...  # noqa: D102


class FailedReport(Protocol):
    """What ``InvalidCapsuleError`` needs to know of a validation report."""

    @property
    def checks(self) -> Sequence[FailedCheck]: ...  # noqa: D102


class InvalidCapsuleError(CapsuleError):
    """The raising form of a validation: all failures in one error.

    Attributes:
        report: The validation report, complete. ``code`` and ``at`` are those of its first failure.
    """

    def __init__(self, report: FailedReport) -> None:
        failures = [check for check in report.checks if check.result == "fail"]
        if not failures:
            raise ValueError("an InvalidCapsuleError needs a report with at least one failed check")
        named = ", ".join(f"{check.code} {check.at or ''}".strip() for check in failures)
        first = failures[0]
        super().__init__(first.code or "", f"{len(failures)} failed checks: {named}", at=first.at or "")
        self.report = report
