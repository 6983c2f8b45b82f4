"""The registry of codes: form, order, kinds, and that no code is used without being in it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import capsules
from capsules.codes import CODE_PATTERN, CODES, kind_of

PACKAGE = Path(capsules.__file__).parent

# Released meanings: a code may be added, never removed, renamed or given another kind.
SEVEN_WAYS = (
    "source.digest.changed",
    "scope.project.mismatch",
    "authority.expired",
    "evidence.required.omitted",
    "budget.protected.truncated",
    "schema.major.unsupported",
    "runtime.unsupported",
    "provider.unauthorized",
)
OTHER_FAILURES = [
    "bytes.digest.mismatch",
    "bytes.digest.missing",
    "bytes.size.exceeded",
    "json.syntax",
    "json.bom",
    "json.utf8.invalid",
    "json.key.duplicate",
    "json.constant",
    "json.number.float",
    "json.number.negative_zero",
    "json.number.range",
    "json.string.surrogate",
    "json.string.noncharacter",
    "json.depth.exceeded",
    "json.noncanonical",
    "schema.field.missing",
    "schema.field.unknown",
    "schema.field.type",
    "schema.order",
    "schema.limit",
    "schema.word",
    "schema.duplicate",
    "schema.reference",
    "object.type.mismatch",
    "id.malformed",
    "time.malformed",
    "source.missing",
    "source.utf8.invalid",
    "evidence.ref.missing",
    "span.range",
    "span.exact.mismatch",
    "span.context.mismatch",
    "omission.unaccounted",
    "authority.not_yet_valid",
    "authority.revoked",
    "authority.scope_exceeded",
    "freshness.expired",
    "label.undetermined",
    "label.flow.denied",
    "tokenizer.mismatch",
    "render.control_token",
    "quote.empty",
    "quote.too_short",
    "quote.inside_character",
    "store.symlink",
    "store.not_regular",
    "ref.conflict",
    "ref.rollback",
]
NOTES = [
    "norm.unicode.unassigned",
    "quote.ambiguous",
    "quote.partial_token",
    "quote.dehyphenated",
    "render.lossy",
]


def test_codes_have_the_form_and_stand_in_order() -> None:
    assert all(re.fullmatch(CODE_PATTERN, code) for code in CODES)
    assert list(CODES) == sorted(CODES)
    assert set(CODES.values()) <= {"success", "failure", "info"}


@pytest.mark.parametrize("code", [*SEVEN_WAYS, *OTHER_FAILURES])
def test_a_failure_is_a_failure(code: str) -> None:
    assert kind_of(code) == "failure"


@pytest.mark.parametrize("code", NOTES)
def test_a_note_is_no_failure(code: str) -> None:
    assert kind_of(code) == "info"


def test_an_unregistered_code_has_no_kind() -> None:
    with pytest.raises(KeyError, match=r"'no\.such\.code' is not registered"):
        kind_of("no.such.code")


def test_the_registry_cannot_be_changed_at_run_time() -> None:
    with pytest.raises(TypeError):
        CODES["a.b"] = "info"  # type: ignore[index]


def used_codes(path: Path) -> set[str]:
    """First arguments of ``...Error(...)`` and ``Problem(...)`` calls that look like codes."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            value = node.args[0].value
            if (name.endswith("Error") or name == "Problem") and isinstance(value, str):
                found.add(value)
    return {value for value in found if re.fullmatch(CODE_PATTERN, value)}


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.name)
def test_every_code_that_is_raised_is_registered(path: Path) -> None:
    assert used_codes(path) <= CODES.keys()


def test_the_scan_for_used_codes_finds_them() -> None:
    assert {"span.range", "span.exact.mismatch"} <= used_codes(PACKAGE / "span.py")
