"""Threats that no other test of the core covers, by what an enemy sends or leaves on the disk.

The other rows of the project's list of threats have tests where the thing itself is tested: store/,
validation/, test_egress*.py, test_rendering.py, tests/vectors, tests/bench/engines/test_http_*.py.
"""

from __future__ import annotations

import os
import random
import tracemalloc
import unicodedata
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from capsules import __main__ as cli
from capsules import codec
from capsules.canonical import canonical_bytes, parse_strict
from capsules.content_id import content_id
from capsules.disk_store import DiskStore
from capsules.errors import CapsuleError
from capsules.evidence import EvidenceCapsule
from capsules.policy import read_policy
from capsules.report_json import read_report
from capsules.validation import Given, validate

MIB = 1 << 20
NOW = "2024-06-01T12:00:00Z"


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(CapsuleError) as caught:
        call()
    return caught.value.code


# --- one bit, one byte, one file: whatever is done to a store ----------------------------------------


def mangled(chance: random.Random, data: bytes, other: bytes) -> bytes:
    """A flipped bit, a cut, an addition, zeros, or the bytes of another object."""
    at = chance.randrange(len(data))
    return chance.choice(
        [
            bytes([*data[:at], data[at] ^ (1 << chance.randrange(8)), *data[at + 1 :]]),
            data[:at],
            data + bytes([chance.randrange(256)]),
            bytes(len(data)),
            other,
        ]
    )


def attack_store(root: Path, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    store = DiskStore(root)
    objects = [b"%d " % number * (1 + number) for number in range(50)]
    ids = store.put_many(objects)
    reader = DiskStore(root, read_only=True)
    for _ in range(rounds):
        number = chance.randrange(50)
        path = root / "objects" / "b3" / ids[number][3:5] / ids[number][5:]
        bad = mangled(chance, objects[number], objects[(number + 1) % 50])
        path.chmod(0o644)
        path.write_bytes(bad)
        if bad == objects[number]:
            assert reader.get(ids[number]).data == bad
        else:
            assert code_of(partial(reader.get, ids[number])) == "bytes.digest.mismatch"
        path.write_bytes(objects[number])
    assert [reader.get(each).data for each in ids] == objects


def test_mangled_objects_are_never_served(tmp_path: Path) -> None:
    attack_store(tmp_path / "store", 1_000, seed=1)


@pytest.mark.soak
def test_many_mangled_objects_are_never_served(tmp_path: Path) -> None:
    attack_store(tmp_path / "store", 20_000, seed=2)


def test_every_flipped_bit_and_truncation_of_format_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "store"
    object_id = DiskStore(root).put(b"an object")
    path = root / "FORMAT"
    good = path.read_bytes()
    path.chmod(0o644)
    variants = [good[:size] for size in range(len(good))] + [good + b"\n"]
    variants += [
        bytes([*good[:at], good[at] ^ (1 << bit), *good[at + 1 :]])
        for at in range(len(good))
        for bit in range(8)
    ]
    for variant in variants:
        path.write_bytes(variant)
        for read_only in (True, False):
            reading = DiskStore(root, read_only=read_only)
            assert code_of(partial(reading.get, object_id)) == "store.format.unknown"
        assert path.read_bytes() == variant  # refused, and not repaired
    path.write_bytes(good)
    assert DiskStore(root).get(object_id).data == b"an object"


# --- file systems that fold names --------------------------------------------------------------------


def test_names_that_a_file_system_may_fold_are_files_of_their_own(tmp_path: Path) -> None:
    """Twins by case, by composition, by width: every name on the disk is lower-case ASCII."""
    root = tmp_path / "store"
    store = DiskStore(root)
    names = ["Caf\u00e9", "Cafe\u0301", "caf\u00e9", "CAF\u00c9", "stra\u00dfe", "STRASSE", "\uff21", "A"]
    names.append("a")
    ids = {name: store.put(name.encode()) for name in names}
    for project in ("Demo", "demo"):
        for name in names:
            store.refs.swap(project, name, ids[name], seen=None)

    for project in ("Demo", "demo"):
        for name in names:
            ref = DiskStore(root).refs.read(project, name)
            assert ref is not None
            assert (ref.id, ref.version) == (ids[name], 1)
    parts = [path.relative_to(root).as_posix() for path in root.rglob("*")]
    folded = {unicodedata.normalize("NFKC", part).casefold() for part in parts}
    assert len(folded) == len(parts)
    assert all(part.isascii() for part in parts)
    assert all(part.islower() or part == "FORMAT" for part in parts)


# --- size ---------------------------------------------------------------------------------------------

HOSTILE = {
    "a million nested arrays": (b"[" * 1_000_000, "json.depth.exceeded"),
    "nested objects": (b'{"a":' * 800_000, "json.depth.exceeded"),
    "two million integers": (b"[" + b"0," * 2_000_000 + b"0]", "schema.limit"),
    "half a million objects": (b"[" + b'{"a":0},' * 500_000 + b"0]", "schema.limit"),
    "600,000 escapes": (b'"' + b"\\u0041" * 600_000 + b'"', "accepted"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_json_is_answered_in_bounded_memory(name: str) -> None:
    """At most 48 times the size of what came: 200 MB for the largest capsule that is read at all."""
    data, code = HOSTILE[name]
    assert len(data) <= 4 * MIB
    tracemalloc.start()
    try:
        parse_strict(data)
        outcome = "accepted"
    except CapsuleError as error:
        outcome = error.code
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert outcome == code
    assert peak < 48 * len(data)


def test_a_million_spans_are_one_finding(example: Any) -> None:
    value = codec.to_value(example.evidence)
    value["exact_spans"] *= 1_000_000 // len(value["exact_spans"]) + 1
    problems = codec.check_value(EvidenceCapsule, value)
    assert [(found.code, found.at) for found in problems] == [("schema.limit", "/exact_spans")]


def test_what_is_too_large_for_a_capsule_is_refused_unread(tmp_path: Path) -> None:
    """A sparse file of 1 TiB: only so much is read that it is known to be too large."""
    path = tmp_path / "huge"
    with open(path, "wb") as file:
        os.truncate(file.fileno(), 1 << 40)
    store = tmp_path / "store"
    DiskStore(store).put(b"")
    assert cli.main(["verify", str(path), "--store", str(store), "--now", NOW, "--json"]) == 1
    assert cli.main(["digest", str(path)]) == 1


# --- one key twice, in whatever is read ----------------------------------------------------------------


def twin(data: bytes) -> bytes:
    """The same object with its first member repeated in front."""
    value = parse_strict(data)
    assert isinstance(value, dict)
    first = next(iter(value))
    return canonical_bytes({first: value[first]})[:-1] + b"," + data.lstrip()[1:]


def test_a_key_that_stands_twice_is_refused_by_every_reader(example: Any) -> None:
    record = example.evidence
    wire, stored = codec.wire(record), codec.preimage(record)
    policy = canonical_bytes(
        {
            "schema_id": "policy/1",
            "projects": ["demo"],
            "providers": [],
            "revoked": [],
            "supported_schemas": ["evidence-capsule/1"],
            "runtime": "1.0.0",
        }
    )
    assert read_policy(policy).projects == ("demo",)
    assert code_of(lambda: read_policy(twin(policy))) == "json.key.duplicate"
    assert code_of(lambda: codec.read_wire(twin(wire), EvidenceCapsule)) == "json.key.duplicate"
    assert code_of(lambda: codec.read_stored(twin(stored), EvidenceCapsule)) == "json.key.duplicate"
    assert validate(twin(wire), Given(now=NOW)).codes() == ("json.key.duplicate",)
    sealed = twin(stored)
    assert validate(sealed, Given(now=NOW), expect=content_id(sealed)).codes() == ("json.key.duplicate",)
    assert code_of(lambda: read_report(b'{"now":"","now":""}')) == "json.key.duplicate"


# --- terminals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "evil", ["\x1b[31mred", "a\nvalid: b3:forged", "\u202egnorw", "\x1b]0;title\x07", "a\u200bb\u2066c"]
)
def test_a_summary_shows_no_control_character_of_the_capsule(
    example: Any, evil: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """In keys, names, ids, words and times; the JSON report keeps to canonical JSON."""
    store = tmp_path / "store"
    DiskStore(store).put(b"")
    good = codec.to_value(example.prompt)
    changes: list[dict[str, Any]] = [
        {evil: 1},
        {"project": evil},
        {"schema_id": evil},
        {"capsule_id": evil},
        {"authority": good["authority"] | {"max_level": evil, "expires_at": evil, evil: 0}},
        {"evidence_capsule_refs": [{"id": evil, "required": True}]},
    ]
    for number, change in enumerate(changes):
        value = good | change
        path = tmp_path / f"{number}.json"
        path.write_bytes(canonical_bytes(value | {"digest": content_id(canonical_bytes(value))}))
        argv = ["verify", str(path), "--store", str(store), "--now", NOW]
        assert cli.main(argv) == 1
        shown = capfdbinary.readouterr().err.decode()
        assert shown.startswith("INVALID: b3:")
        assert all(line.isprintable() for line in shown.split("\n"))
        assert not any(line.startswith("valid") for line in shown.split("\n"))
