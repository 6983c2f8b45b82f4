"""One vector of ``verify``, and small changes to its world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kit import NOW, World, stored, wire
from recipes import Vector, object_path, store_path

from capsules.content_id import content_id

Change = Callable[[World], Any]


def verify(
    name: str,
    why: str,
    change: Change | None = None,
    codes: tuple[str, ...] = (),
    *,
    of: str = "prompt",
    now: str = NOW,
    project: str | None = None,
    policy: Any = None,
    provider: str | None = None,
    expect: str | None = None,
    form: str = "wire",
    exit: int | None = None,
    edit: Callable[[bytes], bytes] | None = None,
    late: Change | None = None,
    damage: tuple[str, Callable[[dict[str, bytes]], None]] | None = None,
) -> Vector:
    """One case: ``change`` before sealing, ``late`` after it, ``edit`` on the bytes of the file.

    ``damage`` names a store of the case's own and changes its objects (by path).
    """
    world = World()
    if change is not None:
        change(world)
    world.seal()
    if late is not None:
        late(world)
    value = getattr(world, of)
    data = stored(value) if form == "stored" else wire(value)
    if expect == "own":
        expect = content_id(stored(value))
    if edit is not None:
        data = edit(data)
    files = {"input": data}
    argv = ["verify", "input", "--store", store_path(damage[0] if damage else "main"), "--now", now]
    if project is not None:
        argv += ["--project", project]
    if policy is not None:
        files["policy.json"] = policy if isinstance(policy, bytes) else stored(policy)
        argv += ["--policy", "policy.json"]
    if provider is not None:
        argv += ["--provider", provider]
    if expect is not None:
        argv += ["--expect", expect]
    return Vector(
        name=name,
        why=why,
        argv=tuple(argv),
        codes=codes,
        exit=(1 if codes else 0) if exit is None else exit,
        files=files,
        objects={} if damage else dict(world.objects),
        damage=None if damage is None else (damage[0], _damaged(world, damage[1])),
    )


def _damaged(world: World, change: Callable[[dict[str, bytes]], None]) -> dict[str, bytes]:
    """A store of the world's objects, by path, after a change."""
    paths = {object_path(object_id): body for object_id, body in world.objects.items()}
    paths["FORMAT"] = b'{"format":"capsule-store/1","hash":"b3"}'
    change(paths)
    return paths


def put(path: str, new: Any) -> Change:
    """Sets a value by ``public/exact_spans/0/start``, a field of the world first."""

    def change(world: World) -> None:
        *parents, last = path.split("/")
        target: Any = getattr(world, parents[0])
        for part in parents[1:]:
            target = target[int(part)] if isinstance(target, list) else target[part]
        if isinstance(target, list):
            target[int(last)] = new
        else:
            target[last] = new

    return change


def both(*changes: Change) -> Change:
    """Several changes, one after the other."""

    def change(world: World) -> None:
        for each in changes:
            each(world)

    return change


def drop(path: str) -> Change:
    """Removes a key or an item."""

    def change(world: World) -> None:
        *parents, last = path.split("/")
        target: Any = getattr(world, parents[0])
        for part in parents[1:]:
            target = target[int(part)] if isinstance(target, list) else target[part]
        del target[int(last) if isinstance(target, list) else last]

    return change
