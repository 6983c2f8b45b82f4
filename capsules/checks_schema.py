"""Stage ``schema``: type and major, every field, and the runtime that the capsule asks for."""

from __future__ import annotations

from capsules.checks_case import PROMPT_ONLY, Capsule, Case, Evidence
from capsules.codec import RECORD_TYPES, check_value, from_value
from capsules.described import described_schema_id
from capsules.errors import SchemaError
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule
from capsules.report import INPUT
from capsules.rules import Problem, type_name
from capsules.runtime import RUNTIME, supports
from capsules.shape import Record

_AT = "/schema_id"
_KNOWN = ", ".join(sorted(RECORD_TYPES))


def check_schema(case: Case) -> None:
    """Find the record's type, then read it whole; every problem is reported."""
    if case.record is None:
        record, found = read_record(case.value, case.wanted)
    else:
        record, found = accept_record(case.record, case.wanted)
    for check, problems in found.items():
        case.ledger.judge(check, case.subject, problems)
    if isinstance(record, PromptCapsule):
        case.prompt = record
        case.ledger.judge("runtime.version", case.subject, runtime_problems(record, RUNTIME))
    if isinstance(record, EvidenceCapsule):
        case.evidence.append(Evidence(id=str(case.subject), capsule=record))
        case.ledger.skip(PROMPT_ONLY, INPUT)


def accept_record(
    record: Capsule, wanted: type[Record] | None
) -> tuple[Record | None, dict[str, list[Problem]]]:
    """What ``read_record`` says of the JSON value of a record that exists, and so is valid."""
    wrong_type = _type_problems(record.schema_id, type(record), wanted)
    found: dict[str, list[Problem]] = {"schema.version": [], "object.type": wrong_type}
    if wrong_type:
        return None, found
    return record, found | {"schema.shape": []}


def read_record(value: object, wanted: type[Record] | None) -> tuple[Record | None, dict[str, list[Problem]]]:
    """The record of a JSON value, and what is wrong with it by check.

    A check after one that failed is not there: the shape of another type or major is unknown.
    """
    if not isinstance(value, dict):
        return None, {"schema.shape": [Problem("schema.field.type", "", "an object", type_name(value))]}
    schema_id = value.get("schema_id")
    found = {"schema.version": _version_problems(schema_id, "schema_id" in value)}
    if found["schema.version"]:
        return None, found
    cls = RECORD_TYPES.get(str(schema_id))
    found["object.type"] = _type_problems(schema_id, cls, wanted)
    if cls is None or found["object.type"]:
        return None, found
    try:
        record = from_value(cls, value)
    except SchemaError:
        found["schema.shape"] = check_value(cls, value)
        return None, found
    found["schema.shape"] = []
    return record, found


def _type_problems(schema_id: object, cls: type[Record] | None, wanted: type[Record] | None) -> list[Problem]:
    if cls is not None and wanted in (None, cls):
        return []
    expected = next((name for name, known in RECORD_TYPES.items() if known is wanted), _KNOWN)
    return [Problem("object.type.mismatch", _AT, expected, described_schema_id(schema_id))]


def _version_problems(schema_id: object, present: bool) -> list[Problem]:
    if not present:
        return [Problem("schema.field.missing", _AT, f"one of {_KNOWN}", "none")]
    if not isinstance(schema_id, str):
        return [Problem("schema.field.type", _AT, "a string", type_name(schema_id))]
    name = schema_id.partition("/")[0]
    majors = [known for known in RECORD_TYPES if known.partition("/")[0] == name]
    if majors and schema_id not in majors:
        return [Problem("schema.major.unsupported", _AT, majors[0], described_schema_id(schema_id))]
    return []


def runtime_problems(prompt: PromptCapsule, runtime: str) -> list[Problem]:
    """Runtime constraints that a runtime does not satisfy."""
    return [
        Problem("runtime.unsupported", f"/constraints/{index}/text", "a constraint that holds", runtime)
        for index, constraint in enumerate(prompt.constraints)
        if constraint.kind == "runtime" and not supports(constraint.text, runtime)
    ]
