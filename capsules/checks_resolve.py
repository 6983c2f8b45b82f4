"""Stage ``resolve``, first part: evidence capsules, sources, spans. The only part that reads the store.

* Refs are followed by id alone, never "the latest of that name"; what they lead to is verified, parsed
  and read as an evidence capsule, with every problem reported under its own id.
* A source must have the digest and the size that the capsule records. A stored object whose bytes
  have another id is a source that was changed.
* A span must agree with its source in text, context and occurrence; it is never moved.
* A store that cannot be read at all (I/O error, no store, a link in its place) is no finding about
  the capsule: the error leaves the validation.
"""

from __future__ import annotations

from collections.abc import Iterator

from capsules.canonical import parse_strict, require_canonical
from capsules.checks_bytes import parse_problem
from capsules.checks_case import Case, Evidence
from capsules.checks_schema import accept_record, read_record
from capsules.errors import ParseError, StoreError
from capsules.evidence import EvidenceCapsule
from capsules.report import INPUT
from capsules.rules import LEVELS, Problem
from capsules.source import MAX_SOURCE_BYTES, text_of
from capsules.span import check_span
from capsules.store import DigestMismatchError, Store, UnusableStoreError
from capsules.strict_json import MAX_BYTES

# Codes that say that the store could not be asked, not what it answered.
UNREADABLE = frozenset({"store.io", "store.not_found", "store.format.unknown", "store.poisoned"})

_SPAN_CHECKS = ("span.text", "span.context")


def resolve_evidence(case: Case) -> None:
    """Follow the refs of a prompt capsule."""
    if case.prompt is None:
        return
    store = case.given.store
    if store is None:
        case.whole = False
        case.ledger.skip(("evidence.refs", "evidence.order"), INPUT)
        return
    refs = case.prompt.evidence_capsule_refs
    for place, ref in enumerate(refs):
        at = f"/evidence_capsule_refs/{place}/id"
        found = _fetch(store, ref.id, MAX_BYTES)
        if not isinstance(found, bytes) and found.code == "object.missing":
            case.ledger.judge(
                "evidence.refs", case.subject, [Problem("evidence.ref.missing", at, ref.id, "none")]
            )
            case.whole = False
            continue
        problems, capsule = _read_evidence(case, ref.id, found)
        case.ledger.judge("evidence.refs", ref.id, problems)
        if capsule is None:
            case.whole = False
        else:
            case.evidence.append(Evidence(id=ref.id, capsule=capsule, place=place))
    if not refs:
        case.ledger.judge("evidence.refs", case.subject, [])
    case.ledger.judge("evidence.order", case.subject, _order_problems(case))


def _fetch(store: Store, object_id: str, cap: int) -> bytes | Problem:
    """The bytes of an object, or what is wrong with it (never what is wrong with the store)."""
    try:
        return store.get(object_id, max_bytes=cap).data
    except DigestMismatchError as error:
        return Problem(error.code, "", object_id, error.actual)
    except UnusableStoreError:
        raise
    except StoreError as error:
        if error.code in UNREADABLE:
            raise
        return Problem(error.code, "", object_id, "a refusal by the store")


def _read_evidence(
    case: Case, name: str, found: bytes | Problem
) -> tuple[list[Problem], EvidenceCapsule | None]:
    if not isinstance(found, bytes):
        return [found], None
    sealed = case.sealed_as(name, found)
    if sealed is not None:
        record, wrong = accept_record(sealed, EvidenceCapsule)
    else:
        try:
            value = parse_strict(found)
            require_canonical(found, value)
        except ParseError as error:
            return [parse_problem(error)], None
        record, wrong = read_record(value, EvidenceCapsule)
    problems = [problem for problems in wrong.values() for problem in problems]
    return problems, record if isinstance(record, EvidenceCapsule) else None


def _order_problems(case: Case) -> Iterator[Problem]:
    """One capsule a level, lower levels first."""
    before = -1
    for evidence in case.evidence:
        level = LEVELS.index(evidence.capsule.visibility.level)
        if level <= before:
            at = f"/evidence_capsule_refs/{evidence.place}"
            yield Problem("schema.order", at, f"a level above {LEVELS[before]}", LEVELS[level])
        before = level


def resolve_sources(case: Case) -> None:
    """Fetch every source once, and hold the evidence against it."""
    store = case.given.store
    if store is None:
        case.ledger.skip(("source.bytes", *_SPAN_CHECKS), INPUT)
        return
    known: dict[str, tuple[int, Problem | None]] = {}
    for evidence in case.evidence:
        problems = []
        for index, ref in enumerate(evidence.capsule.source_refs):
            if ref.source not in known:
                known[ref.source] = _source(case, store, ref.source)
            size, problem = known[ref.source]
            at = f"/source_refs/{index}"
            if problem is not None:
                problems.append(problem._replace(at=f"{at}/source"))
            elif size != ref.bytes:
                problems.append(Problem("source.size.mismatch", f"{at}/bytes", f"{ref.bytes}", f"{size}"))
        case.ledger.judge("source.bytes", evidence.id, problems)
        _check_spans(case, evidence)
    if not case.evidence:
        _none_to_check(case)


def _source(case: Case, store: Store, source: str) -> tuple[int, Problem | None]:
    """The size of a source and what is wrong with it; its text goes to the case."""
    found = _fetch(store, source, MAX_SOURCE_BYTES)
    if not isinstance(found, bytes):
        codes = {"object.missing": "source.missing", "bytes.digest.mismatch": "source.digest.changed"}
        return 0, found._replace(code=codes.get(found.code, found.code))
    try:
        case.texts[source] = text_of(found)  # the store has hashed these bytes
    except ParseError as error:
        return len(found), Problem(error.code, "", "UTF-8", f"a refusal at byte {error.position}")
    return len(found), None


def _check_spans(case: Case, evidence: Evidence) -> None:
    found: dict[str, list[Problem]] = {check: [] for check in _SPAN_CHECKS}
    unread = False
    for index, span in enumerate(evidence.capsule.exact_spans):
        text = case.texts.get(span.source)
        if text is None:
            unread = True
            continue
        for problem in check_span(span, text):
            check = "span.context" if problem.code == "span.context.mismatch" else "span.text"
            found[check].append(problem._replace(at=f"/exact_spans/{index}{problem.at}"))
    for check, problems in found.items():
        if problems or not unread:
            case.ledger.judge(check, evidence.id, problems)
        if unread:
            case.ledger.skip((check,), "resolve", evidence.id)


def _none_to_check(case: Case) -> None:
    """Rows for a prompt whose refs led to no evidence: nothing to check, or nothing that could be."""
    for check in ("source.bytes", *_SPAN_CHECKS):
        if case.whole:
            case.ledger.judge(check, case.subject, [])
        else:
            case.ledger.skip((check,), "resolve")
