"""Sources: raw bytes, decoded without loss."""

from __future__ import annotations

import gzip

import pytest

from capsules.content_id import content_id
from capsules.errors import ParseError, SchemaError
from capsules.source import MAX_SOURCE_BYTES, Origin, source_text


def test_sources_are_bytes_decoded_without_loss() -> None:
    data = "\ufeffcaf\u00e9\r\n\U0001f600".encode()
    source = source_text(data)
    assert (source.source, source.data) == (content_id(data), data)
    assert source.text == "\ufeffcaf\u00e9\r\n\U0001f600"
    assert source_text(b"").text == ""


def test_sources_that_are_no_text() -> None:
    with pytest.raises(ParseError, match=r"source\.utf8\.invalid: .* \(byte 3\)"):
        source_text(b"abc\xff")
    with pytest.raises(ParseError, match=r"source\.utf8\.invalid"):
        source_text(b"\xed\xa0\x80")


def test_a_source_holds_at_most_64_mib() -> None:
    assert MAX_SOURCE_BYTES == 64 * 1024 * 1024
    with pytest.raises(ParseError, match=r"bytes\.size\.exceeded: .* found 67108865"):
        source_text(bytes(MAX_SOURCE_BYTES + 1))


def test_a_compressed_source_stays_bytes() -> None:
    with pytest.raises(ParseError, match=r"source\.utf8\.invalid"):
        source_text(gzip.compress(b"0" * 1_000_000))


def test_origins_are_named() -> None:
    with pytest.raises(SchemaError) as caught:
        Origin(dataset="", row="1")
    assert (caught.value.code, caught.value.at) == ("schema.limit", "/dataset")
