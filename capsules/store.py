"""Content-addressed stores: what they promise, and the one that lives in memory.

* The id of an object is the BLAKE3 of its bytes; the stored bytes are exactly the hashed bytes.
* ``put`` returns only when the object survives whatever the store promises to survive.
* ``get`` hashes what it read and hands on those very bytes as ``VerifiedBytes``. An instance of
  that type cannot exist with other bytes, so nobody needs to read (or trust) the file again.
* A malformed id is refused before anything is looked up.

Implementations: ``MemoryStore`` here, ``capsules.disk_store.DiskStore`` on disk.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from capsules.content_id import content_id, require_content_id
from capsules.errors import StoreError

MAX_OBJECT_BYTES = 64 << 20


class UnusableStoreError(StoreError):
    """The store itself refuses (its folder, its FORMAT), whichever object was asked for."""


class DigestMismatchError(StoreError):
    """Stored bytes have another id than the one that they are stored under.

    Attributes:
        actual: The id that they have.
    """

    def __init__(self, expected: str, actual: str) -> None:
        super().__init__("bytes.digest.mismatch", f"expected {expected}, found bytes of {actual}")
        self.actual = actual


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedBytes:
    """Bytes together with the id that they were found to have.

    Attributes:
        id: ContentId of ``data``.
        data: The bytes.

    Raises:
        DigestMismatchError: On construction with bytes of another id.
    """

    id: str
    data: bytes

    def __post_init__(self) -> None:
        actual = content_id(self.data)
        if actual != self.id:
            raise DigestMismatchError(self.id, actual)


class Store(Protocol):
    """Where sealed records, sources and token ids live."""

    def put(self, data: bytes) -> str:
        """Stores an object and returns its id; storing it again is no error."""
        ...

    def put_many(self, objects: Iterable[bytes]) -> list[str]:
        """Stores many and returns their ids in order; all are safe when it returns."""
        ...

    def get(self, object_id: str, *, max_bytes: int | None = None) -> VerifiedBytes:
        """Reads and verifies an object.

        Raises:
            StoreError: ``id.malformed``, ``object.missing``, ``bytes.digest.mismatch``,
                ``bytes.size.exceeded`` (above ``max_bytes``, by default 64 MiB) or ``store.*``.
        """
        ...

    def has(self, object_id: str) -> bool:
        """Whether an object is there, unread: only ``get`` says that it is whole."""
        ...


class MemoryStore:
    """A store that lasts as long as the process."""

    __slots__ = ("_objects",)

    def __init__(self) -> None:
        self._objects: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        """Keeps an object."""
        object_id = content_id(data)
        self._objects[object_id] = bytes(data)
        return object_id

    def put_many(self, objects: Iterable[bytes]) -> list[str]:
        """Keeps many objects."""
        return [self.put(data) for data in objects]

    def get(self, object_id: str, *, max_bytes: int | None = None) -> VerifiedBytes:
        """Returns an object, hashed again as every store does."""
        require_content_id(object_id, "")
        data = self._objects.get(object_id)
        if data is None:
            raise missing(object_id)
        check_size(object_id, len(data), max_bytes)
        return VerifiedBytes(id=object_id, data=data)

    def has(self, object_id: str) -> bool:
        """Whether the object was kept."""
        require_content_id(object_id, "")
        return object_id in self._objects


def missing(object_id: str) -> StoreError:
    """The error for an object that is not there."""
    return StoreError("object.missing", f"expected object {object_id}, found none in the store")


def check_size(name: str, size: int, max_bytes: int | None) -> None:
    """Refuses what is larger than the reader's cap.

    Raises:
        StoreError: ``bytes.size.exceeded``.
    """
    limit = MAX_OBJECT_BYTES if max_bytes is None else max_bytes
    if size > limit:
        raise StoreError("bytes.size.exceeded", f"expected at most {limit} bytes, found {size} in {name}")
