"""ContentIds, the pre-authentication encoding, and the BLAKE3 vectors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from capsules.content_id import content_id, derived_key, is_content_id, pae, require_content_id
from capsules.errors import SchemaError

# BLAKE3 of the empty input, from the algorithm's own vectors.
EMPTY = "b3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"


def test_the_id_of_nothing() -> None:
    assert content_id(b"") == EMPTY


def test_blake3_vectors(capsule_data: Path) -> None:
    cases = json.loads((capsule_data / "blake3/test_vectors.json").read_bytes())["cases"]
    assert len(cases) == 35
    for case in cases:
        data = bytes(index % 251 for index in range(case["input_len"]))
        assert content_id(data) == "b3:" + case["hash"][:64]


def test_line_ends_are_content() -> None:
    # Field case C07.
    assert content_id(b'{"id":1}\n{"id":2}\n').startswith("b3:79a067502a34a7af")
    assert content_id(b'{"id":1}\r\n{"id":2}\r\n').startswith("b3:22c5e345babab9be")


MALFORMED = {
    "empty": "",
    "no prefix": EMPTY[3:],
    "upper-case hex": "b3:" + EMPTY[3:].upper(),
    "upper-case prefix": "B3:" + EMPTY[3:],
    "a digit short": EMPTY[:-1],
    "a digit long": EMPTY + "0",
    "newline at the end": EMPTY + "\n",
    "newline before": "\n" + EMPTY,
    "carriage return at the end": EMPTY + "\r",
    "NUL at the end": EMPTY + "\0",
    "space inside": EMPTY[:10] + " " + EMPTY[11:],
    "no hex": EMPTY[:-1] + "g",
    "Arabic digits": "b3:" + "\u0660" * 64,
    "full-width digits": "b3:" + "\uff10" * 64,
    "another algorithm": "sha256:" + EMPTY[3:],
    "path up": "b3:" + "../" * 21 + "a",
    "absolute path": "/" + EMPTY,
    "question mark": EMPTY + "?",
    "300 characters": "b3:" + "0" * 297,
    "dash for colon": "b3-" + EMPTY[3:],
}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED.keys())
def test_what_is_no_content_id(text: str) -> None:
    assert not is_content_id(text)
    with pytest.raises(SchemaError) as caught:
        require_content_id(text, "/id")
    assert (caught.value.code, caught.value.at) == ("id.malformed", "/id")


@pytest.mark.parametrize("value", [None, 3, b"b3:", ["b3:"], EMPTY.encode()])
def test_other_types_are_no_content_ids(value: object) -> None:
    assert not is_content_id(value)


def test_a_content_id_is_returned_unchanged() -> None:
    assert is_content_id(EMPTY)
    assert require_content_id(EMPTY) == EMPTY


def test_pae_writes_the_length_of_each_part() -> None:
    assert pae("kv/v1") == b"CAPS1 5 kv/v1"
    assert pae("kv/v1", b"ab", b"", b"c d") == b"CAPS1 5 kv/v1 2 ab 0  3 c d"
    assert pae("\u00e9", b"x") == b"CAPS1 2 \xc3\xa9 1 x"  # lengths are bytes


def test_fields_do_not_mix() -> None:
    # Field case C08: two splits of one text, and one text in two roles.
    keys = {
        derived_key("kv/v1", b"ab", b"c"),
        derived_key("kv/v1", b"a", b"bc"),
        derived_key("kv/v1", b"abc"),
        derived_key("kv/v1", b"abc", b""),
        derived_key("kv/v2", b"ab", b"c"),
        derived_key("adapter", b"x"),
        derived_key("salt", b"x"),
    }
    assert len(keys) == 7


def test_a_derived_key_is_the_id_of_its_encoding() -> None:
    assert derived_key("salt/v1", b"cell") == "b3:" + blake3(b"CAPS1 7 salt/v1 4 cell").hexdigest()


parts = st.tuples(st.text(), st.lists(st.binary(), max_size=4))


@given(parts, parts)
def test_pae_is_injective(one: tuple[str, list[bytes]], other: tuple[str, list[bytes]]) -> None:
    assert (pae(one[0], *one[1]) == pae(other[0], *other[1])) == (one == other)
