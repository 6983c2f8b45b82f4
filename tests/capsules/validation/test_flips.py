"""No flipped bit and no cut passes a validation, in either form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from capsules.content_id import content_id
from capsules.validation import Given, validate

NOW = "2024-06-01T12:00:00Z"


def spoilt(data: bytes) -> Iterator[bytes]:
    """One flipped bit in every byte (another bit in the next), and every third prefix."""
    for at, byte in enumerate(data):
        yield data[:at] + bytes([byte ^ (1 << at % 8)]) + data[at + 1 :]
    yield from (data[:size] for size in range(0, len(data), 3))


@pytest.mark.parametrize("name", ["public", "prompt"])
def test_the_wire_form(kit: Any, world: Any, stored_in: Any, name: str) -> None:
    given = Given(now=NOW, store=stored_in(world))
    data = kit.wire(getattr(world, name))
    assert validate(data, given).valid

    found = [validate(bad, given) for bad in spoilt(data)]

    assert not any(report.valid for report in found)
    assert {report.stage_reached for report in found} == {"bytes", "parse"}


@pytest.mark.parametrize("name", ["public", "prompt"])
def test_the_stored_form_with_its_id(kit: Any, world: Any, stored_in: Any, name: str) -> None:
    given = Given(now=NOW, store=stored_in(world))
    data = kit.stored(getattr(world, name))
    assert validate(data, given, expect=content_id(data)).valid

    for bad in spoilt(data):
        assert validate(bad, given, expect=content_id(data)).codes() == ("bytes.digest.mismatch",)
