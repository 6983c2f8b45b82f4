"""FOVEA against every subset, its limits, and what it must not depend on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.selection.base import Offer, Selected
from bench.selection.fovea import fovea
from bench.selection.place_report import PlaceReport
from bench.selection.relevance import relevance_of
from bench.selection.requirement import find_requirement
from capsules.codec import digest_of
from tasks.base import Gold, TextRange

Make = Callable[..., Any]
WORDS = ("alma", "ferry", "horn", "pier", "gull", "terns", "Oslo", "rust")
QUESTION = "Which ferry with a horn left the pier of Oslo with terns and a gull?"

drawn = st.lists(
    st.tuples(
        st.sampled_from("abcd"),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
        st.integers(1, 20),
        st.integers(0, 10_000),
    ),
    min_size=1,
    max_size=8,
)
with_fixtures = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150
)


def offers_of(offer: Make, values: Sequence[tuple[str, list[str], int, int]]) -> list[Offer]:
    return [
        offer(letter, number * 100, " ".join(words), tokens=tokens, score_bp=score, chunk=letter)
        for number, (letter, words, tokens, score) in enumerate(values)
    ]


def report_of(found: Selected) -> PlaceReport:
    assert found.report is not None
    return found.report


def spans(found: Selected) -> tuple[str, ...]:
    return found.place.span_ids if found.place is not None else ()


def harbour(document: Make) -> list[Offer]:
    return [
        *document("a", ["Alma is a ferry of Oslo.", "She has a horn."], title="Alma", score_bp=9_000),
        *document("b", ["Gulls nest on the pier.", "Terns do not."], title="Birds", score_bp=2_000),
    ]


def test_the_place_by_hand(document: Make, query: Make, source: Any) -> None:
    offers = harbour(document)
    found = fovea(query("Which horn has the ferry Alma?", header=5), offers)
    report = report_of(found)
    # lead and ferry, alma: the opening of a; horn: its second sentence; a is the only voice
    assert [offers[i].text for i in found.order] == ["Alma is a ferry of Oslo.", "She has a horn."]
    assert set(spans(found)) == {offers[0].name, offers[1].name}
    assert dict(report.met_by)["term:horn"] == (offers[1].name,)
    assert dict(report.met_by)["lead"] == (offers[0].name,)
    assert report.tokens == 30  # two sentences of 10, a header of 5 for each
    assert (report.unmet, report.unfit, report.code, report.sufficient) == ((), (), None, True)
    assert report.candidates == 4
    assert report.place_id is not None
    assert found.place is not None
    assert report.place_id == digest_of(found.place)
    assert found.place.active_object.ref == "s-1"
    assert found.place.active_object.text == "Which horn has the ferry Alma?"


def test_a_word_that_nobody_holds_is_unmet_and_the_rest_is_still_chosen(document: Make, query: Make) -> None:
    found = fovea(query("Which ferry has a lighthouse?"), harbour(document))
    report = report_of(found)
    assert report.unmet == ("term:lighthouse",)
    assert (report.code, report.sufficient) == ("place.insufficient", False)
    assert spans(found)


def test_needs_are_given_up_from_the_end_until_the_place_fits(document: Make, query: Make) -> None:
    offers = harbour(document)
    whole = report_of(fovea(query("Which horn has the ferry Alma?"), offers))
    less = report_of(fovea(query("Which horn has the ferry Alma?", tokens=15), offers))
    assert less.unfit == whole.needs[len(less.met_by) :]
    assert less.code == "place.insufficient"
    assert less.tokens == 10
    assert [need for need, _ in less.met_by if need == "lead"] == ["lead"]  # the most important one stays
    one = report_of(fovea(query("Which horn has the ferry Alma?", k=1), offers))
    assert one.met_by == less.met_by
    none = fovea(query("Which horn has the ferry Alma?", tokens=5), offers)
    assert (none.place, list(none.order), report_of(none).place_id) == (None, [], None)
    assert report_of(none).unfit == whole.needs


def test_what_is_left_is_filled_by_relevance_only_if_asked(document: Make, query: Make) -> None:
    offers = harbour(document)
    asked = "Which horn has the ferry Alma?"
    assert len(fovea(query(asked, tokens=100), offers).order) == 2
    full = fovea(query(asked, tokens=100, fill=True), offers)
    assert len(full.order) == 4
    relevance = relevance_of(asked, offers).bp
    assert [relevance[i] for i in full.order[2:]] == sorted((relevance[2], relevance[3]), reverse=True)
    assert len(fovea(query(asked, tokens=100, fill=True, k=3), offers).order) == 3
    assert len(fovea(query(asked, tokens=35, fill=True), offers).order) == 3


def test_what_is_required_anyway_is_free(document: Make, query: Make) -> None:
    offers = harbour(document)
    gulls = replace(offers[2], sentences=(replace(offers[2].sentences[0], required=True),))
    offers[2] = gulls
    found = fovea(query("Which horn has the ferry Alma?", tokens=30), offers)
    assert report_of(found).unfit == ()  # 10 for what is required, 20 for the place
    tight = fovea(query("Which horn has the ferry Alma?", tokens=29), offers)
    assert report_of(tight).unfit != ()
    inside = harbour(document)
    inside[0] = replace(inside[0], sentences=(replace(inside[0].sentences[0], required=True),))
    assert report_of(fovea(query("Which horn has the ferry Alma?", tokens=20), inside)).unfit == ()


def test_ties_go_by_span_id(offer: Make, query: Make) -> None:
    twins = [offer(letter, 0, "Alma is a ferry.", score_bp=10_000) for letter in "abcdefgh"]
    for offers in (twins, twins[::-1]):
        found = fovea(query("Which ferry?", tokens=100, fill=True), offers)
        names = [offers[i].name for i in found.order]
        others = [name for name in names if name not in spans(found)]
        assert others == sorted(others)
        assert len(names) == 8
        assert 1 < len(others) < 8


def test_no_candidates_and_no_terms_have_codes(document: Make, query: Make) -> None:
    nothing = fovea(query("Which ferry?"), [])
    assert (list(nothing.order), nothing.place) == ([], None)
    assert report_of(nothing).code == "place.no_candidates"
    assert report_of(nothing).sufficient is False
    unnamed = fovea(query("Who was it?"), harbour(document))
    assert report_of(unnamed).code == "place.no_terms"
    assert "lead" in dict(report_of(unnamed).met_by)


@given(drawn, st.integers(0, 9))
@with_fixtures
def test_no_other_sufficient_choice_costs_less(
    offer: Make, query: Make, values: list[Any], header: int
) -> None:
    offers = offers_of(offer, values)
    asked = query(QUESTION, header=header)
    found = fovea(asked, offers)
    needs = find_requirement(asked, offers, relevance_of(QUESTION, offers)).needs
    costs = [one.tokens + header for one in offers]
    best = min(
        sum(costs[i] for i in some)
        for count in range(1, len(offers) + 1)
        for some in combinations(range(len(offers)), count)
        if all(need.witnesses & set(some) for need in needs)
    )
    assert report_of(found).tokens == best
    taken = {i for i, one in enumerate(offers) if one.name in spans(found)}
    assert all(need.witnesses & taken for need in needs)


@given(drawn, st.randoms(use_true_random=False), st.integers(10, 80))
@with_fixtures
def test_the_order_of_the_offers_and_gold_change_nothing(
    offer: Make, query: Make, values: list[Any], random: Any, limit: int
) -> None:
    offers = offers_of(offer, values)
    other = list(offers)
    random.shuffle(other)
    gold = Gold(answers=("x",), spans=(TextRange(doc_id="a", start=0, end=3),))
    first = fovea(query(QUESTION, tokens=limit, fill=True), offers)
    second = fovea(query(QUESTION, tokens=limit, fill=True, gold=gold), other)
    assert first.place == second.place
    assert first.report == second.report
    assert [offers[i].name for i in first.order] == [other[i].name for i in second.order]


@given(drawn, st.integers(0, 60), st.integers(0, 60))
@with_fixtures
def test_a_larger_budget_never_meets_fewer_needs(
    offer: Make, query: Make, values: list[Any], limit: int, more: int
) -> None:
    offers = offers_of(offer, values)

    def met(tokens: int) -> set[str]:
        return {need for need, _ in report_of(fovea(query(QUESTION, tokens=tokens), offers)).met_by}

    assert met(limit) <= met(limit + more)


@given(drawn, st.integers(0, 60), st.booleans(), st.integers(1, 8))
@with_fixtures
def test_limits_hold(offer: Make, query: Make, values: list[Any], limit: int, fill: bool, k: int) -> None:
    offers = offers_of(offer, values)
    found = fovea(query(QUESTION, tokens=limit, fill=fill, k=k, header=3), offers)
    taken = [offers[i] for i in found.order]
    assert len(taken) <= k
    assert sum(one.tokens + 3 for one in taken) <= limit  # no offer follows another: a header each
    assert set(spans(found)) <= {one.name for one in taken}


@pytest.mark.parametrize("fill", [True, False])
def test_ten_thousand_candidates(offer: Make, query: Make, fill: bool) -> None:
    offers = [
        offer(str(n // 10), n % 10 * 100, f"{WORDS[n % 8]} {WORDS[n % 5]} w{n}", score_bp=n % 10_000)
        for n in range(10_000)
    ]
    found = fovea(query(QUESTION, tokens=400, fill=fill), offers)
    report = report_of(found)
    assert report.candidates == 10_000
    assert report.place_id is not None
    assert not report.unfit
