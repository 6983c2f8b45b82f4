"""The strict reader: a code of its own for each refusal, and JSONTestSuite."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsules.characters import refused_character, refused_position
from capsules.codes import kind_of
from capsules.errors import ParseError
from capsules.strict_json import parse_strict


def refusal(data: bytes, **limits: int) -> ParseError:
    with pytest.raises(ParseError) as caught:
        parse_strict(data, **limits)
    return caught.value


# data, code, pointer, byte: integrity's table of what stock readers let through, and more.
REFUSED = {
    "duplicate key": (b'{"a":1,"a":1}', "json.key.duplicate", "", None),
    "duplicate key inside": (b'{"x":[0,{"a":1,"b":2,"a":3}]}', "json.key.duplicate", "/x/1", None),
    "duplicate key by an escape": (b'{"a":1,"\\u0061":2}', "json.key.duplicate", "", None),
    "duplicate key, astral by a pair": (
        '{"\U0001f600":1,"\\ud83d\\ude00":2}'.encode(),
        "json.key.duplicate",
        "",
        None,
    ),
    "duplicate empty key": (b'{"":1,"":2}', "json.key.duplicate", "", None),
    "NaN": (b'{"a":NaN}', "json.constant", "/a", None),
    "Infinity": (b"[Infinity]", "json.constant", "/0", None),
    "-Infinity": (b"-Infinity", "json.constant", "", None),
    "1.0": (b"[1.0]", "json.number.float", "/0", None),
    "1e3": (b"[1e3]", "json.number.float", "/0", None),
    "1E400": (b"[1E400]", "json.number.float", "/0", None),
    "1e999": (b'{"v":1e999}', "json.number.float", "/v", None),
    "-0.0": (b"[-0.0]", "json.number.float", "/0", None),
    "-0": (b'[{"k":-0}]', "json.number.negative_zero", "/0/k", None),
    "2^53": (b"[9007199254740992]", "json.number.range", "/0", None),
    "-2^53": (b"[-9007199254740992]", "json.number.range", "/0", None),
    "2^53+1": (b"[9007199254740993]", "json.number.range", "/0", None),
    "5,000 digits": (b'{"n":' + b"1" * 5_000 + b"}", "json.number.range", "/n", None),
    "10^6 digits": (b"[" + b"9" * 1_000_000 + b"]", "json.number.range", "/0", None),
    "lone high surrogate": (b'["\\ud800"]', "json.string.surrogate", "/0", None),
    "lone low surrogate": (b'["a\\udfffb"]', "json.string.surrogate", "/0", None),
    "surrogates in the wrong order": (b'["\\udc00\\ud800"]', "json.string.surrogate", "/0", None),
    "surrogate in a key": (b'{"k":{"\\ud800":1}}', "json.string.surrogate", "/k", None),
    "noncharacter": ('["\ufdd0"]'.encode(), "json.string.noncharacter", "/0", None),
    "noncharacter U+FFFF by an escape": (b'["\\uffff"]', "json.string.noncharacter", "/0", None),
    "noncharacter U+10FFFE": ('["\U0010fffe"]'.encode(), "json.string.noncharacter", "/0", None),
    "noncharacter by a pair": (b'["\\ud83f\\udffe"]', "json.string.noncharacter", "/0", None),
    "noncharacter in a key": ('[{"\ufffe":1}]'.encode(), "json.string.noncharacter", "/0", None),
    "surrogate before noncharacter": ('["\\ud800\uffff"]'.encode(), "json.string.surrogate", "/0", None),
    "noncharacter before surrogate": ('["\uffff\\ud800"]'.encode(), "json.string.noncharacter", "/0", None),
    "key with a slash in the pointer": (b'{"a/b~c":[NaN]}', "json.constant", "/a~1b~0c/0", None),
    "encoded surrogate": (b'["\xed\xa0\x80"]', "json.utf8.invalid", "", 2),
    "overlong": (b'["\xc0\xaf"]', "json.utf8.invalid", "", 2),
    "beyond Unicode": (b'["\xf4\x90\x80\x80"]', "json.utf8.invalid", "", 2),
    "cut character": (b'["\xe2\x82', "json.utf8.invalid", "", 2),
    "Latin-1": (b'["caf\xe9"]', "json.utf8.invalid", "", 5),
    "UTF-16 with BOM": ("[]".encode("utf-16"), "json.utf8.invalid", "", 0),
    "UTF-16-LE": ("[]".encode("utf-16-le"), "json.utf8.invalid", "", 0),
    "UTF-16-BE": ("[]".encode("utf-16-be"), "json.utf8.invalid", "", 0),
    "UTF-32": ("[]".encode("utf-32-be"), "json.utf8.invalid", "", 0),
    "BOM": (b"\xef\xbb\xbf{}", "json.bom", "", 0),
    "BOM alone": (b"\xef\xbb\xbf", "json.bom", "", 0),
    "nothing": (b"", "json.syntax", "", 0),
    "white space": (b" \n", "json.syntax", "", 2),
    "trailing text": (b"{} x", "json.syntax", "", 3),
    "trailing comma": ('["\u00e9",]'.encode(), "json.syntax", "", 6),
    "two values": (b"1 2", "json.syntax", "", 2),
    "single quotes": (b"['a']", "json.syntax", "", 1),
    "control character in a string": (b'["a\x1fb"]', "json.syntax", "", 3),
    "leading zero": (b"[01]", "json.syntax", "", 2),
    "plus sign": (b"[+1]", "json.syntax", "", 1),
    "comment": (b"[1]//", "json.syntax", "", 3),
    "NUL": (b"[1]\x00", "json.syntax", "", 3),
    "no-break space": ("[1,\u00a02]".encode(), "json.syntax", "", 3),
    "33 deep": (b"[" * 33 + b"]" * 33, "json.depth.exceeded", "", 32),
    "10^5 deep": (b"[" * 100_000, "json.depth.exceeded", "", 32),
    "10^6 deep, objects": (b'{"a":' * 800_000, "json.depth.exceeded", "", 160),
    "deep after brackets in strings": (
        b'["]]]]\\"]]]",' + b"[" * 32 + b"]" * 33,
        "json.depth.exceeded",
        "",
        44,
    ),
    "deep after escaped backslashes": (
        b'["\\\\","]]]]","\\\\\\"]]",' + b"[" * 32 + b"]" * 33,
        "json.depth.exceeded",
        "",
        53,
    ),
    "deep only in a string that does not end": (b'"' + b"[" * 40, "json.syntax", "", 0),
    "deep only after a backslash": (b'\\"' + b"[" * 40 + b'"', "json.syntax", "", 0),
    "the same, ending in a backslash": (b'"' + b"[" * 40 + b"\\", "json.syntax", "", 0),
    "too many items": (b"[" + b"0," * 10_000 + b"0]", "schema.limit", "", None),
    "too many items inside": (b'{"a":[' + b"0," * 10_000 + b"0]}", "schema.limit", "/a", None),
    "too large": (b"[" + b" " * (4 << 20) + b"]", "bytes.size.exceeded", "", None),
}


@pytest.mark.parametrize(("data", "code", "at", "position"), REFUSED.values(), ids=REFUSED.keys())
def test_each_refusal_has_its_code_and_place(data: bytes, code: str, at: str, position: int | None) -> None:
    error = refusal(data)
    assert (error.code, error.at, error.position) == (code, at, position)
    assert kind_of(error.code) == "failure"


ACCEPTED = {
    "largest": (b"[9007199254740991,-9007199254740991,0]", [9007199254740991, -9007199254740991, 0]),
    "32 deep": (b"[" * 32 + b"]" * 32, None),
    "10,000 items": (b"[" + b"0," * 9_999 + b"0]", [0] * 10_000),
    "10,000 items, looked at": (b"[" + b"0," * 9_999 + b'"\\u0041"]', [0] * 9_999 + ["A"]),
    "commas outside of an array": (b'"' + b"," * 20_000 + b'"', "," * 20_000),
    "brackets in a string": (b'"' + b"[" * 50 + b'"', "[" * 50),
    "escaped quotes around brackets": (b'["\\"' + b"[" * 50 + b'\\"", "\\\\"]', ['"' + "[" * 50 + '"', "\\"]),
    "pair": (b'"\\ud83d\\ude00"', "\U0001f600"),
    "Hangul, which begins like a surrogate": ("\"\ud7ff\ud7a3\"".encode(), "\ud7ff\ud7a3"),
    "U+FEFF inside": ('"\ufeff"'.encode(), "\ufeff"),
    "beside noncharacters": ('"\ufffd\U0001fffd\ufdcf\ufdf0"'.encode(), "\ufffd\U0001fffd\ufdcf\ufdf0"),
    "unassigned": ('"\u0378\U000e0080"'.encode(), "\u0378\U000e0080"),
    "private use": ('"\ue000\U0010fffd"'.encode(), "\ue000\U0010fffd"),
    "NFC and NFD keys stay two": ('{"caf\u00e9":1,"cafe\u0301":2}'.encode(), {"caf\xe9": 1, "cafe\u0301": 2}),
    "white space around": (b" \t\r\n{ \"a\" : [ ] }\n", {"a": []}),
    "escapes": (b'"\\u0000\\/\\b\\u001f"', "\0/\b\x1f"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "value"), ACCEPTED.values(), ids=ACCEPTED.keys())
def test_what_is_strict_json_is_read_as_it_stands(data: bytes, value: object) -> None:
    expected = json.loads(data) if value is None else value
    assert parse_strict(data) == expected


def test_limits_are_the_callers() -> None:
    assert parse_strict(b"[[[]]]", max_bytes=6, max_depth=3, max_items=1) == [[[]]]
    assert refusal(b"[[[]]] ", max_bytes=6).code == "bytes.size.exceeded"
    assert refusal(b"[[[]]]", max_depth=2).code == "json.depth.exceeded"
    assert refusal(b"[0,0]", max_items=1).code == "schema.limit"
    assert parse_strict(b"[0,0]", max_items=2) == [0, 0]


def test_an_object_has_no_cap_on_its_members() -> None:
    members = {f"k{index}": index for index in range(10_001)}
    assert parse_strict(json.dumps(members).encode()) == members  # noqa: TID251 - any spelling will do


def test_the_first_refusal_in_document_order_is_named() -> None:
    assert refusal(b'{"b":[1.5],"a":NaN}').at == "/b/0"


def test_messages_hold_no_content() -> None:
    for data in (b'{"canary":"canary\\ud800"}', b'{"canary":1,"canary":2}', b'["canary" x]'):
        assert "canary" not in refusal(data).message


def test_json_test_suite(capsule_data: Path) -> None:
    """Of the suite, all n_ and i_ are refused and 68 of 95 y_ accepted; nothing else is raised."""
    outcomes: Counter[tuple[str, str]] = Counter()
    refused: Counter[tuple[str, str]] = Counter()
    for path in sorted((capsule_data / "jsontestsuite/test_parsing").iterdir()):
        kind = path.name[0]
        try:
            parse_strict(path.read_bytes())
        except ParseError as error:
            outcomes[kind, "refused"] += 1
            refused[kind, error.code] += 1
        else:
            outcomes[kind, "accepted"] += 1
    assert outcomes == {
        ("n", "refused"): 188,
        ("i", "refused"): 35,
        ("y", "accepted"): 68,
        ("y", "refused"): 27,
    }
    assert {kind_of(code) for _, code in refused} == {"failure"}
    assert {code: count for (kind, code), count in refused.items() if kind == "y"} == {
        "json.number.float": 15,
        "json.number.negative_zero": 2,
        "json.key.duplicate": 2,
        "json.string.noncharacter": 8,
    }


json_like = st.text(alphabet='[]{}",:\\0123456789.eE-+ntfu \u00e9\U0001f600').map(str.encode)


@given(st.binary(max_size=60) | json_like)
def test_any_bytes_are_read_or_refused_with_a_code(data: bytes) -> None:
    try:
        value: object = parse_strict(data)
        expected: object = json.loads(data)
    except ParseError as error:
        value, expected = kind_of(error.code), "failure"
    assert value == expected


def test_refused_code_points_are_exactly_surrogates_and_noncharacters() -> None:
    refused = {code for code in range(0x110000) if refused_character(chr(code)) is not None}
    surrogates = set(range(0xD800, 0xE000))
    planes = {plane << 16 | last for plane in range(17) for last in (0xFFFE, 0xFFFF)}
    assert refused == surrogates | planes | set(range(0xFDD0, 0xFDF0))
    assert {refused_character(chr(code)) for code in surrogates} == {"json.string.surrogate"}


def test_the_place_of_a_refused_code_point() -> None:
    assert refused_position("ab\ufdd0\ud800") == 2
    assert refused_position("clean \ufffd") == -1
    assert refused_character("\U0003ffff \ud800") == "json.string.noncharacter"
    assert refused_character("\u7fff\ud55c") is None  # bytes that only look like refused ones
