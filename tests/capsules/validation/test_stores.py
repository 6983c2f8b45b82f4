"""What a validation makes of a store that refuses, fails or changes."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capsules.__main__ import main
from capsules.content_id import content_id
from capsules.disk_store import DiskStore
from capsules.errors import StoreError
from capsules.store import UnusableStoreError, VerifiedBytes
from capsules.validation import Given, validate

NOW = "2024-06-01T12:00:00Z"


Stored = Callable[[Any], Any]


class Refusing:
    """A store that answers every question with one error."""

    def __init__(self, code: str) -> None:
        self.code = code

    def get(self, object_id: str, *, max_bytes: int | None = None) -> VerifiedBytes:
        raise StoreError(self.code, "injected")


@pytest.mark.parametrize("code", ["store.io", "store.not_found", "store.format.unknown"])
def test_a_store_that_cannot_be_read_is_no_finding_about_the_capsule(kit: Any, world: Any, code: str) -> None:
    with pytest.raises(StoreError, match=code):
        validate(kit.wire(world.prompt), Given(now=NOW, store=Refusing(code)))  # type: ignore[arg-type]


@pytest.mark.parametrize("code", ["store.symlink", "store.not_regular", "bytes.size.exceeded"])
def test_an_object_that_the_store_refuses_is_a_finding(kit: Any, world: Any, code: str) -> None:
    given = Given(now=NOW, store=Refusing(code))  # type: ignore[arg-type]

    assert validate(kit.wire(world.prompt), given).codes() == (code,)
    assert validate(kit.wire(world.public), given).codes() == (code,)


def test_evidence_over_the_cap_of_a_capsule_is_refused(kit: Any, world: Any, stored_in: Stored) -> None:
    store = stored_in(world)
    world.prompt["evidence_capsule_refs"][0]["id"] = store.put(b" " * ((4 << 20) + 1))

    assert validate(kit.wire(world.prompt), Given(now=NOW, store=store)).codes() == ("bytes.size.exceeded",)


def test_a_source_that_is_changed_after_it_was_verified_changes_nothing(
    kit: Any, world: Any, tmp_path: Any
) -> None:
    disk = DiskStore(tmp_path / "store")
    disk.put_many(world.objects.values())

    class Swapping:
        """Spoils every object right after it was handed out."""

        def get(self, object_id: str, *, max_bytes: int | None = None) -> VerifiedBytes:
            verified = disk.get(object_id, max_bytes=max_bytes)
            path = tmp_path / "store" / "objects" / "b3" / object_id[3:5] / object_id[5:]
            path.chmod(0o644)
            path.write_bytes(b"spoilt")
            return verified

    given = Given(now=NOW, store=Swapping())  # type: ignore[arg-type]

    assert validate(kit.wire(world.prompt), given).valid  # every object was read once, and only once
    assert validate(kit.wire(world.prompt), given).codes() == ("bytes.digest.mismatch",)


def _linked(root: Path, store: Path) -> Path:
    link = root / "link"
    link.symlink_to(store)
    return link


def _a_file(root: Path, store: Path) -> Path:
    path = root / "file"
    path.write_bytes(b"")
    return path


def _linked_format(root: Path, store: Path) -> Path:
    (store / "FORMAT").rename(root / "FORMAT")
    (store / "FORMAT").symlink_to(root / "FORMAT")
    return store


def _linked_objects(root: Path, store: Path) -> Path:
    (store / "objects").rename(root / "objects")
    (store / "objects").symlink_to(root / "objects")
    return store


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (_linked, "store.symlink"),
        (_a_file, "store.not_regular"),
        (_linked_format, "store.symlink"),
        (_linked_objects, "store.symlink"),
    ],
)
def test_a_store_that_is_none_as_a_whole_could_not_be_asked(
    kit: Any, world: Any, tmp_path: Path, spoil: Callable[[Path, Path], Path], code: str
) -> None:
    DiskStore(tmp_path / "store").put_many(world.objects.values())
    root = spoil(tmp_path, tmp_path / "store")

    with pytest.raises(UnusableStoreError, match=code):
        validate(kit.wire(world.prompt), Given(now=NOW, store=DiskStore(root, read_only=True)))

    (tmp_path / "capsule").write_bytes(kit.wire(world.prompt))
    streams = io.BytesIO(), io.BytesIO(), io.BytesIO()
    argv = ["verify", str(tmp_path / "capsule"), "--store", str(root), "--now", NOW]

    assert main(argv, streams) == 2
    assert streams[1].getvalue() == b""
    assert b'"code":"' + code.encode() + b'"' in streams[2].getvalue()


@pytest.mark.parametrize("depth", ["object", "shard"])
def test_a_link_in_the_place_of_one_object_stays_a_finding(
    kit: Any, world: Any, tmp_path: Path, depth: str
) -> None:
    store = DiskStore(tmp_path / "store")
    store.put_many(world.objects.values())
    found = content_id(kit.stored(world.public))
    path = tmp_path / "store" / "objects" / "b3" / found[3:5]
    if depth == "object":
        path /= found[5:]
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")

    report = validate(kit.wire(world.prompt), Given(now=NOW, store=DiskStore(tmp_path / "store")))

    assert report.codes() == ("store.symlink",)
