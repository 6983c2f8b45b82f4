"""Numbers with their nouns, where people read them."""

from __future__ import annotations

import pytest

from bench.diff.sentences import omission_words
from bench.plural import number_of


@pytest.mark.parametrize(("count", "said"), [(0, "0 items"), (1, "1 item"), (2, "2 items"), (11, "11 items")])
def test_a_noun_fits_its_number(count: int, said: str) -> None:
    assert number_of(count, "item") == said


def test_thousands_may_be_set_apart() -> None:
    assert [number_of(n, "request", grouped=True) for n in (0, 1, 1200)] == [
        "0 requests",
        "1 request",
        "1,200 requests",
    ]


def test_an_omission_in_words() -> None:
    one = {"item": None, "count": 1, "reason": "visibility.denied", "tokens": 1, "required": False}
    assert omission_words(one) == "1 item (visibility.denied, 1 token)"
    assert omission_words(one | {"count": 2, "tokens": 7}) == "2 items (visibility.denied, 7 tokens)"
