from __future__ import annotations

import pytest

from bench.evidence.facts import Day, content_terms, facts_of


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Opened on 28 April 2014.", [(2014, 4, 28)]),
        ("Opened on April 28 , 2014 .", [(2014, 4, 28)]),
        ("Opened 2014-04-28.", [(2014, 4, 28)]),
        ("Opened in April 2014.", [(2014, 4, None)]),
        ("Opened in April.", [(None, 4, None)]),
        ("Opened in 2014 and again in 2019.", [(2014, None, None), (2019, None, None)]),
        ("It may open.", []),
        ("word1234 in the 1990s", []),
        ("It costs $2014 and holds 2014.5 litres, 12,014 in all.", []),
        ("The 3rd of May 1999", [(1999, 5, 3)]),
        ("May 5% of them", []),
    ],
)
def test_dates(text: str, days: list[tuple[int | None, int | None, int | None]]) -> None:
    assert [placed.value for placed in facts_of(text).dates] == [
        Day(year=y, month=m, day=d) for y, m, d in days
    ]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("3,559 people", ["3559"]),
        ("3559.0 people", ["3559"]),
        ("12.50 litres and twelve jars", ["12.5", "12"]),
        ("one of the B52 bombers", []),
        ("007", ["7"]),
        ("in 1999", []),
        ("in the 1990s", []),  # a decade is neither
        ("\uff13 doors", ["3"]),  # full-width digit
    ],
)
def test_numbers(text: str, numbers: list[str]) -> None:
    assert [placed.value for placed in facts_of(text).numbers] == numbers


def test_a_number_knows_the_terms_around_it() -> None:
    facts = facts_of("The ferry burns 40 litres a day.")
    assert facts.numbers[0].around == {"ferry", "burns", "litres", "day"}
    near = facts_of("The harbour tower keeper boat weighs about 41 tons.")
    assert near.numbers[0].around == {
        "tower",
        "keeper",
        "boat",
        "weighs",
        "tons",
    }  # the nearest four, not the first


def test_a_negation_denies_the_four_terms_behind_it() -> None:
    facts = facts_of("The boat does not carry fish, salt, coal, wood or wine.")
    assert facts.denied == {"carry", "fish", "salt", "coal"}
    assert facts.negated
    assert facts_of("It isn\u2019t open").denied == {"open"}
    assert not facts_of("It is open").negated


def test_content_terms_are_what_a_text_is_about() -> None:
    assert content_terms("When was the ferry Alma not built in March 1931?") == {
        "ferry",
        "alma",
        "built",
        "march",  # a month alone may be a verb
    }
    assert content_terms("\u4f60\u597d\u4e16\u754c") == {"\u4f60\u597d", "\u597d\u4e16", "\u4e16\u754c"}


@pytest.mark.parametrize(
    ("left", "right", "agrees", "differs"),
    [
        (Day(year=2014), Day(year=2014, month=4), True, False),
        (Day(year=2014, month=5), Day(year=2014, month=4), False, True),
        (Day(year=2014), Day(year=None, month=4), False, False),
        (Day(year=2013), Day(year=2014), False, True),
    ],
)
def test_dates_agree_and_differ_in_the_parts_that_both_know(
    left: Day, right: Day, agrees: bool, differs: bool
) -> None:
    assert (left.agrees(right), right.agrees(left)) == (agrees, agrees)
    assert (left.differs(right), right.differs(left)) == (differs, differs)
