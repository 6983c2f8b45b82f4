"""Faults that this field keeps making with citation marks, each by value."""

from __future__ import annotations

import re

import pytest

from capsules.citation import parse_citations

FORMS = {
    "A[1][2].": [1, 2],
    "A [1, 2].": [1, 2],
    "A [1-3].": [1, 2, 3],
    "A [1\u20133].": [1, 2, 3],
    "A [2,4-5].": [2, 4, 5],
    "A\u30101\u2020source\u3011.": [1],
    "A\u30103\u3011.": [3],
    "A[^1].": [1],
    "x `a[1]` y": [],
}


@pytest.mark.parametrize("answer", FORMS)
def test_a28_all_forms_give_their_ids(answer: str) -> None:
    report = parse_citations(answer, sources=5)
    assert [list(sentence.cited) for sentence in report.sentences] == [FORMS[answer]]
    assert report.malformed == ()


def test_a28_a_source_cited_twice_is_two_marks_and_one_id() -> None:
    report = parse_citations("A [1] [1].", sources=5)
    assert report.marks == 2
    assert report.sentences[0].cited == (1,)


def test_a28_a_reversed_range_is_reported() -> None:
    report = parse_citations("A [3-1].", sources=5)
    assert [(mark.text, mark.start) for mark in report.malformed] == [("[3-1]", 2)]
    assert report.marks == 0
    assert report.sentences[0].cited == ()


def test_a28_the_common_pattern_would_lose_ids() -> None:
    common = re.compile(r"\[\d+")
    lost = {answer: len(common.findall(answer)) for answer in FORMS}
    assert [lost[answer] for answer in list(FORMS)[1:5]] == [1, 1, 1, 1]
    assert [lost[answer] for answer in list(FORMS)[5:8]] == [0, 0, 0]


def test_a29_refusal_empty_answer_and_uncited_text_are_told_apart() -> None:
    cited = parse_citations("The valve shut [1].", sources=2)
    refusal = parse_citations("I don't know.", sources=2)
    empty = parse_citations("", sources=2)
    uncited = parse_citations("The valve shut.", sources=2)
    assert [(len(r.sentences), r.marks) for r in (cited, refusal, empty, uncited)] == [
        (1, 1),
        (1, 0),
        (0, 0),
        (1, 0),
    ]


@pytest.mark.parametrize(
    "answer",
    [
        "The table ``dp[i][0]`` holds it.",
        "```python\ndp[i][0] = dp[1][2]\n```\n",
        "~~~\ndp[1][0]\n~~~",
        "```\ndp[i][1]",
        "Use `dp[1]",
    ],
)
def test_c19_marks_in_code_are_no_marks(answer: str) -> None:
    report = parse_citations(answer, sources=5)
    assert (report.marks, report.malformed) == (0, ())
