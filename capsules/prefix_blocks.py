"""How many prompt tokens an engine will serve from its prefix cache, predicted from ids alone.

Rules that this module owns:

* A block is ``B`` consecutive token ids; only full blocks are cached. A block's key is chained:
  it stands for every id before it too, and for the salt at its root. Salts ``None``, missing and
  ``""`` are one name space.
* ``predicted = B * (number of leading full blocks whose keys are known, at most floor((n-1)/B))``:
  the last token of a prompt is always computed, so a repeat of ``k*B`` ids hits ``k-1`` blocks.
* A prompt's blocks are known from its submission where the scheduling is known (also to later
  requests of the same wave), else from its end. The blocks of the generated ids, without the last
  one, are known from its end.
* What cannot be known is null with a reason, never a guess, and unknown is never 0.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from struct import pack

from blake3 import blake3

from capsules.content_id import pae
from capsules.errors import SchemaError
from capsules.pointer import token as pointer_token

REASONS = ("concurrent_first", "engine.unknown", "evicted", "kv.hybrid", "preempted", "prompt_logprobs")

_ID_BYTES = 4
_MAX_ID = 2**32 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Predicted cached tokens, or ``None`` with one of :data:`REASONS`."""

    tokens: int | None
    reason: str | None = None


def block_keys(packed: bytes, block: int, salt: str | None) -> Iterator[bytes]:
    """Chained keys of the full blocks of packed ids (see :func:`pack_ids`), first block first."""
    key = blake3(pae("kv/v1", (salt or "").encode(), b"root")).digest()
    step = block * _ID_BYTES
    for start in range(0, len(packed) - step + 1, step):
        key = blake3(key + packed[start : start + step]).digest()
        yield key


def pack_ids(ids: Sequence[int]) -> bytes:
    """Token ids as unsigned 32-bit little-endian integers."""
    return pack(f"<{len(ids)}I", *ids)


class PrefixPredictor:
    """The blocks that an engine has computed since its last reset, and what they predict.

    Args:
        block_size: Tokens a block, read from the engine; ``None`` if it does not say.
        block_rule: Whether the plain block rule holds for the engine (see ``EngineInfo``).
        scheduling_known: Whether prompts are registered in submission order.
    """

    def __init__(
        self, block_size: int | None, *, block_rule: bool = True, scheduling_known: bool = True
    ) -> None:
        if block_size is not None and block_size < 1:
            raise ValueError(f"block_size: expected at least 1, found {block_size}")
        self._block = block_size
        self._scheduling_known = scheduling_known
        if block_size is None:
            self._static_reason: str | None = "engine.unknown"
        else:
            self._static_reason = None if block_rule else "kv.hybrid"
        self._known: set[bytes] = set()
        self._pending: dict[bytes, int] = {}
        self._lost: str | None = None

    def reset(self) -> None:
        """The engine's prefix cache was reset and the reset verified."""
        self._known.clear()
        self._pending.clear()
        self._lost = None

    def mark_lost(self, reason: str) -> None:
        """Blocks may have left the cache unseen (``evicted`` or ``preempted``): null until a reset."""
        if reason not in ("evicted", "preempted"):
            raise ValueError(f"reason: expected evicted or preempted, found {reason!r}")
        self._lost = self._lost or reason

    def predicted(
        self,
        ids: Sequence[int],
        salt: str | None = None,
        *,
        prompt_logprobs: bool = False,
        submitted: bool = False,
    ) -> Prediction:
        """What the engine will report as cached for a prompt sent now.

        Args:
            ids: The ids as sent, BOS included.
            salt: The cache salt.
            prompt_logprobs: The request asks for them, so the engine does not read its cache.
            submitted: ``add_prompt`` was called for it already, as for all of a wave whose order nobody
                knows: of two prompts that share a block, either may be the one that computes it.
        """
        reason = self._static_reason or self._lost or ("prompt_logprobs" if prompt_logprobs else None)
        if reason is not None or self._block is None:
            return Prediction(tokens=None, reason=reason)
        most = max(len(ids) - 1, 0) // self._block
        hits = 0
        for key in block_keys(pack_ids(ids[: most * self._block]), self._block, salt):
            if key not in self._known:
                if self._pending.get(key, 0) > submitted:
                    return Prediction(tokens=None, reason="concurrent_first")
                break
            hits += 1
        return Prediction(tokens=hits * self._block)

    def add_prompt(self, ids: Sequence[int], salt: str | None = None) -> None:
        """A prompt was submitted; call in submission order, after its own prediction.

        Where scheduling is unknown, call it for all prompts of a wave before any prediction (``submitted``).
        """
        for key in self._keys(ids, salt):
            if self._scheduling_known:
                self._known.add(key)
            else:
                self._pending[key] = self._pending.get(key, 0) + 1

    def add_finished(self, ids: Sequence[int], generated: Sequence[int], salt: str | None = None) -> None:
        """A request has finished: it leaves its ids and what it generated, but for the last id."""
        if not self._scheduling_known:
            for key in self._keys(ids, salt):
                left = self._pending.pop(key, 0) - 1
                if left > 0:
                    self._pending[key] = left
        self._known.update(self._keys((*ids, *generated[:-1]), salt))

    def _keys(self, ids: Sequence[int], salt: str | None) -> Iterator[bytes]:
        return iter(()) if self._block is None else block_keys(pack_ids(ids), self._block, salt)


class SharedPrefixes:
    """Longest common prefixes with earlier sequences, counted in tokens, before rounding to blocks.

    The sequence that shares the longest prefix with ``x`` stands next to where ``x`` would be
    sorted in, so two comparisons answer a question whatever the number of sequences.
    """

    def __init__(self) -> None:
        self._sequences: dict[str, list[bytes]] = {}

    def longest(self, packed: bytes, salt: str | None = None) -> int:
        """Tokens of the longest prefix that ``packed`` shares with a sequence of the same salt."""
        known = self._sequences.get(salt or "", [])
        at = bisect_left(known, packed)
        return max((_common(packed, other) for other in known[max(at - 1, 0) : at + 1]), default=0)

    def add(self, packed: bytes, salt: str | None = None) -> None:
        """Remember a sequence."""
        insort(self._sequences.setdefault(salt or "", []), packed)

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        return ((salt, packed) for salt, known in self._sequences.items() for packed in known)


def _common(left: bytes, right: bytes) -> int:
    low, high = 0, min(len(left), len(right))
    while low < high:  # the longest m with left[:m] == right[:m]
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low // _ID_BYTES


class CachedState:
    """What the earlier lines of ``python -m capsules cached`` left."""

    def __init__(self) -> None:
        self.shared = SharedPrefixes()
        self.known: dict[int, set[bytes]] = {}

    def blocks(self, size: int) -> set[bytes]:
        """Keys of all blocks of this size; a size seen for the first time knows all earlier lines."""
        if size not in self.known:
            self.known[size] = {key for salt, packed in self.shared for key in block_keys(packed, size, salt)}
        return self.known[size]


def cached_line(state: CachedState, value: object) -> dict[str, object]:
    """One line of ``python -m capsules cached``; it counts as finished before the next.

    Args:
        state: What earlier lines left; this line is added to it.
        value: The parsed line ``{"ids", "salt"?, "block", "generated"?}``.

    Returns:
        ``{"predicted", "shared_tokens"}``.

    Raises:
        SchemaError: The line has not that shape; the state is unchanged.
    """
    ids, generated, block, salt = _read_line(value)
    prompt = pack_ids(ids)
    known = state.blocks(block)
    most = max(len(ids) - 1, 0) // block
    hits = 0
    for key in block_keys(prompt[: most * block * _ID_BYTES], block, salt):
        if key not in known:
            break
        hits += 1
    answer: dict[str, object] = {
        "predicted": hits * block,
        "shared_tokens": state.shared.longest(prompt, salt),
    }
    left = prompt + pack_ids(generated[:-1])
    state.shared.add(left, salt)
    for size, keys in state.known.items():
        keys.update(block_keys(left, size, salt))
    return answer


_FIELDS = ("block", "generated", "ids", "salt")


def _read_line(value: object) -> tuple[list[int], list[int], int, str | None]:
    if not isinstance(value, dict):
        raise SchemaError("schema.field.type", f"expected an object, found {type(value).__name__}")
    for key in sorted(value):
        if key not in _FIELDS:
            raise SchemaError(
                "schema.field.unknown", f"expected {', '.join(_FIELDS)}", at=f"/{pointer_token(key)}"
            )
    for key in ("block", "ids"):
        if key not in value:
            raise SchemaError("schema.field.missing", "expected ids and block", at=f"/{key}")
    block, salt = value["block"], value.get("salt")
    if type(block) is not int:
        raise SchemaError("schema.field.type", f"expected int, found {type(block).__name__}", at="/block")
    if not 1 <= block <= _MAX_ID:
        raise SchemaError("schema.limit", f"expected 1 to {_MAX_ID}, found {block}", at="/block")
    if "salt" in value and not isinstance(salt, str):
        raise SchemaError("schema.field.type", f"expected str, found {type(salt).__name__}", at="/salt")
    return _read_ids(value["ids"], "/ids"), _read_ids(value.get("generated", []), "/generated"), block, salt


def _read_ids(value: object, at: str) -> list[int]:
    if not isinstance(value, list):
        raise SchemaError("schema.field.type", f"expected a list of int, found {type(value).__name__}", at=at)
    for i, token in enumerate(value):
        if type(token) is not int:  # not isinstance: true is no token id
            raise SchemaError(
                "schema.field.type", f"expected int, found {type(token).__name__}", at=f"{at}/{i}"
            )
        if not 0 <= token <= _MAX_ID:
            raise SchemaError("schema.limit", f"expected 0 to {_MAX_ID}, found {token}", at=f"{at}/{i}")
    return value
