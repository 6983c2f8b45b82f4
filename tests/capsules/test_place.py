"""Places: the smallest sufficient neighbourhood, held against every subset; identity and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsules.codec import digest_of, preimage, read_stored, to_value
from capsules.content_id import content_id
from capsules.errors import SchemaError
from capsules.place import MAX_NEEDS, Candidate, Found, Place, find_place, unserved
from capsules.prompt import ActiveObject
from capsules.visibility import Visibility

QUESTION = ActiveObject(kind="question", ref="q-1", text="Which limit holds, and since when?")
SOURCE = content_id(b"a source")


def candidate(
    number: int, tokens: int, meets: str, level: str = "public", project: str = "demo"
) -> Candidate:
    return Candidate(
        span_id=f"{SOURCE}:{number}-{number + 1}",
        label=Visibility(level=level, project=project),
        tokens=tokens,
        meets=frozenset(meets),
    )


def chosen(found: Found) -> list[int]:
    assert found.place is not None
    return sorted(int(item.rpartition(":")[2].partition("-")[0]) for item in found.place.record.span_ids)


def test_the_fewest_tokens_that_meet_every_need() -> None:
    offers = [
        candidate(1, 9, "ab"),
        candidate(2, 5, "a"),
        candidate(3, 3, "b"),
        candidate(4, 20, "abc"),
        candidate(5, 6, "c"),
    ]
    found = find_place(QUESTION, "abc", offers)
    assert chosen(found) == [2, 3, 5]
    assert found.report.tokens == 14
    assert found.report.sufficient
    assert found.report.candidates == 5
    assert found.report.met_by == (
        ("a", (offers[1].span_id,)),
        ("b", (offers[2].span_id,)),
        ("c", (offers[4].span_id,)),
    )
    assert find_place(QUESTION, "ab", offers).report.tokens == 8
    assert chosen(find_place(QUESTION, "abc", [*offers, candidate(6, 13, "abcd")])) == [6]


def test_ties_go_to_fewer_spans_then_to_the_first_ids() -> None:
    assert chosen(
        find_place(QUESTION, "ab", [candidate(1, 1, "a"), candidate(2, 1, "b"), candidate(3, 2, "ab")])
    ) == [3]
    twins = [candidate(number, 2, "a") for number in (5, 4, 6)]
    assert chosen(find_place(QUESTION, "a", twins)) == [4]
    assert chosen(find_place(QUESTION, "a", [candidate(1, 0, ""), candidate(2, 0, "a")])) == [2]


def test_a_need_that_nobody_meets_is_named_and_there_is_no_place() -> None:
    found = find_place(QUESTION, "abz", [candidate(1, 4, "ab"), candidate(2, 1, "a")])
    assert found.place is None
    report = found.report
    assert (report.place_id, report.tokens, report.unmet, report.sufficient) == (None, None, ("z",), False)
    assert [need for need, _ in report.met_by] == ["a", "b"]
    assert report.met_by[0][1] == (f"{SOURCE}:1-2", f"{SOURCE}:2-3")
    assert find_place(QUESTION, "a", []).report.unmet == ("a",)


def test_the_identity_is_of_object_needs_spans_and_label_alone() -> None:
    offers = [candidate(1, 9, "ab"), candidate(2, 5, "a"), candidate(3, 3, "b")]
    found = find_place(QUESTION, "ab", offers)
    assert found.place is not None
    assert found.report.place_id == found.place.digest == digest_of(found.place.record)
    assert read_stored(preimage(found.place.record), Place) == found.place.record
    same = find_place(
        QUESTION, ["b", "a", "b"], [replace(each, tokens=2 * each.tokens) for each in reversed(offers)]
    )
    assert same.report.place_id == found.report.place_id
    others = [
        find_place(replace(QUESTION, text="Which?"), "ab", offers),
        find_place(QUESTION, "a", offers),
        find_place(QUESTION, "ab", offers[:1]),
        find_place(
            QUESTION, "ab", [replace(each, label=replace(each.label, level="internal")) for each in offers]
        ),
    ]
    assert len({found.report.place_id, *(other.report.place_id for other in others)}) == 5


def test_its_label_is_the_join_of_its_spans_and_of_no_others() -> None:
    offers = [candidate(1, 1, "a", "internal"), candidate(2, 1, "b"), candidate(3, 9, "ab", "restricted")]
    found = find_place(QUESTION, "ab", offers)
    assert found.place is not None
    assert found.place.record.visibility == Visibility(level="internal", project="demo")


def test_one_place_serves_several_capsules_and_none_contains_it(example: Any, make_evidence: Any) -> None:
    label = example.sources["label"].source
    spans = [span for span in example.evidence.exact_spans if span.source == label]
    offers = [
        Candidate(span_id=span.span_id, label=example.evidence.visibility, tokens=3, meets=frozenset(need))
        for span, need in zip(spans, "ab", strict=True)
    ]
    found = find_place(QUESTION, "ab", offers)
    assert found.place is not None
    place = found.place.record
    other = make_evidence(
        capsule_id="demo:dosage:q-2:evidence-internal", confidence=replace(example.evidence.confidence, bp=1)
    )
    without = make_evidence(exact_spans=(), claim_candidates=(), contradictions=())
    assert digest_of(other) != digest_of(example.evidence)
    assert (
        unserved(place, [example.evidence])
        == unserved(place, [other])
        == unserved(place, [without, other])
        == ()
    )
    assert unserved(place, [without]) == place.span_ids
    for capsule in (example.evidence, other, example.prompt):
        assert found.place.digest not in str(to_value(capsule))
    assert example.evidence.capsule_id not in str(to_value(place))


@pytest.mark.parametrize(
    ("needs", "offers", "code"),
    [
        ([], [candidate(1, 1, "a")], "schema.limit"),
        ([str(n) for n in range(MAX_NEEDS + 1)], [candidate(1, 1, "a")], "schema.limit"),
        (["a"], [candidate(1, -1, "a")], "schema.limit"),
        (["a"], [candidate(1, 1, "a"), candidate(1, 2, "b")], "schema.duplicate"),
        (["a"], [candidate(1, 1, "a"), candidate(2, 1, "a", project="other")], "scope.project.mismatch"),
    ],
)
def test_refusals(needs: Sequence[str], offers: Sequence[Candidate], code: str) -> None:
    with pytest.raises(SchemaError) as refused:
        find_place(QUESTION, needs, offers)
    assert refused.value.code == code


def slow_smallest(needs: set[str], offers: Sequence[Candidate]) -> tuple[int, int, tuple[str, ...]]:
    """Every subset, in the obvious way."""
    return min(
        (sum(each.tokens for each in some), count, tuple(sorted(each.span_id for each in some)))
        for count in range(len(offers) + 1)
        for some in combinations(offers, count)
        if needs <= set().union(*(each.meets for each in some))
    )


@given(
    st.lists(st.tuples(st.integers(0, 4), st.text(alphabet="abcd", max_size=3)), min_size=1, max_size=8),
    st.sets(st.sampled_from("abcd"), min_size=1),
)
@settings(max_examples=200, deadline=None)
def test_no_subset_is_smaller(drawn: list[tuple[int, str]], needs: set[str]) -> None:
    offers = [candidate(number, tokens, meets) for number, (tokens, meets) in enumerate(drawn)]
    found = find_place(QUESTION, needs, offers)
    if not needs <= set().union(*(each.meets for each in offers)):
        assert found.place is None
        assert set(found.report.unmet) == needs - set().union(*(each.meets for each in offers))
        return
    assert found.place is not None
    tokens, count, span_ids = slow_smallest(needs, offers)
    assert (found.report.tokens, len(found.place.record.span_ids), found.place.record.span_ids) == (
        tokens,
        count,
        span_ids,
    )
    assert {need for need, spans in found.report.met_by if spans} == needs


def test_ten_thousand_candidates_and_twelve_needs() -> None:
    needs = "abcdefghijkl"
    offers = [candidate(n, 1 + n % 7, needs[n % 12] + needs[(n * 5 + 3) % 12]) for n in range(10_000)]
    found = find_place(QUESTION, needs, offers)
    assert found.report.sufficient
    assert found.report.tokens is not None
    assert found.report.tokens <= 12
