"""Loss of power at every moment: what was acknowledged survives, and every fsync is needed for that.

A crash is tried before each fsync and at the end of a scenario. Between two fsyncs it could leave
nothing else: what happened by then is a subset of what may have happened before the later one.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from capsules import store_layout
from capsules.content_id import content_id
from capsules.disk_store import DiskStore
from capsules.errors import StoreError

PACKAGE = store_layout.__file__.removesuffix("store_layout.py")
A, B, C = b"first object", b"second object", b"third one"
CORRUPT = b"first objecT"
PROJECT, NAME = "demo", "demo:task:q-1:prompt"


@dataclass
class Log:
    """What was acknowledged so far."""

    objects: dict[str, bytes] = field(default_factory=dict)
    version: int = 0
    quarantined: dict[str, bytes] = field(default_factory=dict)

    def put(self, store: DiskStore, *objects: bytes) -> None:
        self.objects.update(zip(store.put_many(objects), objects, strict=True))


def fresh(fs: Any, log: Log) -> None:
    store = DiskStore("/store", fs)
    log.put(store, A)
    log.put(store, B, C)


def second_handle(fs: Any, log: Log) -> None:
    log.put(DiskStore("/store", fs), A)
    log.put(DiskStore("/store", fs), A, B)


def copied_in(fs: Any, log: Log) -> None:
    """Another program (cp, git) brought the object and flushed nothing."""
    store = DiskStore("/store", fs)
    log.put(store, B)
    at = fs.open_base("/")
    for name in ("store", "objects", "b3"):
        at = fs.open_dir(name, at)
    digest = content_id(A)[3:]
    fs.make_dir(digest[:2], at)
    fd = fs.create(digest[2:], fs.open_dir(digest[:2], at))
    rest = memoryview(A)
    while rest:
        rest = rest[fs.write(fd, rest) :]
    log.put(store, A)


def quarantine_name(expected: bytes, found: bytes) -> str:
    return f"store/quarantine/{content_id(expected)[3:]}.{content_id(found)[3:]}"


def corrupt(fs: Any, model: Any) -> None:
    """Bit rot in object A, on the medium itself."""
    digest = content_id(A)[3:]
    inode = model.root.names["store"]
    for name in ("objects", "b3", digest[:2], digest[2:]):
        inode = inode.names[name]
    inode.data[:] = CORRUPT
    inode.durable = CORRUPT


def heal(fs: Any, log: Log) -> None:
    store = DiskStore("/store", fs)
    log.put(store, A)
    corrupt(fs, fs.model)
    log.objects.clear()  # the medium lost it, no fsync can help
    log.put(store, A)
    log.quarantined[quarantine_name(A, CORRUPT)] = CORRUPT


def read_corrupt(fs: Any, log: Log) -> None:
    store = DiskStore("/store", fs)
    store.put(A)
    corrupt(fs, fs.model)
    with pytest.raises(StoreError, match=r"bytes\.digest\.mismatch"):
        store.get(content_id(A))
    log.quarantined[quarantine_name(A, CORRUPT)] = CORRUPT


def refs(fs: Any, log: Log) -> None:
    store = DiskStore("/store", fs)
    first, second = store.put_many((A, B))
    log.objects = {first: A, second: B}
    seen = store.refs.swap(PROJECT, NAME, first, seen=None)
    log.version = 1
    store.refs.swap(PROJECT, NAME, second, seen=seen)
    log.version = 2


SCENARIOS: tuple[Any, ...] = (fresh, second_handle, copied_in, heal, read_corrupt, refs)


def holds(state: Any, log: Log) -> bool:
    """Whether a file system left by a crash still has everything, and can be used on."""
    try:
        store = DiskStore("/store", state)
        for object_id, data in log.objects.items():
            if store.get(object_id).data != data:
                return False
        files = state.files()
        if any(files.get(name) != data for name, data in log.quarantined.items()):
            return False
        ref = store.refs.read(PROJECT, NAME, at_least=log.version)
        if ref is not None:
            store.get(ref.id)
        for data in (A, B, C):  # not acknowledged: there, missing, or known to be corrupt
            try:
                store.get(content_id(data))
            except StoreError as error:
                if error.code not in ("object.missing", "bytes.digest.mismatch"):
                    return False
        return [store.get(object_id).data for object_id in store.put_many((A, B, C))] == [A, B, C]
    except StoreError:
        return False


def crash_points(faults: Any, scenario: Callable[[Any, Log], None]) -> list[int | None]:
    """Numbers of the calls to fsync, and ``None`` for the end."""
    names: list[str] = []
    counting = Recorder(faults.model(), names)
    scenario(counting, Log())
    return [*(number for number, name in enumerate(names) if name == "fsync_all"), None]


class Recorder:
    """Passes everything on and notes the names of the calls."""

    def __init__(self, model: Any, names: list[str]) -> None:
        self.model = model
        self._names = names

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.model, name)

        def call(*args: Any) -> Any:
            self._names.append(name)
            return method(*args)

        return call


class Dying(Recorder):
    """Dies before the call of a given number; forgets the fsyncs that ``forgets`` picks."""

    def __init__(self, faults: Any, at: int | None, forgets: Callable[[int], bool]) -> None:
        super().__init__(faults.model(), [])
        self._faults = faults
        self._at = at
        self._forgets = forgets
        self._read: set[int] = set()

    def __getattr__(self, name: str) -> Any:
        method = super().__getattr__(name)

        def call(*args: Any) -> Any:
            if self._at is not None and len(self._names) >= self._at:
                raise self._faults.stopped
            return method(*args)

        return call

    def fsync_all(self, fds: Sequence[int]) -> None:
        if self._at is not None and len(self._names) >= self._at:
            raise self._faults.stopped
        self._names.append("fsync_all")
        self.model.fsync_all([fd for fd in fds if not self._forgets(fd)])


def lost(
    faults: Any, scenario: Callable[[Any, Log], None], forgets: Callable[[int], bool]
) -> tuple[int, int]:
    """(bad states, states) over all crash points of a scenario."""
    bad = total = 0
    for at in crash_points(faults, scenario):
        fs, log = Dying(faults, at, forgets), Log()
        with contextlib.suppress(faults.stopped):
            scenario(fs, log)
        for state in fs.model.crash_states():
            total += 1
            bad += not holds(state, log)
    return bad, total


def lost_by_two(faults: Any, forgets: Callable[[int], bool]) -> tuple[int, int]:
    """The same for a writer that acknowledges what another one, stopped at any point, has begun."""
    names: list[str] = []
    DiskStore("/store", Recorder(faults.model(), names)).put(A)
    bad = total = 0
    for at in range(len(names) + 1):
        fs, log = Dying(faults, at, forgets), Log()
        with contextlib.suppress(faults.stopped):
            DiskStore("/store", fs).put(A)
        second = Dying(faults, None, forgets)
        second.model = fs.model
        log.put(DiskStore("/store", second), A)
        for state in fs.model.crash_states():
            total += 1
            bad += not holds(state, log)
    return bad, total


def nothing(fd: int) -> bool:
    return False


def site() -> tuple[str, ...]:
    """Which line of the store asks for this fsync; in the shared function, on whose behalf."""
    frame = sys._getframe(1)
    found: list[str] = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(PACKAGE) and code.co_name != "sync":
            found.append(f"{code.co_filename.removeprefix(PACKAGE)}:{code.co_name}:{frame.f_lineno}")
            if code.co_name != "replace_file":
                break
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(found)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_what_was_acknowledged_survives_any_loss_of_power(faults: Any, scenario: Any) -> None:
    bad, total = lost(faults, scenario, nothing)

    assert bad == 0
    assert total > 20


def test_the_second_writer_of_an_object_acknowledges_only_what_is_durable(faults: Any) -> None:
    bad, total = lost_by_two(faults, nothing)

    assert bad == 0
    assert total > 50


def test_every_single_fsync_is_needed(faults: Any) -> None:
    sites: set[tuple[str, ...]] = set()

    def note(fd: int) -> bool:
        sites.add(site())
        return False

    for scenario in SCENARIOS:
        scenario(Dying(faults, None, note), Log())
    unneeded = []
    for target in sorted(sites):

        def forgets(fd: int, target: tuple[str, ...] = target) -> bool:
            return site() == target

        if not lost_by_two(faults, forgets)[0] and not any(lost(faults, s, forgets)[0] for s in SCENARIOS):
            unneeded.append(target)

    assert len(sites) >= 10
    assert unneeded == []


def test_acknowledging_what_is_already_present_without_syncing_it_loses_it(faults: Any) -> None:
    """The fault that the obvious implementation has; the model must be able to see it."""

    class Obvious(DiskStore):
        __slots__ = ()

        def put_many(self, objects: Any) -> list[str]:
            ids = [content_id(data) for data in objects]
            return ids if all(self.has(object_id) for object_id in ids) else super().put_many(objects)

    bad = 0
    for at in range(200):
        fs, log = Dying(faults, at, nothing), Log()
        with contextlib.suppress(faults.stopped):
            DiskStore("/store", fs).put(A)
        second = Dying(faults, None, nothing)
        second.model = fs.model
        log.put(Obvious("/store", second), A)
        bad += sum(not holds(state, log) for state in fs.model.crash_states())

    assert bad > 0
