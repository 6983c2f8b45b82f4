"""Capsule names and the rule for parts that do not fit."""

from __future__ import annotations

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from capsules.errors import SchemaError
from capsules.names import capsule_id, is_capsule_id, name_part


def test_parts_that_fit_stay() -> None:
    assert capsule_id("demo", "xquad.en", "q-1_a", "prompt") == "demo:xquad.en:q-1_a:prompt"
    assert name_part("a" * 64) == "a" * 64


@pytest.mark.parametrize(
    "text", ["", "A", "-a", ".a", "_a", "a b", "a:b", "a/b", "..", "a\n", "caf\u00e9", "a" * 65, "a?"]
)
def test_other_parts_become_short_digests(text: str) -> None:
    assert name_part(text) == "x-" + blake3(text.encode()).hexdigest()[:16]


def test_a_surrogate_has_no_digest() -> None:
    with pytest.raises(SchemaError) as caught:
        name_part("Ab\ud800")
    assert caught.value.code == "json.string.surrogate"


NAMES = {
    "demo:dosage:q-1:prompt": True,
    "a:b:c:d": True,
    "0:1:2:3": True,
    "a:b:c": False,
    "a:b:c:d:e": False,
    "a:b:c:": False,
    "a:b:c:D": False,
    "a:b:c:d\n": False,
    "../a:b:c:d": False,
    "a:b:c:" + "d" * 65: False,
    "": False,
}


@pytest.mark.parametrize(("name", "holds"), NAMES.items())
def test_form(name: str, holds: bool) -> None:
    assert is_capsule_id(name) is holds


def test_other_types_are_no_names() -> None:
    assert not is_capsule_id(None)


@given(st.lists(st.text(), min_size=4, max_size=4))
def test_a_name_is_well_formed_for_any_text(texts: list[str]) -> None:
    assert is_capsule_id(capsule_id(*texts))
