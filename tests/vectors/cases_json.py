"""Vectors of ``canonical`` and ``digest``: what is refused, and the exact bytes of what is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kit import World, stored, wire
from recipes import Vector

# name: (input, output, why); outputs written by hand after RFC 8785
ACCEPTED: dict[str, tuple[bytes, bytes, str]] = {
    "keys-sorted": (
        b'{"b": 1, "a": [true, null, false]}',
        b'{"a":[true,null,false],"b":1}',
        "keys sorted, no white space",
    ),
    "keys-utf16": (
        '{"\uf8ff":1,"\U0001d11e":2,"a":3}'.encode(),
        '{"a":3,"\U0001d11e":2,"\uf8ff":1}'.encode(),
        "keys in the order of UTF-16 code units: U+1D11E stands before U+F8FF",
    ),
    "string-escapes": (
        rb'"\u0041\/\b\f\n\r\t\u0000\u001f\"\\\u007f"',
        b'"A/\\b\\f\\n\\r\\t\\u0000\\u001f\\"\\\\\x7f"',
        "only quotation mark, backslash and controls stay escaped",
    ),
    "string-pair": (
        rb'"\ud834\udd1e"',
        '"\U0001d11e"'.encode(),
        "an escaped surrogate pair is one character",
    ),
    "no-normalization": (
        '["caf\u00e9","cafe\u0301"]'.encode(),
        '["caf\u00e9","cafe\u0301"]'.encode(),
        "strings are verbatim: composed and decomposed forms stay apart",
    ),
    "twin-keys": (
        '{"cafe\u0301":1,"caf\u00e9":2}'.encode(),
        '{"cafe\u0301":1,"caf\u00e9":2}'.encode(),
        "keys that are equal under NFC stay two keys",
    ),
    "greatest-integer": (
        b"[9007199254740991,-9007199254740991,0]",
        b"[9007199254740991,-9007199254740991,0]",
        "|n| = 2^53-1",
    ),
    "scalar": (b" true\n", b"true", "any JSON value, not only objects"),
    "empty-containers": (b'[ { } , [ ] , "" ]', b'[{},[],""]', "nothing inside"),
    "nested-order": (
        b'{"name":"find","args":{"q":"str","k":"int"}}',
        b'{"args":{"k":"int","q":"str"},"name":"find"}',
        "keys are sorted at every depth",
    ),
    "depth-32": (b"[" * 32 + b"]" * 32, b"[" * 32 + b"]" * 32, "32 containers inside each other are read"),
}

# code: {name: (input, pointer, why)}
REFUSED: dict[str, dict[str, tuple[bytes, str, str]]] = {
    "json.bom": {
        "bom": (b'\xef\xbb\xbf{"a":1}', "", "a byte order mark"),
    },
    "json.utf8.invalid": {
        "utf16": ('{"a":1}'.encode("utf-16-le"), "", "UTF-16 without a mark"),
        "utf16-mark": ('{"a":1}'.encode("utf-16"), "", "UTF-16 with its mark"),
        "overlong": (b'"\xc0\xaf"', "", "an overlong encoding of a slash"),
        "cesu": (b'"\xed\xa0\x80"', "", "an encoded surrogate"),
        "truncated-utf8": (b'"\xe2\x82', "", "a character cut in half"),
    },
    "json.constant": {
        "nan": (b'{"v":NaN}', "/v", "NaN is no JSON"),
        "infinity": (b"[-Infinity]", "/0", "Infinity is no JSON"),
    },
    "json.number.float": {
        "float": (b'{"v":1.0}', "/v", "1.0 would have two spellings"),
        "exponent": (b"[0,1e3]", "/1", "an exponent"),
        "exponent-huge": (b'{"v":1e999}', "/v", "1e999 parses to infinity elsewhere"),
    },
    "json.number.negative_zero": {
        "negative-zero": (b"-0", "", "-0 would have two spellings"),
    },
    "json.number.range": {
        "integer-2-53": (b'{"v":9007199254740992}', "/v", "2^53 is not exact everywhere"),
        "integer-negative": (b"[-9007199254740993]", "/0", "beyond -(2^53-1)"),
        "integer-5000-digits": (b"1" * 5000, "", "more digits than int() reads by default"),
    },
    "json.key.duplicate": {
        "duplicate-key": (b'{"id":1,"id":1}', "", "a key twice, even with equal values"),
        "duplicate-key-deep": (b'{"a":[{"x":1,"x":2}]}', "/a/0", "at any depth"),
        "duplicate-key-escaped": (rb'{"a":1,"\u0061":2}', "", "the same key, spelt with an escape"),
    },
    "json.string.surrogate": {
        "surrogate": (rb'{"a":"\ud800"}', "/a", "a lone surrogate in a value"),
        "surrogate-key": (rb'{"\udc00":1}', "", "a lone surrogate in a key"),
        "surrogate-order": (rb'["\udd1e\ud834"]', "/0", "a pair the wrong way round"),
    },
    "json.string.noncharacter": {
        "noncharacter": ('["\uffff"]'.encode(), "/0", "U+FFFF"),
        "noncharacter-block": ('["\ufdd0"]'.encode(), "/0", "U+FDD0"),
        "noncharacter-astral": (rb'["\ud83f\udffe"]', "/0", "U+1FFFE, escaped"),
    },
    "json.depth.exceeded": {
        "depth": (b"[" * 33 + b"]" * 33, "", "33 containers inside each other"),
        "depth-bomb": (b"[" * 100_000, "", "found before the parser recurses"),
    },
    "json.syntax": {
        "trailing-comma": (b"[1,]", "", "a trailing comma"),
        "trailing-text": (b"{} {}", "", "two values"),
        "single-quotes": (b"{'a':1}", "", "single quotes"),
        "comment": (b"[1] // one", "", "a comment"),
        "control-in-string": (b'"a\tb"', "", "a raw control character in a string"),
        "leading-zero": (b"[01]", "", "a leading zero"),
        "empty": (b"", "", "nothing at all"),
        "no-break-space": ("\u00a0[]".encode(), "", "U+00A0 is no white space of JSON"),
    },
}


def cases() -> Iterator[Vector]:
    """All of them."""
    for name, (data, output, why) in ACCEPTED.items():
        yield Vector(
            name=f"canonical-{name}", why=why, argv=("canonical",), files={"input": data}, output=output
        )
    for code, inputs in REFUSED.items():
        for name, (data, at, why) in inputs.items():
            yield _refused(f"canonical-{name}_fail", why, ("canonical",), code, at, files={"input": data})
    spaces = (" ", (4 << 20) + 1)
    yield _refused(
        "canonical-size_fail", "one byte over 4 MiB", ("canonical",), "bytes.size.exceeded", "", repeat=spaces
    )
    items = ("0,", 10_001)
    yield _refused(
        "canonical-items_fail",
        "no JSON, whatever its length",
        ("canonical",),
        "json.syntax",
        "",
        repeat=items,
    )
    yield from _digest()


def _refused(name: str, why: str, argv: tuple[str, ...], code: str, at: str, **more: Any) -> Vector:
    return Vector(
        name=name, why=why, argv=argv, codes=(code,), answers=({"code": code, "at": at},), exit=1, **more
    )


def _digest() -> Iterator[Vector]:
    capsule = World().seal().public
    argv = ("digest", "input")
    for name, data, why in (
        ("stored", stored(capsule), "of a stored capsule: b3sum of the file"),
        ("wire", wire(capsule), "of a wire form: the same, its digest is taken away first"),
        (
            "pretty",
            b'{ "digest" : "anything", "a" : 1 }\n',
            "of any JSON object: white space and digest do not matter",
        ),
        ("array", b'[{"digest":1}]', "a digest deeper inside is content"),
    ):
        yield Vector(name=f"digest-{name}", why=why, argv=argv, files={"input": data})
    yield Vector(
        name="digest-raw-empty",
        why="--raw of no bytes: BLAKE3 of the empty input",
        argv=("digest", "--raw", "input"),
        files={"input": b""},
        output=b"b3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262\n",
    )
    yield Vector(
        name="digest-raw-bytes",
        why="--raw hashes the bytes as they are, JSON or not",
        argv=("digest", "--raw", "input"),
        files={"input": b"\xff\xfe not JSON"},
    )
    yield Vector(
        name="digest-json",
        why="--json prints an object",
        argv=("digest", "--json", "input"),
        files={"input": b"{}"},
    )
    for name, data, code, at, why in (
        (
            "duplicate-key",
            b'{"digest":1,"digest":2}',
            "json.key.duplicate",
            "",
            "removing digest repairs nothing",
        ),
        ("float", b'{"digest":1.5}', "json.number.float", "/digest", "refused, though it would be removed"),
        ("syntax", b"b3:", "json.syntax", "", "no JSON"),
    ):
        yield _refused(f"digest-{name}_fail", why, argv, code, at, files={"input": data})
    yield Vector(
        name="digest-no-file_fail",
        why="a file that is not there: could not do it",
        argv=("digest", "absent"),
        exit=2,
    )
