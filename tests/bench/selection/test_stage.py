from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from bench.build.base import BuildError
from bench.selection.base import Offer, Selected, SelectionQuery
from bench.selection.stage import choose

Make = Callable[..., Any]


def everything(query: SelectionQuery, offers: Sequence[Offer]) -> list[int]:
    return list(range(len(offers)))


def test_a_limit_takes_sentences_in_order_and_passes_over_what_does_not_fit(offer: Make, query: Make) -> None:
    offers = [offer("abc"[i], 0, "x", tokens=tokens) for i, tokens in enumerate((6, 9, 3))]
    chosen = choose(everything, query(tokens=12, header=1), offers)
    assert chosen.items == {offers[0].name, offers[2].name}
    assert (chosen.order, chosen.tokens) == ((0, 1, 2), 11)
    assert choose(everything, query(header=1), offers).tokens == 21


def test_a_chunk_is_cut_at_its_sentences(document: Make, query: Make) -> None:
    one, two, three = document("a", ["x.", "y.", "z."])
    chunk = Offer(
        **{
            **{name: getattr(one, name) for name in ("doc_id", "source", "title", "label", "chunk", "rank")},
            "start": 0,
            "end": three.end,
            "text": "x. y. z.",
            "score_bp": 1,
            "sentences": (*one.sentences, *two.sentences, *three.sentences),
        }
    )
    chosen = choose(everything, query(unit="chunk", tokens=25), [chunk])
    assert chosen.items == {one.name, two.name}


def test_what_is_required_stays_whatever_the_selector_says(offer: Make, query: Make) -> None:
    offers = [offer("a", 0, "x", required=True), offer("b", 0, "y")]
    chosen = choose(lambda query, offers: [], query(tokens=10), offers)
    assert (chosen.items, chosen.order) == ({offers[0].name}, ())
    with pytest.raises(BuildError, match=r"within selection\.tokens 9, found 10") as refused:
        choose(everything, query(tokens=9), offers)
    assert refused.value.code == "budget.required.unfit"


@pytest.mark.parametrize("answer", [[0, 0], [2], [-1], [True], ["0"]])
def test_an_answer_that_is_no_list_of_indexes_names_the_selector(
    answer: list[Any], offer: Make, query: Make
) -> None:
    offers = [offer("a", 0, "x"), offer("b", 0, "y")]
    for given in (answer, Selected(order=answer)):
        with pytest.raises(BuildError, match="selection 'mine:own'") as refused:
            choose(lambda query, offers, given=given: given, query(name="mine:own"), offers)
        assert refused.value.code == "stage.indexes"
