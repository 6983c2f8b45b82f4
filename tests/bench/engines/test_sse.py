"""Server-sent events: lines, comments, fields; and the same events however the bytes are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.engines.sse import EventParser

STREAM = (
    b"\xef\xbb\xbf: a comment\n\ndata: one\n\nevent: x\r\nid: 7\r\ndata:two\r\ndata: and\r\n"
    b"data:  more\r\n\r\ndata\n\nretry: 5\n\ndata: \xc3\xa9\xe2\x82\xac\r\rdata: never ended"
)
EVENTS = ["one", "two\nand\n more", "", "é€"]


def test_every_rule_of_the_format() -> None:
    assert EventParser().feed(STREAM) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=40))
def test_the_events_are_the_same_however_the_bytes_arrive(cuts: list[int]) -> None:
    parser, at, found = EventParser(), 0, []
    for cut in [*sorted(cuts), len(STREAM)]:
        found += parser.feed(STREAM[at:cut])
        at = max(at, cut)
    assert found == EVENTS


def test_byte_by_byte() -> None:
    parser = EventParser()
    assert [event for byte in STREAM for event in parser.feed(bytes([byte]))] == EVENTS


def test_an_event_is_given_when_its_empty_line_arrives_and_not_before() -> None:
    parser = EventParser()
    assert parser.feed(b"data: x\n") == []
    assert parser.feed(b"\n") == ["x"]


def test_a_line_that_is_no_utf8_is_refused() -> None:
    with pytest.raises(UnicodeDecodeError):
        EventParser().feed(b"data: \xff\n\n")
