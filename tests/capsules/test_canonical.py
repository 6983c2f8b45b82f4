"""Canonical bytes: RFC 8785 over integers, byte for byte."""

from __future__ import annotations

import enum
import json
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from capsules.canonical import canonical_bytes, parse_strict, require_canonical
from capsules.content_id import content_id
from capsules.errors import CapsuleError, ParseError, SchemaError

MAX = 2**53 - 1


def refusal(value: object) -> CapsuleError:
    with pytest.raises(CapsuleError) as caught:
        canonical_bytes(value)
    return caught.value


def test_rfc_8785_vectors(capsule_data: Path) -> None:
    """Four of the six vectors are in our subset; the two with floats are refused as such."""
    folder = capsule_data / "rfc8785-jcs"
    outcomes = {}
    for path in sorted((folder / "input").iterdir()):
        try:
            outcomes[path.stem] = (
                canonical_bytes(parse_strict(path.read_bytes()))
                == (folder / "output" / path.name).read_bytes()
            )
        except ParseError as error:
            outcomes[path.stem] = error.code
    assert outcomes == {
        "arrays": True,
        "french": True,
        "structures": "json.number.float",
        "unicode": True,
        "values": "json.number.float",
        "weird": True,
    }


def test_key_order_of_the_writer_does_not_matter() -> None:
    # Field case A10.
    one = parse_strict(b'{"name":"find","args":{"q":"str","k":"int"}}')
    other = parse_strict(b'{"args":{"k":"int","q":"str"},"name":"find"}')
    expected = b'{"args":{"k":"int","q":"str"},"name":"find"}'
    assert canonical_bytes(one) == canonical_bytes(other) == expected
    digest = "d3f53d687d3ba9eeef5efce66d0c75af86af6829d94159d95b508e8059165d45"
    assert content_id(expected) == f"b3:{digest}"


def test_the_order_of_a_list_is_meaning() -> None:
    assert canonical_bytes(["a", "b"]) != canonical_bytes(["b", "a"])


def test_keys_sort_by_utf_16_units() -> None:
    # Field case A15: U+1D11E is D834 DD1E in UTF-16, which is before U+F8FF.
    data = canonical_bytes({"\uf8ff": 1, "\U0001d11e": 2, "a": 3})
    assert data == '{"a":3,"\U0001d11e":2,"\uf8ff":1}'.encode()
    assert content_id(data).startswith("b3:01d2947a8216e1f1")
    by_code_point = '{"a":3,"\uf8ff":1,"\U0001d11e":2}'.encode()
    assert content_id(by_code_point).startswith("b3:ca492ec647c31bd1")


def test_keys_sort_at_every_depth_also_beside_ascii_ones() -> None:
    inner = {"\uf8ff": 1, "\U0001d11e": 2}
    expected = '{"b":[{"\U0001d11e":2,"\uf8ff":1}],"c":0}'.encode()
    assert canonical_bytes({"c": 0, "b": [inner]}) == expected
    assert canonical_bytes({"c": 0, "b": (inner,)}) == expected


def test_nfc_and_nfd_keys_stay_two() -> None:
    # Field case C12.
    value = {"caf\u00e9": 1, "cafe\u0301": 2}
    assert canonical_bytes(value) == '{"cafe\u0301":2,"caf\u00e9":1}'.encode()


def test_floats_are_refused_though_rfc_8785_writes_them() -> None:
    # Field case A16: the bytes are the oracle's; ours has no floats at all.
    value = {"n": [-0.0, 1.0, 1e16, 1e-7, 1e21, 0.1 + 0.2]}
    data = b'{"n":[0,1,10000000000000000,1e-7,1e+21,0.30000000000000004]}'
    assert rfc8785.dumps(value) == data
    assert content_id(data).startswith("b3:b62d061fe96f00e2")
    assert (refusal(value).code, refusal(value).at) == ("json.number.float", "/n/0")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf"), -0.0, 1.0])
def test_every_float_is_refused(number: float) -> None:
    assert refusal(number).code == "json.number.float"


def test_integers_up_to_2_53_minus_1() -> None:
    assert canonical_bytes([MAX, -MAX, 0]) == b"[9007199254740991,-9007199254740991,0]"


@pytest.mark.parametrize(
    "number", [2**53, 2**53 + 1, -(2**53), 10**5000], ids=["2^53", "2^53+1", "-2^53", "10^5000"]
)
def test_larger_integers_are_refused_and_never_rounded(number: int) -> None:
    error = refusal({"a": [0, number]})
    assert (error.code, error.at) == ("json.number.range", "/a/1")


def test_sets_are_refused_and_a_sorted_list_has_one_digest() -> None:
    # Field case A17.
    assert refusal({"alpha", "beta"}).code == "schema.field.type"
    digest = "ef8602803c471549811e2c378138726a358921c3e09576fe3e811b0231cdff28"
    assert content_id(canonical_bytes(sorted({"alpha", "beta", "gamma", "delta", "eps"}))) == f"b3:{digest}"


class Number(enum.IntEnum):
    ONE = 1


class Word(str):
    pass


STRANGE: dict[str, Any] = {
    "bytes": b"a",
    "set": {1},
    "generator": iter([1]),
    "IntEnum": Number.ONE,
    "str subclass": Word("a"),
    "dict subclass": OrderedDict(a=1),
    "object": object(),
    "complex": 1j,
}


@pytest.mark.parametrize("value", STRANGE.values(), ids=STRANGE.keys())
def test_other_types_are_refused_where_they_stand(value: object) -> None:
    with pytest.raises(SchemaError) as caught:
        canonical_bytes({"k": [None, value]})
    assert (caught.value.code, caught.value.at) == ("schema.field.type", "/k/1")


def test_keys_that_are_no_strings_are_refused() -> None:
    # json.dumps would write the key "1" twice.
    error = refusal({"k": {1: 0, "1": 0}})
    assert (error.code, error.at) == ("schema.field.type", "/k")


def test_a_cycle_is_too_deep() -> None:
    cycle: list[object] = []
    cycle.append(cycle)
    assert refusal(cycle).code == "json.depth.exceeded"


def test_depth_is_counted_as_in_the_reader() -> None:
    value: object = 0
    for _ in range(32):
        value = [value]
    assert canonical_bytes(value) == b"[" * 32 + b"0" + b"]" * 32
    assert refusal({"a": value}).code == "json.depth.exceeded"


BAD_STRINGS: dict[str, tuple[object, str, str]] = {
    "surrogate": (["a", "\ud800"], "json.string.surrogate", "/1"),
    "surrogate in a key": ({"a": {"\udc00": 1}}, "json.string.surrogate", "/a"),
    "surrogate in a key beside others": ({"\u00e9": 1, "\ud800": 1}, "json.string.surrogate", ""),
    "noncharacter": ({"a": ("\uffff",)}, "json.string.noncharacter", "/a/0"),
    "noncharacter in a key": ({"\U0001fffe": 1}, "json.string.noncharacter", ""),
}


@pytest.mark.parametrize(("value", "code", "at"), BAD_STRINGS.values(), ids=BAD_STRINGS.keys())
def test_refused_characters(value: object, code: str, at: str) -> None:
    assert (refusal(value).code, refusal(value).at) == (code, at)


def test_every_character_is_escaped_as_rfc_8785_says() -> None:
    text = "".join(map(chr, range(0x100))) + '\u2028\u2029\ufeff\ufffd\U0001f600\\"/'
    assert canonical_bytes(text) == rfc8785.dumps(text)
    assert canonical_bytes('\x00\x08\t\n\x0b\x0c\r\x1f\x7f"\\/') == (
        b'"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\x7f\\"\\\\/"'
    )


def test_bytes_that_only_look_like_refused_ones_pass() -> None:
    text = "\u7fff\ud55c\ufdf0\ufffd"
    assert canonical_bytes(text) == f'"{text}"'.encode()
    assert canonical_bytes({text: [text, 1, (None,)]}) == f'{{"{text}":["{text}",1,[null]]}}'.encode()


NONCANONICAL = {
    "white space": (b'{"a": 1}', 5),
    "newline at the end": (b'{"a":1}\n', 7),
    "key order": (b'{"b":1,"a":2}', 2),
    "escaped letter": (b'"\\u0041"', 1),
    "escaped slash": (b'"\\/"', 1),
    "upper-case escape": (b'"\\u001F"', 6),
    "escape for a short form": (b'"\\u000a"', 2),
    "escaped astral": (b'"\\ud83d\\ude00"', 1),
}


@pytest.mark.parametrize(("data", "position"), NONCANONICAL.values(), ids=NONCANONICAL.keys())
def test_another_spelling_is_never_repaired(data: bytes, position: int) -> None:
    with pytest.raises(ParseError) as caught:
        require_canonical(data, parse_strict(data))
    assert (caught.value.code, caught.value.position) == ("json.noncanonical", position)


def test_the_canonical_spelling_is_accepted() -> None:
    require_canonical(b'{"a":[1,null,true,"\xc3\xa9"]}', {"a": [1, None, True, "\u00e9"]})


characters = st.characters(exclude_categories=["Cs"]).filter(
    lambda c: not (0xFDD0 <= ord(c) <= 0xFDEF or ord(c) & 0xFFFE == 0xFFFE)
)
strings = st.text(characters)
keys = strings | st.sampled_from("ab\u00e9\uf8ff\U0001d11e")
values = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX, MAX) | strings,
    lambda inner: st.lists(inner) | st.dictionaries(keys, inner),
    max_leaves=20,
)


@given(values)
def test_byte_equal_to_the_rfc8785_package(value: object) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)


@given(values)
def test_reading_back_gives_the_same_value_and_the_same_bytes(value: object) -> None:
    data = canonical_bytes(value)
    read = parse_strict(data)
    assert read == value
    require_canonical(data, read)


@given(values, st.randoms(use_true_random=False))
def test_any_spelling_of_a_value_has_one_canonical_form(value: object, random: Any) -> None:
    def shuffled(item: object) -> object:
        if isinstance(item, dict):
            keys = list(item)
            random.shuffle(keys)
            return {key: shuffled(item[key]) for key in keys}
        return [shuffled(each) for each in item] if isinstance(item, list) else item

    encoder = json.JSONEncoder(indent=random.choice([None, 1]), ensure_ascii=random.choice([True, False]))
    assert canonical_bytes(parse_strict(encoder.encode(shuffled(value)).encode())) == canonical_bytes(value)
