"""Stage ``schema``: type and major, every field, and the runtime that the capsule asks for."""

from __future__ import annotations

from capsules.checks_case import PROMPT_ONLY, Case, Evidence
from capsules.codec import RECORD_TYPES, check_value, from_value
from capsules.errors import SchemaError
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule
from capsules.report import INPUT
from capsules.rules import Problem, type_name
from capsules.runtime import RUNTIME, supports
from capsules.shape import Record

_AT = "/schema_id"


def check_schema(case: Case) -> None:
    """Find the record's type, then read it whole; every problem is reported."""
    known = ", ".join(sorted(RECORD_TYPES))
    value = case.value
    if not isinstance(value, dict):
        shape = Problem("schema.field.type", "", "an object", type_name(value))
        case.ledger.judge("schema.shape", case.subject, [shape])
        return
    found = value.get("schema_id")
    version = list(_version_problems(found, "schema_id" in value, known))
    if not case.ledger.judge("schema.version", case.subject, version):
        return
    cls = RECORD_TYPES.get(str(found))
    if cls is None or case.wanted not in (None, cls):
        wanted = next((name for name, kind in RECORD_TYPES.items() if kind is case.wanted), known)
        problem = Problem("object.type.mismatch", _AT, wanted, ascii(found)[:80])
        case.ledger.judge("object.type", case.subject, [problem])
        return
    case.ledger.judge("object.type", case.subject, [])
    _read(case, cls)


def _version_problems(found: object, present: bool, known: str) -> list[Problem]:
    if not present:
        return [Problem("schema.field.missing", _AT, f"one of {known}", "none")]
    if not isinstance(found, str):
        return [Problem("schema.field.type", _AT, "a string", type_name(found))]
    name = found.partition("/")[0]
    majors = [schema_id for schema_id in RECORD_TYPES if schema_id.partition("/")[0] == name]
    if majors and found not in majors:
        return [Problem("schema.major.unsupported", _AT, majors[0], ascii(found)[:80])]
    return []


def _read(case: Case, cls: type[Record]) -> None:
    try:
        record = from_value(cls, case.value)
    except SchemaError:
        case.ledger.judge("schema.shape", case.subject, check_value(cls, case.value))
        return
    case.ledger.judge("schema.shape", case.subject, [])
    if isinstance(record, PromptCapsule):
        case.prompt = record
        case.ledger.judge("runtime.version", case.subject, runtime_problems(record, RUNTIME))
    if isinstance(record, EvidenceCapsule):
        case.evidence.append(Evidence(id=str(case.subject), capsule=record))
        case.ledger.skip(PROMPT_ONLY, INPUT)


def runtime_problems(prompt: PromptCapsule, runtime: str) -> list[Problem]:
    """Runtime constraints that a runtime does not satisfy."""
    return [
        Problem("runtime.unsupported", f"/constraints/{index}/text", "a constraint that holds", runtime)
        for index, constraint in enumerate(prompt.constraints)
        if constraint.kind == "runtime" and not supports(constraint.text, runtime)
    ]
