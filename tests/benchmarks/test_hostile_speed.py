"""The dearest inputs below the caps: time for each MiB of what an enemy may send. Recorded, never asserted.

Whether they are refused with the right code is asserted in tests/capsules/test_threats.py.
"""

from __future__ import annotations

from typing import Any

import pytest

from capsules.canonical import parse_strict
from capsules.errors import CapsuleError

pytestmark = pytest.mark.benchmark_ratio

HOSTILE = {
    "a million nested arrays": b"[" * 1_000_000,
    "nested objects": b'{"a":' * 800_000,
    "two million integers": b"[" + b"0," * 2_000_000 + b"0]",
    "integers in arrays of 9,001": b"[" + b",".join([b"[" + b"0," * 9_000 + b"0]"] * 200) + b"]",
    "half a million objects": b"[" + b'{"a":0},' * 500_000 + b"0]",
    "300,000 keys": b"{" + b",".join(b'"k%d":0' % number for number in range(300_000)) + b"}",
    "600,000 escapes": b'"' + b"\\u0041" * 600_000 + b'"',
    "two million backslashes": b'"' + b"\\\\" * 2_000_000 + b'"',
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_the_strict_reader_on_hostile_input(benchmark: Any, data: bytes) -> None:
    """The slowest accepted 4 MB take below two seconds on an ordinary core."""

    def read() -> str:
        try:
            parse_strict(data)
        except CapsuleError as error:
            return error.code
        return "accepted"

    outcome = benchmark.pedantic(read, rounds=1)
    mib = len(data) / (1 << 20)
    benchmark.extra_info.update(
        mib=round(mib, 2), outcome=outcome, ms_per_mib=benchmark.stats.stats.median * 1e3 / mib
    )
