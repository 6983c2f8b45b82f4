"""``match`` and ``citations``: from an input object to exactly the documented output object."""

from __future__ import annotations

from typing import Any

import pytest

from capsules.canonical import canonical_bytes
from capsules.cli_citations import citations_line
from capsules.cli_match import match_line
from capsules.errors import SchemaError

SOURCE = "The pump must not run dry for more than 30 s. Below 5 bar the alarm is silent."


def test_an_exact_match() -> None:
    assert match_line({"source": SOURCE, "quote": "30 s"}) == {
        "match": "raw_exact",
        "place": "cited",
        "normalization": "raw/1",
        "start": 40,
        "end": 44,
        "text": "30 s",
        "occurrences": [[40, 44]],
        "occurrences_total": 1,
        "codes": [],
    }


def test_an_elided_match_has_pieces() -> None:
    output = match_line({"source": SOURCE, "quote": "The pump must ... run dry for more"})
    assert output["match"] == "elided"
    assert output["pieces"] == [
        {"start": 0, "end": 13, "gap": " not "},
        {"start": 18, "end": 34, "gap": None},
    ]


def test_a_cut_character_is_widened() -> None:
    output = match_line({"source": "o\ufb03ce", "quote": "ice", "normalization": "compat/1"})
    assert output == {
        "match": "absent",
        "place": "none",
        "normalization": None,
        "start": None,
        "end": None,
        "text": None,
        "occurrences": [],
        "occurrences_total": 0,
        "codes": ["quote.inside_character"],
        "widened": [1, 4],
    }


def test_a_near_match_has_distance_and_diff() -> None:
    output = match_line({"source": SOURCE, "quote": "Below 6 bar", "near": True})
    assert (output["match"], output["distance"]) == ("near", 1)
    assert output["diff"][1] == {"op": "replace", "quote": "6", "source": "5"}


def test_all_options() -> None:
    output = match_line(
        {
            "source": SOURCE,
            "quote": "bar",
            "normalization": "text/1",
            "start": 54,
            "end": 57,
            "prefix": "5 ",
            "suffix": None,
            "min_chars": 3,
            "near": False,
        }
    )
    assert (output["match"], output["start"]) == ("raw_exact", 54)


@pytest.mark.parametrize(
    "line",
    [
        {"source": "", "quote": ""},
        {"source": SOURCE, "quote": "The"},
        {"source": SOURCE, "quote": "the silent alarm and more than that"},
        {"source": SOURCE, "quote": "must not run dry the alarm is silent"},
    ],
)
def test_output_is_canonical_json(line: dict[str, Any]) -> None:
    assert canonical_bytes(match_line(line))


@pytest.mark.parametrize(
    ("line", "code", "at"),
    [
        ([], "schema.field.type", ""),
        ({"source": ""}, "schema.field.missing", "/quote"),
        ({"source": "", "quote": "", "Near": True}, "schema.field.unknown", "/Near"),
        ({"source": "", "quote": "", "a/b~": 1}, "schema.field.unknown", "/a~1b~0"),
        ({"source": 1, "quote": ""}, "schema.field.type", "/source"),
        ({"source": "", "quote": None}, "schema.field.type", "/quote"),
        ({"source": "", "quote": "", "start": True}, "schema.field.type", "/start"),
        ({"source": "", "quote": "", "near": 1}, "schema.field.type", "/near"),
        ({"source": "", "quote": "", "start": -1}, "schema.limit", "/start"),
        ({"source": "", "quote": "", "min_chars": -1}, "schema.limit", "/min_chars"),
        ({"source": "", "quote": "", "normalization": "nfc"}, "schema.word", "/normalization"),
    ],
)
def test_bad_lines_are_refused(line: object, code: str, at: str) -> None:
    with pytest.raises(SchemaError) as refused:
        match_line(line)
    assert (refused.value.code, refused.value.at) == (code, at)


def test_citations() -> None:
    assert citations_line({"answer": "It shut [1][3]. So [2-1].", "sources": 2}) == {
        "sentences": [
            {"text": "It shut.", "start": 0, "end": 15, "cited": [1], "unknown": [3]},
            {"text": "So [2-1].", "start": 16, "end": 25, "cited": [], "unknown": []},
        ],
        "marks": 2,
        "malformed": [{"text": "[2-1]", "start": 19}],
    }


def test_citations_with_base_and_language() -> None:
    output = citations_line(
        {"answer": "\u0e01\u0e02 \u0e04\u0e07 [0]", "sources": 1, "base": 0, "lang": "en"}
    )
    assert [sentence["cited"] for sentence in output["sentences"]] == [[0]]
    assert canonical_bytes(output)


@pytest.mark.parametrize(
    ("line", "code", "at"),
    [
        ("x", "schema.field.type", ""),
        ({"answer": ""}, "schema.field.missing", "/sources"),
        ({"answer": "", "sources": "2"}, "schema.field.type", "/sources"),
        ({"answer": "", "sources": -1}, "schema.limit", "/sources"),
        ({"answer": "", "sources": 1, "base": -1}, "schema.limit", "/base"),
        ({"answer": "", "sources": 1, "lang": 3}, "schema.field.type", "/lang"),
    ],
)
def test_bad_citation_lines_are_refused(line: object, code: str, at: str) -> None:
    with pytest.raises(SchemaError) as refused:
        citations_line(line)
    assert (refused.value.code, refused.value.at) == (code, at)
