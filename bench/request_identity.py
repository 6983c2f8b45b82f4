"""What a request is, as digests: of what is computed, of what it is for, and the salt of its cache.

Rules that this module owns:

* Salts are derived, never random: off none; cold one a request; primed and served one a (project, level);
  none for a provider that takes none.
* ``request_digest`` fixes what is computed (ids, sampling, salt, grammar), ``request_id`` what it is for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from bench.specs import SamplingSpec
from capsules.canonical import canonical_bytes
from capsules.content_id import content_id, derived_key


class _Digits(dict[int, str]):
    """The digits of each id met, at most a vocabulary of them: to look up is cheaper than to print again."""

    def __missing__(self, number: int) -> str:
        digits = self[number] = format(number, "d")
        return digits


_DIGITS = _Digits()


def ids_bytes(ids: Sequence[int]) -> bytes:
    """The stored form of token ids: a canonical JSON array."""
    return f"[{','.join(map(_DIGITS.__getitem__, ids))}]".encode()


def request_digest(
    ids_digest: str, sampling: SamplingSpec, salt: str | None, grammar: str | None = None
) -> str:
    """Identity of what is computed.

    Args:
        ids_digest: ContentId of the stored token ids.
        sampling: How tokens are drawn.
        salt: The cache salt.
        grammar: ContentId of the grammar; a request without one has no such key.
    """
    value = {
        "schema_id": "request/1",
        "ids": ids_digest,
        "sampling": {**dataclasses.asdict(sampling), "stop": list(sampling.stop)},
        "salt": salt,
    }
    if grammar is not None:
        value["grammar"] = grammar
    return content_id(canonical_bytes(value))


def request_id(cell_id: str, sample_id: str, phase: str, digest: str) -> str:
    """Identity of a request in a run."""
    value = {
        "schema_id": "request-id/1",
        "cell_id": cell_id,
        "sample_id": sample_id,
        "phase": phase,
        "request_digest": digest,
    }
    return content_id(canonical_bytes(value))


def salt_of(cell_id: str, cache: str, phase: str, project: str, level: str, sample_id: str) -> str | None:
    """The derived cache salt of a request: isolates cells, phases and labels; for cold each request."""
    if cache == "off":
        return None
    parts = [cell_id, phase, project, level] + ([sample_id] if cache == "cold" else [])
    return derived_key("salt/v1", *(part.encode("utf-8") for part in parts))
