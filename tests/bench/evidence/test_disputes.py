from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bench.build.candidates import Item
from bench.evidence.disputes import labelled, settle, shown
from bench.evidence.pairs import COMMON, similar_pairs
from bench.specs import ContradictionsSpec
from tasks.base import LabelledContradiction, SampleInput, TextRange

Items = Callable[..., Item]
Samples = Callable[..., SampleInput]

BY_RULE = "rule"
OLD, MID, NEW = "2001-01-01T00:00:00Z", "2011-01-01T00:00:00Z", "2021-01-01T00:00:00Z"


def crossing(item_of: Items, minutes: int, as_of: str | None, **more: Any) -> Item:
    return item_of(
        f"d{minutes}", f"The ferry Alma crosses the sound in {minutes} minutes.", as_of=as_of, **more
    )


def rule(policy: str) -> ContradictionsSpec:
    return ContradictionsSpec(policy=policy, detector=BY_RULE)


def ask(
    sample_of: Samples, items: list[Item], policy: str, required: tuple[Item, ...] = (), by_data: bool = True
) -> tuple[list[str], list[str], list[tuple[str, str, str | None]]]:
    """Documents that stay, documents that are required, and what is shown as a contradiction."""
    sample = sample_of("How long?", *(item.doc for item in items))
    names = frozenset(item.item for item in required)
    settled = settle(sample, items, names, by_data, rule(policy))
    assert settled.gone == {i.item for i in items} - {i.item for i in settled.items}
    return (
        [item.doc.doc_id for item in settled.items],
        [item.doc.doc_id for item in items if item.item in settled.required],
        [
            (d.left.doc.doc_id, d.right.doc.doc_id, d.resolution)
            for d in shown(sample, settled.items, settled.found, policy)
        ],
    )


def test_show_both_keeps_all_three_and_names_every_pair(item_of: Items, sample_of: Samples) -> None:
    items = [crossing(item_of, 7, OLD), crossing(item_of, 8, MID), crossing(item_of, 9, NEW)]
    kept, _, pairs = ask(sample_of, items, "show_both")
    assert kept == ["d7", "d8", "d9"]
    assert pairs == [("d7", "d8", None), ("d7", "d9", None), ("d8", "d9", None)]


def test_of_three_the_newest_wins_in_any_order(item_of: Items, sample_of: Samples) -> None:
    items = [crossing(item_of, 7, OLD), crossing(item_of, 9, NEW), crossing(item_of, 8, MID)]
    for order in (items, items[::-1], [items[1], items[0], items[2]]):
        assert ask(sample_of, order, "newest_wins") == (["d9"], [], [])


def test_what_contradicts_only_a_superseded_sentence_stays(item_of: Items, sample_of: Samples) -> None:
    # a - b contradict, b - c contradict, a - c do not: c supersedes b, and nothing is left against a
    a = item_of("a", "The mill had 4 stones.", as_of=OLD)
    b = item_of("b", "The mill had 5 stones and the mill burned in 1901.", as_of=MID)
    c = item_of("c", "The old mill burned in 1911.", as_of=NEW)
    assert ask(sample_of, [a, b, c], "newest_wins") == (["a", "c"], [], [])


def test_ties_and_unknown_ages_are_shown_and_said(item_of: Items, sample_of: Samples) -> None:
    same = [crossing(item_of, 7, MID), crossing(item_of, 8, MID)]
    assert ask(sample_of, same, "newest_wins") == (
        ["d7", "d8"],
        [],
        [("d7", "d8", "newest_wins: both sides have the same as_of, both are shown")],
    )
    unknown = [crossing(item_of, 7, None), crossing(item_of, 8, MID)]
    assert ask(sample_of, unknown, "newest_wins") == (
        ["d7", "d8"],
        [],
        [("d7", "d8", "newest_wins: a side has no as_of, both are shown")],
    )


def test_what_the_data_requires_never_goes(item_of: Items, sample_of: Samples) -> None:
    old, mid, new = crossing(item_of, 7, OLD), crossing(item_of, 8, MID), crossing(item_of, 9, NEW)
    assert ask(sample_of, [old, mid, new], "newest_wins", required=(old,)) == (
        ["d7", "d9"],  # the middle one is still superseded
        ["d7"],
        [("d7", "d9", "newest_wins: the older side is required, both are shown")],
    )
    assert ask(sample_of, [old, mid, new], "drop", required=(old,)) == (
        ["d7", "d8", "d9"],  # a part of the group would hide the contradiction
        ["d7"],
        [
            (a, b, "drop: a side is required, both are shown")
            for a, b in (("d7", "d8"), ("d7", "d9"), ("d8", "d9"))
        ],
    )


def test_the_newer_one_takes_the_place_of_the_best_hit(item_of: Items, sample_of: Samples) -> None:
    old, new = crossing(item_of, 7, OLD), crossing(item_of, 9, NEW)
    assert ask(sample_of, [old, new], "newest_wins", required=(old,), by_data=False) == (["d9"], ["d9"], [])


def test_of_several_newer_ones_the_newest_takes_the_place(item_of: Items, sample_of: Samples) -> None:
    # both contradict the best hit, one in the number and one in the date, and not each other
    hit = item_of("hit", "The mill had 4 stones and the mill burned in 1901.", as_of=OLD)
    mid = item_of("mid", "The mill had 5 stones.", as_of=MID)
    new = item_of("new", "The old mill burned in 1911.", as_of=NEW)
    for order in ([hit, mid, new], [new, mid, hit]):
        kept, required, pairs = ask(sample_of, order, "newest_wins", required=(hit,), by_data=False)
        assert (set(kept), required, pairs) == ({"mid", "new"}, ["new"], [])


def test_drop_leaves_the_group_of_the_best_hit(item_of: Items, sample_of: Samples) -> None:
    old, new = crossing(item_of, 7, OLD), crossing(item_of, 9, NEW)
    kept, required, pairs = ask(sample_of, [old, new], "drop", required=(old,), by_data=False)
    assert (kept, required) == (["d7", "d9"], ["d7"])
    assert pairs == [("d7", "d9", "drop: a side is required, both are shown")]


def test_drop_takes_all_sides(item_of: Items, sample_of: Samples) -> None:
    other = item_of("birds", "Gulls nest on the east pier.", as_of=MID)
    items = [crossing(item_of, 7, OLD), other, crossing(item_of, 9, NEW)]
    assert ask(sample_of, items, "drop") == (["birds"], [], [])


def test_sentences_of_one_source_are_not_compared(item_of: Items) -> None:
    first = crossing(item_of, 7, OLD)
    assert similar_pairs([first, first], 5000) == []


def test_a_label_beats_the_detector_and_is_shown_once(item_of: Items, sample_of: Samples) -> None:
    old, new = crossing(item_of, 7, OLD), crossing(item_of, 9, NEW)
    label = LabelledContradiction(
        left=TextRange(doc_id="d9", start=0, end=5),
        right=TextRange(doc_id="d7", start=0, end=5),
        kind="labelled",
    )
    sample = sample_of("How long?", old.doc, new.doc, contradictions=(label,))
    settled = settle(sample, [old, new], frozenset(), False, rule("show_both"))
    (only,) = shown(sample, [old, new], settled.found, "show_both")
    assert (only.left.doc.doc_id, only.right.doc.doc_id, only.kind) == ("d9", "d7", "labelled")
    assert [(a.doc.doc_id, b.doc.doc_id, k) for a, b, k in labelled(sample, [old, new])] == [
        ("d9", "d7", "labelled")
    ]
    assert labelled(sample, [old]) == []  # a side that is not there


def test_without_a_detector_only_labels_count(item_of: Items, sample_of: Samples) -> None:
    old, new = crossing(item_of, 7, OLD), crossing(item_of, 9, NEW)
    sample = sample_of("How long?", old.doc, new.doc)
    settled = settle(sample, [old, new], frozenset(), False, ContradictionsSpec(policy="newest_wins"))
    assert (settled.items, settled.found) == ((old, new), ())


def test_ten_thousand_sentences_are_compared_through_their_rare_terms(item_of: Items) -> None:
    items = [item_of(f"d{n}", f"The ferry word{n // 2} crosses in {n} minutes.") for n in range(10_000)]
    pairs = similar_pairs(items, 5000)
    assert len(pairs) == 5000
    assert all(int(a.doc.doc_id[1:]) // 2 == int(b.doc.doc_id[1:]) // 2 for a, b in pairs)


@pytest.mark.parametrize(("extra", "expected"), [(0, COMMON * (COMMON - 1) // 2), (1, 0)])
def test_a_term_of_too_many_sentences_brings_no_pair(item_of: Items, extra: int, expected: int) -> None:
    items = [item_of(f"d{n}", f"Red barn {n}.") for n in range(COMMON + extra)]
    assert len(similar_pairs(items, 5000)) == expected
