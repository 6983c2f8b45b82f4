"""Re-sealed tampering: every field x every kind of mutation yields its code.

The mutations are generated from the annotations, so a new field is covered when it is written. The
digest is recomputed each time: only the shape stands between the tamperer and a reader.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from capsules import codec
from capsules.arrays import Sorted
from capsules.codes import kind_of
from capsules.content_id import content_id
from capsules.errors import CapsuleError
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule
from capsules.rules import (
    BoolRule,
    IntRule,
    PatternRule,
    SchemaIdRule,
    TextRule,
    TimeRule,
    WordRule,
)
from capsules.shape import Array, Nested, Node, Nullable, Record, Scalar, shape_of

Capsule = EvidenceCapsule | PromptCapsule
Path = tuple[str | int, ...]

SAMPLES: tuple[Any, ...] = (None, True, 7, "x", [], {})
MAX = 2**53 - 1

# What the laws say about a repeated item where no array rule does.
REPEATED_BY_LAW = {"dropped": ("schema.order", "/1"), "rewrites": ("schema.duplicate", "/1/items/0")}


class Mutation(NamedTuple):
    kind: str
    value: Any
    code: str
    at: str


def pointer(path: Path) -> str:
    return "".join(f"/{part}" for part in path)


def at_path(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def changed(value: Any, path: Path, new: Any) -> Any:
    result = copy.deepcopy(value)
    at_path(result, path[:-1])[path[-1]] = new
    return result


def places(cls: type[Record], value: Any, path: Path = ()) -> Iterator[tuple[Path, type[Record], str, Node]]:
    """Every field of a record and of the records inside it, one item of each array."""
    for name, node in shape_of(cls).nodes.items():
        here = (*path, name)
        yield here, cls, name, node
        inner, item = node, at_path(value, here)
        if isinstance(inner, Nullable):
            inner = inner.inner
        if isinstance(inner, Array):
            inner, item, here = inner.item, item[0], (*here, 0)
            if isinstance(inner, Scalar):
                yield here, cls, name, inner
        if isinstance(inner, Nested):
            yield from places(inner.cls, value, here)


def types_of(node: Node) -> tuple[type, ...]:
    if isinstance(node, Nullable):
        return (type(None), *types_of(node.inner))
    if isinstance(node, Scalar):
        return (bool if isinstance(node.rule, BoolRule) else int if isinstance(node.rule, IntRule) else str,)
    return (list,) if isinstance(node, Array) else (dict,)


def out_of_form(rule: Any, value: Any) -> Iterator[tuple[Any, str]]:
    match rule:
        case IntRule():
            yield rule.lowest - 1, "schema.limit"
            yield rule.highest + 1, "json.number.range" if rule.highest == MAX else "schema.limit"
            yield -MAX - 1, "json.number.range"
        case TextRule():
            if rule.shortest:
                yield "", "schema.limit"
            if rule.longest is not None:
                yield "x" * (rule.longest + 1), "schema.limit"
        case TimeRule():
            yield "2023-02-29T00:00:00Z", "time.malformed"
            yield value[:-1] + "+00:00", "time.malformed"
            yield value + "\n", "time.malformed"
        case PatternRule():
            yield "", rule.code
            yield value + "\n", rule.code
            yield value.upper() + "\u00c5", rule.code
        case WordRule():
            yield "no_such_word", "schema.word"
            yield value + "\n", "schema.word"
            yield value.upper(), "schema.word"
        case SchemaIdRule():
            yield value[:-1] + "2", "schema.major.unsupported"
            yield value + "\n", "schema.major.unsupported"
            yield "another-capsule/1", "object.type.mismatch"


def array_mutations(name: str, node: Array, value: list[Any]) -> Iterator[Mutation]:
    yield Mutation("too many", [0] * 10_001, "schema.limit", "")
    if node.length is not None:
        yield Mutation("too short", value[:-1], "schema.limit", "")
        yield Mutation("too long", [*value, value[0]], "schema.limit", "")
        return
    repeated = [value[0], *value]
    if isinstance(node.rule, Sorted):
        yield Mutation("repeated", repeated, "schema.order", "/1")
        if len(value) > 1:
            yield Mutation("unsorted", value[::-1], "schema.order", "/1")
    elif node.rule is not None:
        yield Mutation("repeated", repeated, "schema.duplicate", "/1")
    else:
        code, at = REPEATED_BY_LAW[name]
        yield Mutation("repeated", repeated, code, at)


def field_mutations(name: str, node: Node, value: Any) -> Iterator[Mutation]:
    for sample in SAMPLES:
        if type(sample) not in types_of(node):
            yield Mutation(f"type {sample!r}", sample, "schema.field.type", "")
    inner = node.inner if isinstance(node, Nullable) else node
    if isinstance(inner, Scalar):
        for new, code in out_of_form(inner.rule, value if value is not None else "x"):
            yield Mutation(f"form {new!r:.30}", new, code, "")
    elif isinstance(inner, Array):
        yield from array_mutations(name, inner, value)


def tampered(record: Capsule) -> Iterator[tuple[str, Any, str, str]]:
    """(what was done, value, code, pointer) of every mutation of one capsule."""
    value = codec.to_value(record)
    records: set[Path] = {()}
    for path, _cls, name, node in places(type(record), value):
        old = at_path(value, path)
        if isinstance(old, dict):
            records.add(path)
        if isinstance(old, list) and old and isinstance(old[0], dict):
            records.add((*path, 0))
        for kind, new, code, below in field_mutations(name, node, old):
            yield f"{pointer(path)} {kind}", changed(value, path, new), code, pointer(path) + below
        if path[-1] == name:
            missing = copy.deepcopy(value)
            del at_path(missing, path[:-1])[name]
            yield f"{pointer(path)} missing", missing, "schema.field.missing", pointer(path)
    for path in records:
        for key, at in (
            ("zz_extra", pointer((*path, "zz_extra"))),
            ("Zz", pointer(path)),
            ("", pointer(path)),
        ):
            added = copy.deepcopy(value)
            at_path(added, path)[key] = 1
            yield f"{pointer(path)} unknown {key!r}", added, "schema.field.unknown", at


def resealed_outcome(value: dict[str, Any], cls: type[Record]) -> tuple[str, str]:
    """Code and pointer of reading the value with a digest that fits it."""
    data = spelt(value)
    wire = spelt(value | {"digest": content_id(data)})
    try:
        codec.read_wire(wire, cls)
    except CapsuleError as error:
        return error.code, error.at
    return "accepted", ""


def spelt(value: Any) -> bytes:
    """Canonical JSON without the refusals of ours or of rfc8785: integers of any size."""
    text = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode(value)
    return text.encode()


def test_every_field_and_every_mutation(record: Capsule) -> None:
    wrong = []
    total = 0
    for done, value, code, at in tampered(record):
        total += 1
        found = resealed_outcome(value, type(record))
        if found != (code, at):
            wrong.append((done, found, (code, at)))
    assert wrong == []
    assert total > 400


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value


def other(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return "other" if value is None else value[:-1] + ("0" if value[-1:] != "0" else "1")


def test_any_changed_value_is_refused_or_another_identity(record: Capsule) -> None:
    """Also a change that keeps the shape: a parent that refers to the old id does not get this one."""
    value, digest = codec.to_value(record), codec.digest_of(record)
    accepted = 0
    for path, old in leaves(value):
        new = changed(value, path, other(old))
        problems = codec.check_value(type(record), new)
        if problems:
            assert kind_of(problems[0].code) == "failure"
        else:
            accepted += 1
            assert codec.digest_of(codec.from_value(type(record), new)) != digest
    assert accepted > 20


def test_a_tampered_capsule_is_not_what_its_parent_refers_to(example: Any) -> None:
    value = codec.to_value(example.evidence)
    value["claim_candidates"][0]["text"] = "At most 250 mg a day."
    tampered_record = codec.read_wire(
        spelt(value | {"digest": content_id(spelt(value))}), EvidenceCapsule
    )  # well formed, and still nobody's evidence
    assert codec.digest_of(tampered_record) not in {ref.id for ref in example.prompt.evidence_capsule_refs}


def test_messages_hold_no_free_text(record: Capsule) -> None:
    """A canary in every free-text field, with every kind of fault, stays out of all messages."""
    value = codec.to_value(record)
    for path, _cls, _name, node in places(type(record), value):
        inner = node.inner if isinstance(node, Nullable) else node
        if isinstance(inner, Scalar) and isinstance(inner.rule, TextRule):
            for new in ("canary \ud800", "canary \uffff", "canary " * 40):
                for problem in codec.check_value(type(record), changed(value, path, new)):
                    assert "canary" not in " ".join(problem)
