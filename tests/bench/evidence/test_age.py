from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.build.candidates import Item
from bench.evidence.age import expiry, is_expired
from bench.specs import FreshnessSpec
from capsules.timestamp import parse_time

AS_OF, END = "2020-01-01T00:00:00Z", "2020-06-01T00:00:00Z"


@pytest.mark.parametrize(
    ("as_of", "expires_at", "days", "expected"),
    [
        (AS_OF, END, 1, END),  # the data knows better
        (AS_OF, None, 1, "2020-01-02T00:00:00Z"),
        (AS_OF, None, None, None),
        (None, None, 1, None),
        (AS_OF, None, 366, "2021-01-01T00:00:00Z"),
        ("9999-12-31T00:00:00Z", None, 9, "9999-12-31T23:59:59Z"),
    ],
)
def test_expiry(
    item_of: Callable[..., Item],
    as_of: str | None,
    expires_at: str | None,
    days: int | None,
    expected: str | None,
) -> None:
    doc = item_of("d", "text", as_of=as_of, expires_at=expires_at).doc
    assert expiry(doc, FreshnessSpec(max_age_days=days)) == expected


@pytest.mark.parametrize(("offset", "expired"), [(-1, False), (0, True), (1, True)])
def test_validity_is_half_open(item_of: Callable[..., Item], offset: int, expired: bool) -> None:
    doc = item_of("d", "text", expires_at=END).doc
    assert is_expired(doc, FreshnessSpec(), parse_time(END) + offset) == expired
