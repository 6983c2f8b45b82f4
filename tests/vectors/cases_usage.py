"""Vectors of inputs that are wrong before any capsule is looked at: exit 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import kit
from kit import IDS, World, stored
from recipes import Vector
from verify_recipe import verify

_FORMAT = b'{"format":"capsule-store/1","hash":"b3"}'
_SPOILT = {
    "format-folder": ("format-folder", {"FORMAT/in-a-folder": b""}),
    "objects-file": ("objects-file", {"FORMAT": _FORMAT, "objects": b""}),
}


def cases() -> Iterator[Vector]:
    """All of them."""

    def refused(name: str, why: str, code: str, at: str, **more: Any) -> Vector:
        vector = verify(name, why, None, (code,), exit=2, **more)
        return replace(vector, answers=({"code": code, "at": at},))

    bad = stored(kit.policy() | {"schema_id": "policy/2"})
    loop = kit.policy()
    loop["providers"][0]["fallbacks"] = ["nowhere"]
    yield refused("usage-now_fail", "a clock in another form", "time.malformed", "/now", now="2024-06-01")
    yield refused(
        "usage-now-offset_fail",
        "a clock with an offset",
        "time.malformed",
        "/now",
        now="2024-06-01T12:00:00+02:00",
    )
    yield refused(
        "usage-now-newline_fail", "a newline after the clock", "time.malformed", "/now", now=f"{kit.NOW}\n"
    )
    yield refused(
        "usage-now-leap-second_fail",
        "a leap second",
        "time.malformed",
        "/now",
        now="2016-12-31T23:59:60Z",
    )
    yield refused(
        "usage-expect_fail", "an expected id in another form", "id.malformed", "/expect", expect="b3:abc"
    )
    yield refused(
        "usage-expect-newline_fail",
        "an id with a newline behind it",
        "id.malformed",
        "/expect",
        expect=IDS["valve"] + "\n",
    )
    yield refused(
        "usage-policy-major_fail",
        "a policy of another major",
        "schema.major.unsupported",
        "/schema_id",
        policy=bad,
    )
    yield refused("usage-policy-json_fail", "a policy that is no JSON", "json.syntax", "", policy=b"{")
    yield refused(
        "usage-policy-array_fail", "a policy that is no object", "schema.field.type", "", policy=b"[]"
    )
    yield refused(
        "usage-policy-field_fail",
        "a policy with a field too many",
        "schema.field.unknown",
        "/note",
        policy=kit.policy() | {"note": 1},
    )
    yield refused(
        "usage-policy-fallback_fail",
        "a fallback to a provider that is not there",
        "schema.reference",
        "/providers/0/fallbacks/0",
        policy=loop,
    )
    yield refused(
        "usage-policy-runtime_fail",
        "a runtime that is no version",
        "schema.word",
        "/runtime",
        policy=kit.policy() | {"runtime": "latest"},
    )
    argv = ("verify", "input", "--store", "../../stores/absent", "--now", kit.NOW)
    yield Vector(
        name="usage-store-absent_fail",
        why="a store that is not there: could not be evaluated, exit 2",
        argv=argv,
        codes=("store.not_found",),
        answers=({"code": "store.not_found", "at": ""},),
        exit=2,
        files={"input": kit.wire(World().seal().prompt)},
    )
    for name, path, code in (
        ("file", "main/FORMAT", "store.not_regular"),
        ("format-folder", "format-folder", "store.not_regular"),
        ("objects-file", "objects-file", "store.not_regular"),
    ):
        yield Vector(
            name=f"usage-store-{name}_fail",
            why="a store that is none as a whole says nothing about a capsule: exit 2",
            argv=("verify", "input", "--store", f"../../stores/{path}", "--now", kit.NOW),
            codes=(code,),
            answers=({"code": code, "at": ""},),
            exit=2,
            files={"input": kit.wire(World().seal().prompt)},
            damage=_SPOILT.get(name),
        )
    yield Vector(
        name="usage-provider-alone_fail",
        why="--provider without --policy: usage, exit 2",
        argv=("verify", "input", "--store", "../../stores/main", "--now", kit.NOW, "--provider", "local"),
        exit=2,
        files={"input": kit.wire(World().seal().prompt)},
    )
    yield Vector(
        name="usage-file-absent_fail",
        why="a capsule file that is not there: exit 2",
        argv=("verify", "absent", "--store", "../../stores/main", "--now", kit.NOW),
        exit=2,
    )
    yield Vector(
        name="usage-no-store_fail",
        why="--store is needed",
        argv=("verify", "input", "--now", kit.NOW),
        exit=2,
    )
    yield Vector(name="usage-command_fail", why="a command that is none", argv=("validate",), exit=2)
