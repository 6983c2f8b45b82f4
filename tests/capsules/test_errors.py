"""Errors carry code, pointer and a message that names all three."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from capsules import errors
from capsules.errors import CapsuleError, InvalidCapsuleError, ParseError, SchemaError


@dataclass(frozen=True)
class Check:
    result: str
    code: str | None = None
    at: str | None = None


@dataclass(frozen=True)
class Report:
    checks: tuple[Check, ...]


def test_code_and_pointer_are_attributes_and_in_the_message() -> None:
    error = SchemaError("schema.limit", "expected at most 3, found 4", at="/items/0")
    assert (error.code, error.at) == ("schema.limit", "/items/0")
    assert str(error) == "schema.limit at /items/0: expected at most 3, found 4"


def test_without_a_pointer_the_whole_document_is_meant() -> None:
    error = SchemaError("schema.limit", "expected less")
    assert (error.at, str(error)) == ("", "schema.limit: expected less")


def test_a_parse_error_names_the_byte() -> None:
    error = ParseError("json.syntax", "expected JSON", position=17)
    assert (error.position, str(error)) == (17, "json.syntax: expected JSON (byte 17)")
    assert ParseError("json.syntax", "expected JSON").position is None


def test_all_errors_share_the_base_and_end_in_error() -> None:
    defined = (item for item in vars(errors).values() if isinstance(item, type))
    classes = [item for item in defined if issubclass(item, Exception)]
    assert len(classes) == 7
    assert all(issubclass(item, CapsuleError) and item.__name__.endswith("Error") for item in classes)


def test_an_invalid_capsule_error_names_all_failures_and_keeps_the_report() -> None:
    report = Report(
        (
            Check("pass", "bytes.digest.match"),
            Check("fail", "span.range", "/exact_spans/0/end"),
            Check("not_evaluated"),
            Check("fail", "source.missing"),
        )
    )
    error = InvalidCapsuleError(report)
    assert error.report is report
    assert (error.code, error.at) == ("span.range", "/exact_spans/0/end")
    assert "2 failed checks: span.range /exact_spans/0/end, source.missing" in str(error)


def test_an_invalid_capsule_error_needs_a_failure() -> None:
    with pytest.raises(ValueError, match="at least one failed check"):
        InvalidCapsuleError(Report((Check("pass", "bytes.digest.match"),)))
