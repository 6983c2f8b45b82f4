"""Omissions and rewrites: their laws, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from capsules.content_id import content_id
from capsules.errors import SchemaError
from capsules.omission import REASONS, STAGES, DroppedRange, Omission, Rewrite

S = content_id(b"source")
SPAN = f"{S}:10-20"


def refusal(make: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(SchemaError) as caught:
        make()
    return caught.value.code, caught.value.at


def omission(**changes: Any) -> Omission:
    default = {
        "item": SPAN,
        "stage": "budget",
        "reason": "budget.limit",
        "tokens": 3,
        "required": False,
        "count": 1,
    }
    return Omission(**(default | changes))


DENIED = {"stage": "visibility", "reason": "visibility.denied", "item": None}
OUTSIDE = {"stage": "retrieval", "reason": "retrieval.outside_pool", "item": S, "tokens": None}


def test_omissions_of_each_kind() -> None:
    assert omission().count == 1
    assert omission(item="example-2").item == "example-2"
    assert omission(**DENIED, count=4, tokens=90).count == 4
    assert omission(**OUTSIDE, count=1_000).tokens is None


OMISSION_LAWS: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "stage of another reason": ({"stage": "retrieval"}, ("schema.word", "/stage")),
    "an open reason": ({"reason": "budget.other"}, ("schema.word", "/reason")),
    "a denied item is not named": ({**DENIED, "item": SPAN}, ("schema.field.type", "/item")),
    "another item is named": ({"item": None}, ("schema.field.type", "/item")),
    "outside_pool is a digest": ({**OUTSIDE, "item": "x"}, ("id.malformed", "/item")),
    "outside_pool is not counted in tokens": ({**OUTSIDE, "tokens": 3}, ("schema.field.type", "/tokens")),
    "denied tokens are summed": ({**DENIED, "tokens": None}, ("schema.field.type", "/tokens")),
    "an item has tokens": ({"tokens": None}, ("schema.field.type", "/tokens")),
    "an item counts once": ({"count": 2}, ("schema.limit", "/count")),
    "nothing is no omission": ({**DENIED, "count": 0}, ("schema.limit", "/count")),
}


@pytest.mark.parametrize(("changes", "expected"), OMISSION_LAWS.values(), ids=OMISSION_LAWS.keys())
def test_omission_laws(changes: dict[str, Any], expected: tuple[str, str]) -> None:
    assert refusal(lambda: omission(**changes)) == expected


def test_each_reason_has_its_stage() -> None:
    assert len(REASONS) == 14
    assert list(REASONS) == sorted(REASONS)
    for reason in REASONS:
        kind = {"visibility.denied": DENIED, "retrieval.outside_pool": OUTSIDE}.get(reason, {})
        assert omission(**(kind | {"reason": reason, "stage": reason.split(".")[0]})).stage in STAGES


def test_omissions_sort_by_stage_reason_item_with_null_first(make_prompt: Any) -> None:
    denied, provider = (
        omission(**DENIED),
        omission(stage="visibility", reason="visibility.provider", item="a"),
    )
    first, second = omission(item="a"), omission(item="b")
    assert make_prompt(omissions=(first, second, denied, provider)).omissions[2] is denied
    for order, at in (
        ((second, first), "/omissions/1"),
        ((first, first), "/omissions/1"),
        ((denied, first), "/omissions/1"),
        ((first, provider, denied), "/omissions/2"),
        ((denied, denied), "/omissions/1"),
    ):
        assert refusal(lambda order=order: make_prompt(omissions=order)) == ("schema.order", at)


def test_one_entry_stands_for_what_is_outside_the_pool(make_prompt: Any) -> None:
    items = sorted((content_id(b"1"), content_id(b"2")))
    twice = tuple(omission(**OUTSIDE | {"item": item}) for item in items)
    assert refusal(lambda: make_prompt(omissions=twice)) == ("schema.duplicate", "/omissions/1")


def rewrite(*dropped: tuple[str, int, int], **changes: Any) -> Rewrite:
    ranges = tuple(DroppedRange(item=item, start=start, end=end) for item, start, end in dropped)
    default = {
        "items": (SPAN, f"{S}:30-40"),
        "text": "short",
        "compressor": "fake/1",
        "dropped": ranges,
        "tokens_before": 9,
        "tokens_sent": 8,
    }
    return Rewrite(**(default | changes))


def test_dropped_ranges_stand_in_the_order_of_the_text() -> None:
    second = f"{S}:30-40"
    assert len(rewrite((SPAN, 10, 12), (SPAN, 12, 20), (second, 30, 31)).dropped) == 3
    assert refusal(lambda: rewrite((SPAN, 12, 20), (SPAN, 10, 12))) == ("schema.order", "/dropped/1")
    assert refusal(lambda: rewrite((SPAN, 10, 13), (SPAN, 12, 20))) == ("schema.order", "/dropped/1")
    assert refusal(lambda: rewrite((second, 30, 31), (SPAN, 10, 12))) == ("schema.order", "/dropped/1")
    foreign = f"{S}:50-60"
    assert refusal(lambda: rewrite((foreign, 50, 51))) == ("schema.reference", "/dropped/0/item")


@pytest.mark.parametrize(("start", "end"), [(9, 12), (10, 21), (12, 12), (13, 12), (0, 1)])
def test_a_dropped_range_lies_inside_its_item(start: int, end: int) -> None:
    assert refusal(lambda: DroppedRange(item=SPAN, start=start, end=end)) == ("span.range", "/end")


REWRITE_LAWS: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "of nothing": ({"items": ()}, ("schema.limit", "/items")),
    "of an item twice": ({"items": (SPAN, SPAN)}, ("schema.duplicate", "/items/1")),
    "as long as before": ({"tokens_sent": 9}, ("schema.limit", "/tokens_sent")),
    "longer than before": ({"tokens_sent": 10}, ("schema.limit", "/tokens_sent")),
    "of what is no span": ({"items": ("task",)}, ("id.malformed", "/items/0")),
}


@pytest.mark.parametrize(("changes", "expected"), REWRITE_LAWS.values(), ids=REWRITE_LAWS.keys())
def test_rewrite_laws(changes: dict[str, Any], expected: tuple[str, str]) -> None:
    assert refusal(lambda: rewrite(**changes)) == expected


def test_an_item_is_rewritten_once(make_prompt: Any) -> None:
    twice = (rewrite(items=(SPAN,)), rewrite(items=(f"{S}:30-40", SPAN)))
    assert refusal(lambda: make_prompt(rewrites=twice)) == ("schema.duplicate", "/rewrites/1/items/1")
