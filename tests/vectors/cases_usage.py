"""Vectors of inputs that are wrong before any capsule is looked at: exit 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import kit
from kit import IDS, World
from recipes import Vector
from verify_recipe import verify

_FORMAT = b'{"format":"capsule-store/1","hash":"b3"}'
_SPOILT = {
    "format-folder": ("format-folder", {"FORMAT/in-a-folder": b""}),
    "objects-file": ("objects-file", {"FORMAT": _FORMAT, "objects": b""}),
}


def cases() -> Iterator[Vector]:
    """All of them."""
    yield from _clocks()
    yield from _expected_ids()
    yield from _policies()
    yield from _stores()
    yield from _options()


def _refused(name: str, why: str, code: str, at: str, **more: Any) -> Vector:
    vector = verify(f"usage-{name}_fail", why, None, (code,), exit=2, **more)
    return replace(vector, answers=({"code": code, "at": at},))


def _clocks() -> Iterator[Vector]:
    for name, now, why in (
        ("now", "2024-06-01", "a clock in another form"),
        ("now-offset", "2024-06-01T12:00:00+02:00", "a clock with an offset"),
        ("now-newline", f"{kit.NOW}\n", "a newline after the clock"),
        ("now-leap-second", "2016-12-31T23:59:60Z", "a leap second"),
    ):
        yield _refused(name, why, "time.malformed", "/now", now=now)


def _expected_ids() -> Iterator[Vector]:
    for name, expect, why in (
        ("expect", "b3:abc", "an expected id in another form"),
        ("expect-newline", IDS["valve"] + "\n", "an id with a newline behind it"),
    ):
        yield _refused(name, why, "id.malformed", "/expect", expect=expect)


def _policies() -> Iterator[Vector]:
    loop = kit.policy()
    loop["providers"][0]["fallbacks"] = ["nowhere"]
    fallback = "/providers/0/fallbacks/0"
    rows: tuple[tuple[str, Any, str, str, str], ...] = (
        (
            "major",
            kit.policy() | {"schema_id": "policy/2"},
            "schema.major.unsupported",
            "/schema_id",
            "a policy of another major",
        ),
        ("json", b"{", "json.syntax", "", "a policy that is no JSON"),
        ("array", b"[]", "schema.field.type", "", "a policy that is no object"),
        (
            "field",
            kit.policy() | {"note": 1},
            "schema.field.unknown",
            "/note",
            "a policy with a field too many",
        ),
        ("fallback", loop, "schema.reference", fallback, "a fallback to a provider that is not there"),
        (
            "runtime",
            kit.policy() | {"runtime": "latest"},
            "schema.word",
            "/runtime",
            "a runtime that is no version",
        ),
    )
    for name, policy, code, at, why in rows:
        yield _refused(f"policy-{name}", why, code, at, policy=policy)


def _stores() -> Iterator[Vector]:
    """Stores that are none as a whole."""
    none = "a store that is none as a whole says nothing about a capsule: exit 2"
    for name, path, code, why in (
        (
            "absent",
            "absent",
            "store.not_found",
            "a store that is not there: could not be evaluated, exit 2",
        ),
        ("file", "main/FORMAT", "store.not_regular", none),
        ("format-folder", "format-folder", "store.not_regular", none),
        ("objects-file", "objects-file", "store.not_regular", none),
    ):
        yield Vector(
            name=f"usage-store-{name}_fail",
            why=why,
            argv=("verify", "input", "--store", f"../../stores/{path}", "--now", kit.NOW),
            codes=(code,),
            answers=({"code": code, "at": ""},),
            exit=2,
            files={"input": kit.wire(World().seal().prompt)},
            damage=_SPOILT.get(name),
        )


def _options() -> Iterator[Vector]:
    """Command lines that cannot be carried out."""
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
