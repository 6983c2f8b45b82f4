"""A canary in every field: worlds that hold it, the provider that may have it, and one that may not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from capsules.content_id import content_id
from capsules.egress import authorize

CANARY = "canary-7f3a91"
BYTES = CANARY.encode()


@pytest.fixture(scope="session")
def canary() -> str:
    """What must not be seen where it may not be."""
    return CANARY


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of every single value of a record."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    else:
        yield path


def contradict(world: Any) -> None:
    """Gives the public capsule the one free text that the kit's has not."""
    between = [world.public["claim_candidates"][0]["claim_id"], world.public["exact_spans"][1]["span_id"]]
    world.public["contradictions"] = [{"between": between, "kind": "date", "resolution": "later"}]


def planted(record: str, path: tuple[Any, ...]) -> Callable[[Any], None]:
    """Puts the canary where a path leads."""

    def edit(world: Any) -> None:
        contradict(world)
        place = getattr(world, record)
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = CANARY

    return edit


def scenes(routing: Any, *providers: dict[str, Any]) -> dict[str, Any]:
    """A scene for every field that takes the canary, its body everything that there is to send."""
    world = routing.kit.World().seal()
    contradict(world)
    found = {}
    for record in ("prompt", "public", "internal"):
        for path in leaves(getattr(world, record)):
            if path[0] == "evidence_capsule_refs":
                continue  # made anew by sealing
            s = routing.scene(providers, edit=planted(record, path))
            s.body = b"\n".join(s.store._objects.values())
            assert BYTES in s.body
            found["/".join(map(str, (record, *path)))] = s
    found["source"] = in_a_source(routing, providers)
    return found


def in_a_source(routing: Any, providers: Sequence[dict[str, Any]]) -> Any:
    """The canary in a source, and so in the exact text and the context of its spans."""
    kit = routing.kit
    text = kit.TEXTS["notes"].replace("the lamp", f"{CANARY} here, {CANARY} the lamp")

    def quote_it(world: Any) -> None:
        world.internal = kit.evidence("internal", "notes", [kit.span("notes", f"{CANARY} the lamp")])

    with pytest.MonkeyPatch.context() as patch:
        for table, value in (
            (kit.TEXTS, text),
            (kit.SOURCES, text.encode()),
            (kit.IDS, content_id(text.encode())),
        ):
            patch.setitem(table, "notes", value)
        s = routing.scene(providers, edit=quote_it)
    s.body = b"\n".join(s.store._objects.values())
    assert s.body.count(BYTES) >= 5
    return s


@pytest.fixture(scope="module")
def servers(loopback: Any) -> Iterator[tuple[Any, Any]]:
    """The provider that may have it, and the one that may not."""
    with loopback.serving(b"", b"") as (near, other):
        yield near, other


@pytest.fixture(scope="module")
def everywhere(routing: Any, servers: tuple[Any, Any]) -> dict[str, Any]:
    """Every field. near is allowed; cloud is its fallback for public levels; far is nobody's fallback."""
    near, other = servers
    return scenes(
        routing,
        routing.provider("near", endpoint=near.url, fallbacks=["cloud"]),
        routing.provider("cloud", "public", endpoint=other.url),
        routing.provider("far", endpoint=other.url),
    )


@pytest.fixture(scope="module")
def sendable(everywhere: dict[str, Any]) -> dict[str, Any]:
    """Those that may be sent to near: the free texts and the names."""
    return {name: s for name, s in everywhere.items() if authorize(s.ask("near"), s.gate).request is not None}
