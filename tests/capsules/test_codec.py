"""Record, value and bytes: round trips, identity, refusals, flipped bits and cut tails."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
import rfc8785
from blake3 import blake3

from capsules import codec
from capsules.canonical import canonical_bytes, parse_strict
from capsules.codes import kind_of
from capsules.content_id import content_id
from capsules.errors import CapsuleError, ParseError, SchemaError
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule
from capsules.shape import Record

Capsule = EvidenceCapsule | PromptCapsule


def sealed_wire(value: dict[str, Any]) -> bytes:
    """A wire form with the right digest for any value: what a tamperer with the code can make."""
    rest = {key: item for key, item in value.items() if key != "digest"}
    return rfc8785.dumps(rest | {"digest": content_id(rfc8785.dumps(rest))})


def test_all_forms_round_trip(record: Capsule) -> None:
    cls = type(record)
    assert codec.from_value(cls, codec.to_value(record)) == record
    assert codec.read_stored(codec.preimage(record), cls) == record
    assert codec.read_wire(codec.wire(record), cls) == record


def test_both_forms_are_canonical(record: Capsule) -> None:
    value = codec.to_value(record)
    assert codec.preimage(record) == canonical_bytes(value) == rfc8785.dumps(value)
    assert codec.wire(record) == sealed_wire(value)


def test_the_id_is_that_of_the_file(record: Capsule) -> None:
    sealed = codec.seal(record)
    assert sealed.digest == codec.digest_of(record) == "b3:" + blake3(sealed.data).hexdigest()
    assert sealed.record is record
    assert sealed.data == codec.preimage(record)


def test_the_value_has_every_field_and_no_digest(record: Capsule) -> None:
    value = codec.to_value(record)
    assert set(value) == set(type(record).__dataclass_fields__)
    assert value["schema_id"] in codec.RECORD_TYPES
    assert codec.RECORD_TYPES[value["schema_id"]] is type(record)


def test_a_name_is_not_an_identity(record: Capsule) -> None:
    assert codec.digest_of(replace(record, capsule_id="a:b:c:d")) != codec.digest_of(record)


def test_a_permuted_order_bearing_array_is_another_capsule(example: Any) -> None:
    prompt = example.prompt
    permuted = replace(prompt, constraints=prompt.constraints[::-1])
    assert codec.digest_of(permuted) != codec.digest_of(prompt)


REFUSED_WIRE = {
    "no digest": (lambda value: value.pop("digest"), "bytes.digest.missing", "/digest"),
    "digest null": (lambda value: value.update(digest=None), "id.malformed", "/digest"),
    "digest of something else": (
        lambda value: value.update(digest=content_id(b"")),
        "bytes.digest.mismatch",
        "/digest",
    ),
    "digest with a newline": (
        lambda value: value.update(digest=value["digest"] + "\n"),
        "id.malformed",
        "/digest",
    ),
    "digest in upper case": (
        lambda value: value.update(digest="b3:" + value["digest"][3:].upper()),
        "id.malformed",
        "/digest",
    ),
    "a field changed": (lambda value: value.update(capsule_id="a:b:c:d"), "bytes.digest.mismatch", "/digest"),
    "a field added": (lambda value: value.update(zz=1), "bytes.digest.mismatch", "/digest"),
}


@pytest.mark.parametrize(("edit", "code", "at"), REFUSED_WIRE.values(), ids=REFUSED_WIRE.keys())
def test_the_digest_of_the_wire_form_is_verified(record: Capsule, edit: Any, code: str, at: str) -> None:
    value: Any = parse_strict(codec.wire(record))
    edit(value)
    with pytest.raises(CapsuleError) as caught:
        codec.read_wire(canonical_bytes(value), type(record))
    assert (caught.value.code, caught.value.at) == (code, at)


@pytest.mark.parametrize("data", [b"null", b"[]", b'"b3:"', b"7"])
def test_a_capsule_is_an_object(data: bytes) -> None:
    for read in (codec.read_wire, codec.read_stored):
        with pytest.raises(SchemaError) as caught:
            read(data, EvidenceCapsule)
        assert (caught.value.code, caught.value.at) == ("schema.field.type", "")


def test_the_stored_form_has_no_digest(record: Capsule) -> None:
    with pytest.raises(SchemaError) as caught:
        codec.read_stored(codec.wire(record), type(record))
    assert (caught.value.code, caught.value.at) == ("schema.field.unknown", "/digest")


@pytest.mark.parametrize("indent", [None, 1])
def test_another_spelling_is_refused_in_both_forms(record: Capsule, indent: int | None) -> None:
    for data, read in (
        (codec.wire(record), codec.read_wire),
        (codec.preimage(record), codec.read_stored),
    ):
        spelt = json.JSONEncoder(indent=indent).encode(json.loads(data)).encode()
        with pytest.raises(ParseError) as caught:
            read(spelt, type(record))
        assert caught.value.code == "json.noncanonical"


def test_one_type_is_not_read_as_the_other(example: Any) -> None:
    for record, other in ((example.evidence, PromptCapsule), (example.prompt, EvidenceCapsule)):
        with pytest.raises(SchemaError) as caught:
            codec.read_wire(codec.wire(record), other)
        assert (caught.value.code, caught.value.at) == ("object.type.mismatch", "/schema_id")


@pytest.mark.parametrize("major", ["0", "2", "01", "1.0", "", "1\n"])
def test_another_major_is_refused_and_nothing_else_reported(record: Capsule, major: str) -> None:
    value = codec.to_value(record)
    value["schema_id"] = value["schema_id"].partition("/")[0] + "/" + major
    value["new_in_that_major"] = 1
    (problem,) = codec.check_value(type(record), value)
    assert (problem.code, problem.at) == ("schema.major.unsupported", "/schema_id")
    with pytest.raises(SchemaError) as caught:
        codec.read_wire(sealed_wire(value), type(record))
    assert caught.value.code == "schema.major.unsupported"


def test_check_value_reports_every_failure(example: Any) -> None:
    value = codec.to_value(example.evidence)
    del value["confidence"]
    value["zz"] = 1
    value["visibility"]["level"] = "secret"
    value["exact_spans"][0]["end"] = -1
    value["exact_spans"][1]["occurrence"] = 9
    value["quote_policy"] = []
    found = [(problem.code, problem.at) for problem in codec.check_value(EvidenceCapsule, value)]
    assert found == [
        ("schema.limit", "/exact_spans/0/end"),
        ("schema.limit", "/exact_spans/1/occurrence"),
        ("schema.field.missing", "/confidence"),
        ("schema.word", "/visibility/level"),
        ("schema.field.type", "/quote_policy"),
        ("schema.field.unknown", "/zz"),
    ]
    with pytest.raises(SchemaError, match=r"\(and 5 more\)") as caught:
        codec.from_value(EvidenceCapsule, value)
    assert (caught.value.code, caught.value.at) == found[0]


def test_a_law_is_judged_where_its_own_fields_are_in_order(example: Any) -> None:
    value = codec.to_value(example.evidence)
    value["visibility"]["level"] = "secret"
    value["claim_candidates"][1]["span_ids"] = [value["exact_spans"][0]["source"] + ":1-2"]
    value["exact_spans"][2]["title"] = "a field that spans do not have"
    found = [(problem.code, problem.at) for problem in codec.check_value(EvidenceCapsule, value)]
    # The third span cannot be trusted, so what refers to spans is not judged ...
    assert found == [("schema.field.unknown", "/exact_spans/2/title"), ("schema.word", "/visibility/level")]
    del value["exact_spans"][2]["title"]
    found = [(problem.code, problem.at) for problem in codec.check_value(EvidenceCapsule, value)]
    # ... and a bad label hides nothing else.
    assert found == [
        ("schema.word", "/visibility/level"),
        ("schema.reference", "/claim_candidates/1/span_ids/0"),
    ]


def test_check_value_of_a_valid_value_is_empty(record: Capsule) -> None:
    assert codec.check_value(type(record), codec.to_value(record)) == []


def test_a_part_of_a_capsule_can_be_read_alone(example: Any) -> None:
    span = example.evidence.exact_spans[0]
    assert codec.from_value(type(span), codec.to_value(span)) == span


def test_a_capsule_over_4_mib_is_not_sealed(make_evidence: Any, example: Any) -> None:
    missing = example.evidence.missing_evidence[0]

    def padded(length: int) -> EvidenceCapsule:
        capsule: EvidenceCapsule = make_evidence(missing_evidence=(replace(missing, why="x" * length),))
        return capsule

    room = (4 << 20) - len(codec.wire(padded(0)))
    largest = codec.wire(padded(room))
    assert len(largest) == 4 << 20
    assert codec.read_wire(largest, EvidenceCapsule) == padded(room)
    for write in (codec.preimage, codec.wire, codec.seal, codec.digest_of):
        with pytest.raises(ParseError) as caught:
            write(padded(room + 1))
        assert caught.value.code == "bytes.size.exceeded"


def outcome(data: bytes, cls: type[Record]) -> str:
    try:
        codec.read_wire(data, cls)
    except CapsuleError as error:
        return error.code
    return "accepted"


def test_every_single_bit_flip_is_caught(record: Capsule) -> None:
    data = codec.wire(record)
    outcomes: Counter[str] = Counter()
    for place in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[place] ^= 1 << bit
            outcomes[outcome(bytes(flipped), type(record))] += 1
    assert sum(outcomes.values()) == 8 * len(data)
    assert "accepted" not in outcomes
    assert {kind_of(code) for code in outcomes} == {"failure"}
    # Most flips leave valid JSON: without the digest they would pass the parser.
    assert outcomes["bytes.digest.mismatch"] > 4 * len(data)


def test_every_truncation_and_extension_is_caught(record: Capsule) -> None:
    data = codec.wire(record)
    for size in range(len(data)):
        assert outcome(data[:size], type(record)) in ("json.syntax", "json.utf8.invalid")
    for tail in (b" ", b"\n", b"\0", b"{}", data):
        assert outcome(data + tail, type(record)) in ("json.syntax", "json.noncanonical")
