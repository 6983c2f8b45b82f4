"""Every call to the file system fails once, with each of six errnos."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from capsules.content_id import content_id
from capsules.disk_store import DiskStore
from capsules.errors import StoreError

A, B = b"first object", b"second object"
PROJECT, NAME = "demo", "demo:task:q-1:prompt"


def rot(model: Any) -> None:
    """Corrupt object A on the medium."""
    path = [path for path in model.files() if path.endswith(content_id(A)[5:])]
    inode = model.root
    for name in path[0].split("/"):
        inode = inode.names[name]
    inode.data[:] = b"first objecT"


def put_fresh(model: Any, fs: Any) -> None:
    assert DiskStore("/store", fs).put_many((A, B)) == [content_id(A), content_id(B)]


def put_again(model: Any, fs: Any) -> None:
    DiskStore("/store", model).put(A)
    DiskStore("/store", fs).put(A)


def put_over_corrupt(model: Any, fs: Any) -> None:
    DiskStore("/store", model).put(A)
    rot(model)
    DiskStore("/store", fs).put(A)


def get(model: Any, fs: Any) -> None:
    DiskStore("/store", model).put(A)
    assert DiskStore("/store", fs, read_only=True).get(content_id(A)).data == A


def has(model: Any, fs: Any) -> None:
    DiskStore("/store", model).put(A)
    assert DiskStore("/store", fs).has(content_id(A))


def names(model: Any, fs: Any) -> None:
    DiskStore("/store", model).put(A)
    assert list(DiskStore("/store", fs).ids()) == [content_id(A)]


def temps(model: Any, fs: Any) -> None:
    DiskStore("/store", model).put(A)
    assert DiskStore("/store", fs).remove_temps() == 0


def swap(model: Any, fs: Any) -> None:
    DiskStore("/store", model).put(A)
    store = DiskStore("/store", fs)
    ref = store.refs.swap(PROJECT, NAME, content_id(A), seen=None)
    assert store.refs.read(PROJECT, NAME) == ref


SCENARIOS: tuple[Callable[[Any, Any], None], ...] = (
    put_fresh,
    put_again,
    put_over_corrupt,
    get,
    has,
    names,
    temps,
    swap,
)


def injections(faults: Any, scenario: Callable[[Any, Any], None]) -> Iterator[tuple[Any, Any, int]]:
    model = faults.model()
    counting = faults.wrap(model)
    scenario(model, counting)
    for number in range(counting.calls):
        for code in faults.errnos:
            model = faults.model()
            yield model, faults.wrap(model, number, code), code


def outcome(scenario: Callable[[Any, Any], None], model: Any, fs: Any) -> StoreError | None:
    try:
        scenario(model, fs)
    except StoreError as error:
        return error
    return None


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_failing_call_is_reported_and_leaves_nothing_behind(faults: Any, scenario: Any) -> None:
    raised = 0
    for model, fs, code in injections(faults, scenario):
        error = outcome(scenario, model, fs)
        if error is None:  # only what loses nothing may fail unseen
            assert fs.failed in ("close", "unlink")
        else:
            raised += 1
            assert error.code == "store.io"
            assert errno.errorcode[code] in error.message
        assert model.open_handles() <= (fs.failed == "close")
        objects = {path: data for path, data in model.files().items() if "/objects/" in path}
        assert not [path for path in objects if path.endswith(".tmp")]
        for path, data in objects.items():
            assert content_id(data)[5:] == path.rpartition("/")[2] or data == b"first objecT"
        store = DiskStore("/store", model)  # and it goes on
        assert [store.get(object_id).data for object_id in store.put_many((A, B))] == [A, B]

    assert raised > 20


def test_a_corrupt_object_is_named_so_even_if_its_copy_cannot_be_kept(faults: Any) -> None:
    def read(model: Any, fs: Any) -> None:
        DiskStore("/store", model).put(A)
        rot(model)
        DiskStore("/store", fs).get(content_id(A))

    model = faults.model()
    counting = faults.wrap(model)
    with pytest.raises(StoreError, match=r"bytes\.digest\.mismatch"):
        read(model, counting)
    reported = []
    for number in range(counting.calls):
        model = faults.model()
        with pytest.raises(StoreError) as caught:
            read(model, faults.wrap(model, number, errno.ENOSPC))
        reported.append(caught.value.code)

    assert set(reported) == {"store.io", "bytes.digest.mismatch"}
    assert reported == sorted(reported, reverse=True)  # before the bytes are read, and after


def test_a_handle_whose_fsync_failed_writes_no_more(faults: Any) -> None:
    model = faults.model()
    counting = faults.wrap(model)
    DiskStore("/store", counting).put(A)
    poisoned = 0
    for number in range(counting.calls):
        fs = faults.wrap(faults.model(), number, errno.EIO)
        store = DiskStore("/store", fs)
        try:
            store.put(A)
        except StoreError:
            if fs.failed == "fsync_all":
                poisoned += 1
                require_poisoned(store)
            else:
                assert store.put(B) == content_id(B)

    assert poisoned >= 6


def require_poisoned(store: DiskStore) -> None:
    with pytest.raises(StoreError, match=r"store\.poisoned"):
        store.put(B)
    with pytest.raises(StoreError, match=r"store\.poisoned"):
        store.put_many(())
    with pytest.raises(StoreError, match=r"store\.poisoned"):
        store.remove_temps()


def test_a_poisoned_handle_still_reads(faults: Any) -> None:
    class Failing(faults.model):  # type: ignore[misc]
        broken = False

        def fsync_all(self, fds: Any) -> None:
            if self.broken:
                raise OSError(errno.EIO, "injected")
            super().fsync_all(fds)

    fs = Failing()
    store = DiskStore("/store", fs)
    store.put(A)
    fs.broken = True
    with pytest.raises(StoreError, match=r"store\.io"):
        store.put(B)
    fs.broken = False  # the disk recovers, the handle does not
    require_poisoned(store)

    assert store.get(content_id(A)).data == A
    assert DiskStore("/store", fs).put(B) == content_id(B)


def test_a_write_that_makes_no_progress_is_an_error_and_no_endless_loop(faults: Any) -> None:
    class Stuck(faults.model):  # type: ignore[misc]
        def write(self, fd: int, data: memoryview) -> int:
            return 0

    with pytest.raises(StoreError, match=r"store\.io"):
        DiskStore("/store", Stuck()).put(A)


def test_interruption_leaves_no_temp(faults: Any) -> None:
    class Interrupted(faults.model):  # type: ignore[misc]
        def rename(self, old: str, new: str, at: int) -> None:
            if new != "FORMAT":
                raise KeyboardInterrupt
            super().rename(old, new, at)

    fs = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        DiskStore("/store", fs).put(A)

    assert [path for path in fs.files()] == ["store/FORMAT"]
    assert fs.open_handles() == 0
