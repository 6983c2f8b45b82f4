"""Refs: compare-and-swap, no way back, no other's ref."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from capsules.canonical import canonical_bytes
from capsules.content_id import content_id
from capsules.disk_store import DiskStore
from capsules.errors import StoreError
from capsules.store_refs import Ref

PROJECT, NAME = "demo", "demo:task:q-1:prompt"
OBJECTS = [b"one", b"two", b"three"]
IDS = [content_id(data) for data in OBJECTS]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    DiskStore(tmp_path / "store").put_many(OBJECTS)
    return tmp_path / "store"


def ref_path(root: Path, name: str = NAME) -> Path:
    return root / "refs" / content_id(PROJECT.encode())[3:] / f"{content_id(name.encode())[3:]}.json"


def code_of(call: Any) -> str:
    with pytest.raises(StoreError) as caught:
        call()
    return caught.value.code


def test_versions_rise_with_every_swap(root: Path) -> None:
    refs = DiskStore(root).refs
    assert refs.read(PROJECT, NAME) is None

    first = refs.swap(PROJECT, NAME, IDS[0], seen=None)
    second = refs.swap(PROJECT, NAME, IDS[1], seen=first)
    back = refs.swap(PROJECT, NAME, IDS[0], seen=second)

    assert [ref.version for ref in (first, second, back)] == [1, 2, 3]
    assert DiskStore(root, read_only=True).refs.read(PROJECT, NAME) == back
    assert refs.read(PROJECT, "another") is None
    assert refs.read("another", NAME) is None


def test_the_file_is_canonical_named_by_digests_and_carries_its_own(root: Path) -> None:
    DiskStore(root).refs.swap(PROJECT, NAME, IDS[0], seen=None)
    body = {"capsule_id": NAME, "id": IDS[0], "project": PROJECT, "schema_id": "ref/1", "version": 1}
    body["digest"] = content_id(canonical_bytes(body))

    assert ref_path(root).read_bytes() == canonical_bytes(body)


def test_the_loser_of_a_race_is_told(root: Path) -> None:
    one, two = DiskStore(root).refs, DiskStore(root).refs
    seen = one.swap(PROJECT, NAME, IDS[0], seen=None)
    two.swap(PROJECT, NAME, IDS[1], seen=seen)

    assert code_of(lambda: one.swap(PROJECT, NAME, IDS[2], seen=seen)) == "ref.conflict"
    assert code_of(lambda: one.swap(PROJECT, NAME, IDS[2], seen=None)) == "ref.conflict"
    assert code_of(lambda: two.swap(PROJECT, "new", IDS[2], seen=seen)) == "ref.conflict"


def test_a_ref_to_nothing_is_refused(root: Path) -> None:
    absent = content_id(b"never put")

    assert code_of(lambda: DiskStore(root).refs.swap(PROJECT, NAME, absent, seen=None)) == "object.missing"


def test_an_older_ref_that_is_put_back_is_found(root: Path) -> None:
    refs = DiskStore(root).refs
    first = refs.swap(PROJECT, NAME, IDS[0], seen=None)
    old = ref_path(root).read_bytes()
    second = refs.swap(PROJECT, NAME, IDS[1], seen=first)
    ref_path(root).unlink()
    ref_path(root).write_bytes(old)

    assert code_of(lambda: refs.read(PROJECT, NAME)) == "ref.rollback"
    assert code_of(lambda: refs.swap(PROJECT, NAME, IDS[2], seen=second)) == "ref.rollback"
    other = DiskStore(root).refs
    assert code_of(lambda: other.read(PROJECT, NAME, at_least=2)) == "ref.rollback"
    assert other.read(PROJECT, NAME) == first  # without a memory there is nothing to compare with


def test_a_ref_that_vanished_or_was_rewritten_is_found(root: Path) -> None:
    refs = DiskStore(root).refs
    refs.swap(PROJECT, NAME, IDS[0], seen=None)
    ref_path(root).unlink()
    assert code_of(lambda: refs.read(PROJECT, NAME)) == "ref.rollback"

    DiskStore(root).refs.swap(PROJECT, NAME, IDS[1], seen=None)  # version 1 again, another object

    assert code_of(lambda: refs.read(PROJECT, NAME)) == "ref.rollback"
    ref_path(root).unlink()
    ref_path(root).parent.rmdir()
    assert code_of(lambda: refs.read(PROJECT, NAME)) == "ref.rollback"


def test_every_flipped_bit_and_truncation_of_a_ref_is_found(faults: Any) -> None:
    model = faults.model()
    store = DiskStore("/store", model)
    store.refs.swap(PROJECT, NAME, store.put(OBJECTS[0]), seen=None)
    inode = model.root.names["store"]
    for part in ("refs", ref_path(Path()).parent.name, ref_path(Path()).name):
        inode = inode.names[part]
    good = bytes(inode.data)
    variants = [good[:size] for size in range(len(good))] + [good + b" "]
    variants += [
        bytes([*good[:at], good[at] ^ (1 << bit), *good[at + 1 :]])
        for at in range(len(good))
        for bit in range(8)
    ]
    reader = DiskStore("/store", model, read_only=True).refs
    for variant in variants:
        inode.data[:] = variant
        assert code_of(lambda: reader.read(PROJECT, NAME)) in ("ref.malformed", "bytes.digest.mismatch")


@pytest.mark.parametrize(
    "value",
    [[], {"id": IDS[0]}, {"id": "b3:x", "version": 1}, {"id": IDS[0], "version": 0}, {"id": 1, "version": 1}],
)
def test_other_json_is_no_ref(root: Path, value: Any) -> None:
    refs = DiskStore(root).refs
    refs.swap(PROJECT, NAME, IDS[0], seen=None)
    ref_path(root).unlink()
    ref_path(root).write_bytes(canonical_bytes(value))

    assert code_of(lambda: refs.read(PROJECT, NAME)) == "ref.malformed"


def test_the_ref_of_another_name_is_not_accepted(root: Path) -> None:
    refs = DiskStore(root).refs
    refs.swap(PROJECT, NAME, IDS[0], seen=None)
    ref_path(root, "other").write_bytes(ref_path(root).read_bytes())

    assert code_of(lambda: refs.read(PROJECT, "other")) == "bytes.digest.mismatch"


def test_names_may_be_anything_but_surrogates(root: Path) -> None:
    refs = DiskStore(root).refs
    for name in ("../../etc/passwd", "/", "\0", "a\nb", "x" * 300, "é", ""):
        assert refs.swap(PROJECT, name, IDS[0], seen=None).version == 1
        assert refs.swap(name, NAME, IDS[0], seen=None).version == 1

    assert code_of(lambda: refs.read(PROJECT, "\ud800")) == "json.string.surrogate"
    assert all(len(path.name) in (64, 69) for path in (root / "refs").rglob("*"))


class StoreMachine(RuleBasedStateMachine):
    """Puts, swaps and losses of power in any order, against a dict."""

    faults: Any

    @initialize()
    def start(self) -> None:
        self.fs = self.faults.model()
        self.store = DiskStore("/store", self.fs)
        self.objects: dict[str, bytes] = {}
        self.ref: Ref | None = None

    @rule(data=st.sampled_from([b"", b"a", b"bb", b"ccc"]))
    def put(self, data: bytes) -> None:
        self.objects[self.store.put(data)] = data

    @rule(data=st.lists(st.sampled_from([b"", b"a", b"bb", b"ccc"]), max_size=3))
    def put_many(self, data: list[bytes]) -> None:
        self.objects.update(zip(self.store.put_many(data), data, strict=True))

    @rule(pick=st.integers(0, 3))
    def swap(self, pick: int) -> None:
        if self.objects:
            target = sorted(self.objects)[pick % len(self.objects)]
            self.ref = self.store.refs.swap(PROJECT, NAME, target, seen=self.ref)

    @rule(absent=st.sampled_from(IDS))
    def swap_to_nothing(self, absent: str) -> None:
        assert code_of(lambda: self.store.refs.swap(PROJECT, NAME, absent, seen=self.ref)) == "object.missing"

    @rule(pick=st.randoms(use_true_random=False))
    def lose_power(self, pick: Any) -> None:
        self.fs = pick.choice(list(self.fs.crash_states()))
        self.store = DiskStore("/store", self.fs)

    @invariant()
    def nothing_acknowledged_is_lost(self) -> None:
        for object_id, data in self.objects.items():
            assert self.store.get(object_id).data == data
        assert self.store.refs.read(PROJECT, NAME) == self.ref


def test_any_order_of_puts_swaps_and_losses_of_power(faults: Any) -> None:
    StoreMachine.faults = faults
    machine = StoreMachine.TestCase
    machine.settings = settings(max_examples=40, stateful_step_count=12, deadline=None)
    machine().runTest()
