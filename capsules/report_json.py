"""Validation reports as JSON: written canonically, read back only if complete.

``registry_id`` pins the meaning of the codes: the ContentId of the canonical registry. A row's keys
without a value are left out.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from capsules.canonical import canonical_bytes, parse_strict
from capsules.codes import CODES
from capsules.content_id import content_id
from capsules.errors import SchemaError
from capsules.report import Check, ValidationReport

SCHEMA_ID = "validation-report/1"

_ROW = ("check", "result", "code", "record", "at", "expected", "actual", "blocked_by")
_HEAD = ("subject", "now", "policy_id", "valid", "authorized", "stage_reached")
_MAX_ITEMS = 10_000_000  # a report on many broken spans is long, and no capsule


@cache
def registry_id() -> str:
    """ContentId of the canonical code registry."""
    return content_id(canonical_bytes(dict(CODES)))


def report_value(report: ValidationReport) -> dict[str, Any]:
    """The report as JSON."""
    rows = [
        {name: value for name in _ROW if (value := getattr(row, name)) is not None} for row in report.checks
    ]
    head = {name: getattr(report, name) for name in _HEAD}
    return {"schema_id": SCHEMA_ID, "registry_id": registry_id(), "checks": rows, **head}


def report_bytes(report: ValidationReport) -> bytes:
    """The canonical bytes of a report."""
    return canonical_bytes(report_value(report))


def read_report(data: bytes) -> ValidationReport:
    """A report from its bytes.

    Raises:
        ParseError: What the strict reader refuses.
        SchemaError: ``report.incomplete``: a check without a row, a row with a code of the wrong
            kind, a verdict that does not follow from the rows, other fields, or another registry.
    """
    value: Any = parse_strict(data, max_bytes=1 << 30, max_items=_MAX_ITEMS)
    try:
        rest = dict(value)
        found = (rest.pop("schema_id"), rest.pop("registry_id"))
        if found != (SCHEMA_ID, registry_id()):
            raise SchemaError("report.incomplete", f"expected {(SCHEMA_ID, registry_id())}, found {found}")
        rows = rest.pop("checks")
        if not all(type(text) is str for row in rows for text in row.values()):
            raise SchemaError("report.incomplete", "expected rows of strings, found another type")
        return ValidationReport(checks=tuple(Check(**row) for row in rows), **rest)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SchemaError("report.incomplete", f"expected the fields of {SCHEMA_ID}, found {error}") from None
