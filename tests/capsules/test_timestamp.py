"""One form of a time, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsules.errors import SchemaError
from capsules.timestamp import format_time, is_time, parse_time

FIRST, LAST = -62_135_596_800, 253_402_300_799  # 0001-01-01T00:00:00Z, 9999-12-31T23:59:59Z

INSTANTS = {
    "1970-01-01T00:00:00Z": 0,
    "1969-12-31T23:59:59Z": -1,
    "2000-02-29T00:00:00Z": 951_782_400,
    "2024-02-29T12:00:00Z": 1_709_208_000,
    "2038-01-19T03:14:08Z": 2**31,
    "0001-01-01T00:00:00Z": FIRST,
    "9999-12-31T23:59:59Z": LAST,
}

MALFORMED = {
    "empty": "",
    "no zone": "2024-02-29T12:00:00",
    "offset instead of Z": "2024-02-29T12:00:00+00:00",
    "another offset": "2024-02-29T14:00:00+02:00",
    "lower case": "2024-02-29t12:00:00z",
    "space for T": "2024-02-29 12:00:00Z",
    "fraction": "2024-02-29T12:00:00.5Z",
    "leap second": "2016-12-31T23:59:60Z",
    "no such day": "2023-02-29T00:00:00Z",
    "day 31 of April": "2024-04-31T00:00:00Z",
    "month 13": "2024-13-01T00:00:00Z",
    "month 0": "2024-00-01T00:00:00Z",
    "hour 24": "2024-01-01T24:00:00Z",
    "minute 60": "2024-01-01T00:60:00Z",
    "year 0": "0000-01-01T00:00:00Z",
    "five-digit year": "10000-01-01T00:00:00Z",
    "sign": "+2024-01-01T00:00:0Z",
    "newline at the end": "2024-01-01T00:00:00Z\n",
    "Arabic digits": "\u0662\u0660\u0662\u0664-01-01T00:00:00Z",
    "date alone": "2024-01-01",
    "basic form": "20240101T000000Z",
}


@pytest.mark.parametrize(("text", "seconds"), INSTANTS.items())
def test_known_instants(text: str, seconds: int) -> None:
    assert parse_time(text) == seconds
    assert format_time(seconds) == text
    assert is_time(text)


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED.keys())
def test_every_other_spelling_is_refused(text: str) -> None:
    # Field case C11: one instant has one form; a time without zone is none.
    assert not is_time(text)
    with pytest.raises(SchemaError) as caught:
        parse_time(text, "/as_of")
    assert (caught.value.code, caught.value.at) == ("time.malformed", "/as_of")


@pytest.mark.parametrize("value", [None, 0, b"2024-01-01T00:00:00Z"])
def test_other_types_are_no_times(value: object) -> None:
    assert not is_time(value)


@pytest.mark.parametrize("seconds", [FIRST - 1, LAST + 1, 2**53, -(2**53), 10**30])
def test_years_without_four_digits_have_no_form(seconds: int) -> None:
    with pytest.raises(SchemaError) as caught:
        format_time(seconds)
    assert caught.value.code == "time.malformed"


@given(st.integers(FIRST, LAST), st.integers(FIRST, LAST))
def test_round_trip_and_order(one: int, other: int) -> None:
    assert parse_time(format_time(one)) == one
    assert (format_time(one) < format_time(other)) == (one < other)
