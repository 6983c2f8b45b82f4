"""Canonical bytes and digest of a 3 KB record against the rfc8785 package, both in this run.

What counts is the ratio (in ``extra_info``), which does not depend on the machine. Nothing here asserts a
time. The peer is given the value ready made; ours starts from the record, or from the value.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from capsules import codec
from capsules.canonical import canonical_bytes
from capsules.content_id import content_id
from capsules.evidence import EvidenceCapsule

pytestmark = pytest.mark.benchmark_ratio

EVIDENCE = Path(__file__).parents[1] / "golden/v1/evidence.json"
CALLS, ROUNDS = 5, 300  # rounds of half a millisecond: some are undisturbed also on a busy machine


@pytest.fixture(scope="module")
def record() -> EvidenceCapsule:
    return codec.read_stored(EVIDENCE.read_bytes(), EvidenceCapsule)


def best_us(*calls: Callable[[], object]) -> list[float]:
    """Best microseconds of each call: the round that nothing else on the machine disturbed.

    Rounds are interleaved, so that drift hits all alike.
    """
    rounds = [[timeit.timeit(call, number=CALLS) / CALLS for call in calls] for _ in range(ROUNDS)]
    return [min(times) * 1e6 for times in zip(*rounds, strict=True)]


def compare(benchmark: Any, record: EvidenceCapsule, ours: Callable[[], object]) -> None:
    value = codec.to_value(record)

    def peer() -> str:
        return content_id(rfc8785.dumps(value))

    assert ours() == peer()
    own_us, peer_us = best_us(ours, peer)
    benchmark.extra_info.update(
        bytes=len(codec.preimage(record)), own_us=own_us, rfc8785_us=peer_us, ratio=peer_us / own_us
    )
    benchmark(ours)


def test_digest_of_a_valid_record(benchmark: Any, record: EvidenceCapsule) -> None:
    """The goal is 3: a record that exists is not validated again."""
    compare(benchmark, record, lambda: codec.digest_of(record))


def test_digest_of_any_value_with_all_checks(benchmark: Any, record: EvidenceCapsule) -> None:
    """The goal is 1.5: types, ranges, characters and depth of an unknown value are checked."""
    value = codec.to_value(record)
    compare(benchmark, record, lambda: content_id(canonical_bytes(value)))


def test_validated_record_and_its_digest(benchmark: Any, record: EvidenceCapsule) -> None:
    """Without a goal: on top, every field, order, reference and law of the record."""
    value = codec.to_value(record)
    compare(benchmark, record, lambda: codec.digest_of(codec.from_value(EvidenceCapsule, value)))


def test_strict_load_and_verify(benchmark: Any, record: EvidenceCapsule) -> None:
    """The goal is a median under 1 ms: parse, canonical form, digest, shape and laws."""
    data = codec.wire(record)
    assert benchmark(codec.read_wire, data, EvidenceCapsule) == record
    benchmark.extra_info.update(bytes=len(data), p50_us=benchmark.stats.stats.median * 1e6)
