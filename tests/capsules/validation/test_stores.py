"""What a validation makes of a store that refuses, fails or changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from capsules.disk_store import DiskStore
from capsules.errors import StoreError
from capsules.store import VerifiedBytes
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
