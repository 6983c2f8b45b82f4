"""Stages ``bytes`` and ``parse``: which form the bytes have, whose id they carry, strict JSON.

* The stored form is verified as bytes, against the id that the caller expects, before it is parsed.
* The wire form carries its ``digest`` inside, so it must be parsed to be verified; a digest that
  does not match still is a failure of the stage ``bytes``, the earliest that failed.
* Bytes that the caller sealed from a record are the canonical form of that record: they are hashed like
  all others and compared, and not parsed again.
* With neither an expected id nor a digest there is nothing to verify: ``bytes.digest.missing``.
"""

from __future__ import annotations

from typing import Any

from capsules.canonical import canonical_bytes, parse_strict, require_canonical
from capsules.checks_case import Case
from capsules.content_id import CONTENT_ID_EXPECTED, content_id, is_content_id
from capsules.errors import ParseError
from capsules.rules import Problem
from capsules.strict_json import MAX_BYTES

_DIGEST = ("bytes.digest",)


def parse_problem(error: ParseError) -> Problem:
    """The row of a refusal by the strict reader."""
    actual = "a refusal" if error.position is None else f"a refusal at byte {error.position}"
    return Problem(error.code, error.at, "strict canonical JSON", actual)


def check_bytes(case: Case) -> None:
    """Stage ``bytes``; parses the wire form on the way and leaves its error for ``check_parse``."""
    size = len(case.data)
    too_large = [Problem("bytes.size.exceeded", "", f"at most {MAX_BYTES} bytes", f"{size} bytes")]
    if not case.ledger.judge("bytes.size", None, too_large * (size > MAX_BYTES)):
        return
    expect = case.expect
    found = None if expect is None else content_id(case.data)
    if expect is not None and found == expect:
        case.subject = expect
        case.ledger.judge("bytes.digest", expect, [])
        return
    try:
        value = parse_strict(case.data)
    except ParseError:
        if found is None:
            return  # the stage ``parse`` fails with the reader's own code
        value = None
    if isinstance(value, dict) and "digest" in value:
        case.value = {key: item for key, item in value.items() if key != "digest"}
        problems = list(_digest_problems(case, value["digest"]))
    elif found is None:
        problems = [
            Problem("bytes.digest.missing", "/digest", CONTENT_ID_EXPECTED, "none, and no id expected")
        ]
    else:
        case.subject = expect
        problems = [Problem("bytes.digest.mismatch", "", str(expect), found)]
    case.ledger.judge("bytes.digest", case.subject, problems)


def _digest_problems(case: Case, digest: Any) -> list[Problem]:
    if not is_content_id(digest):
        return [Problem("id.malformed", "/digest", CONTENT_ID_EXPECTED, "another value")]
    case.subject = digest
    actual = content_id(canonical_bytes(case.value))
    if actual != digest:
        return [Problem("bytes.digest.mismatch", "/digest", digest, actual)]
    expect = case.expect
    if expect not in (None, digest):
        return [Problem("bytes.digest.mismatch", "/digest", str(expect), digest)]
    return []


def check_parse(case: Case) -> None:
    """Stage ``parse``: strict JSON, in its canonical form."""
    case.record = case.sealed_as(case.subject, case.data)
    if case.record is not None:
        case.ledger.judge("json.strict", case.subject, [])
        case.ledger.judge("json.canonical", case.subject, [])
        return
    try:
        value = parse_strict(case.data)
    except ParseError as error:
        case.ledger.skip(_DIGEST, "parse")  # the digest inside the bytes could not be read
        case.ledger.judge("json.strict", case.subject, [parse_problem(error)])
        return
    if case.value is None:
        case.value = value
    case.ledger.judge("json.strict", case.subject, [])
    problems = []
    try:
        require_canonical(case.data, value)
    except ParseError as error:
        problems = [parse_problem(error)]
    case.ledger.judge("json.canonical", case.subject, problems)
