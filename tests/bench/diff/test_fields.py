"""Changes of JSON values: worked by hand, and the law that every mutation is named where it was made."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from json_places import leaves, mutated

from bench.diff.fields import Change, changes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab1", max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abid~/"), inner, max_size=4),
    max_leaves=20,
)


def found(left: Any, right: Any) -> list[tuple[str, str, str]]:
    return [(change.at, change.label, change.kind) for change in changes(left, right)]


def test_each_kind_of_change_has_its_place() -> None:
    left = {
        "task": "t",
        "constraints": [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}],
        "omissions": [{"item": None, "reason": "visibility.denied", "count": 1}],
        "authority": {"max_level": "public", "providers": ["local"]},
    }
    right = {
        "task": "t",
        "constraints": [{"id": "b", "text": "z"}, {"id": "a", "text": "x"}],
        "omissions": [{"item": None, "reason": "visibility.denied", "count": 3}],
        "authority": {"max_level": "internal", "providers": ["local", "other"]},
    }
    assert found(left, right) == [
        ("/authority/max_level", "authority.max_level", "changed"),
        ("/authority/providers/1", "authority.providers[other]", "right_only"),
        ("/constraints/1/text", "constraints[b].text", "changed"),
        ("/constraints", "constraints", "order"),
        ("/omissions/0/count", "omissions[no item, visibility.denied].count", "changed"),
    ]
    assert found(left, left) == []


def test_an_entry_that_was_put_first_is_one_change() -> None:
    left = {"exact_spans": [{"span_id": "x:1-2"}, {"span_id": "x:3-4"}]}
    right = {"exact_spans": [{"span_id": "x:0-1"}, *left["exact_spans"]]}
    assert found(left, right) == [("/exact_spans/0", "exact_spans[x:0-1]", "right_only")]
    assert found(right, left) == [("/exact_spans/0", "exact_spans[x:0-1]", "left_only")]


def test_types_count() -> None:
    assert found(1, True) == [("", "", "changed")]
    assert found([1], ["1"]) == [("/0", "[1]", "changed")]
    assert found({"a": None}, {}) == [("/a", "a", "left_only")]


def test_names_that_look_like_repeats_hide_nothing() -> None:
    assert found(["a", "a", "a#2"], ["a", "a#2", "a"]) != []
    assert found([{"id": "a"}, {"id": "a", "n": 1}], [{"id": "a"}, {"id": "a", "n": 2}]) == [
        ("/1/n", "[a#2].n", "changed")
    ]


@given(JSON, JSON)
def test_there_is_a_change_exactly_if_the_values_differ(left: Any, right: Any) -> None:
    assert (list(changes(left, right)) == []) == (strict(left) == strict(right))


@given(JSON, JSON)
def test_the_two_directions_mirror_each_other(left: Any, right: Any) -> None:
    mirror = {"left_only": "right_only", "right_only": "left_only"}
    there = sorted((c.label, c.kind) for c in changes(left, right))
    back = sorted((c.label, mirror.get(c.kind, c.kind)) for c in changes(right, left))
    assert there == back


@given(JSON, st.data())
def test_a_mutation_is_named_at_its_place_or_at_the_entry_that_it_renamed(
    value: Any, data: st.DataObject
) -> None:
    places = list(leaves(value))
    if not places:
        return
    place = data.draw(st.sampled_from(places))
    other = mutated(value, place, lambda old: f"{old}!")
    named = [path(change) for change in changes(value, other)]
    assert any(place[: len(at)] == at or at[: len(place)] == place for at in named)
    assert all(place[: len(at) - 1] == at[:-1] or at == place for at in named)


def strict(value: Any) -> Any:
    """The value in a form whose equality tells 1 from true."""
    if isinstance(value, dict):
        return {key: strict(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [strict(entry) for entry in value]
    return type(value), value


def path(change: Change) -> tuple[str, ...]:
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in change.at.split("/")[1:])
