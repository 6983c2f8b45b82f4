"""What evidence costs, by hand: headers by run, nothing twice, what is required first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bench.selection.base import Sentence
from bench.selection.bill import Bill, bill_of, header_tokens
from bench.tokenizers import ByteTokenizer

Make = Callable[..., Any]


def test_a_run_has_one_header_and_a_gap_another(document: Make, query: Make) -> None:
    one, two, three = (offer.sentences[0] for offer in document("a", ["x.", "y.", "z."]))
    bill = Bill([one, two, three], query(header=7))
    costs = []
    for sentence in (one, three, two, two):
        costs.append(bill.more(sentence))
        bill.add(sentence)
    assert costs == [17, 17, 3, 0]  # 10 + 7 twice; the middle joins both runs and saves a header
    assert bill.tokens == 37  # 3 * 10 + 7


def test_a_header_for_every_item_where_the_contract_numbers_items(document: Make, query: Make) -> None:
    offers = document("a", ["x.", "y."])
    bill = bill_of(offers, query(header=7, each=True))
    for offer in offers:
        bill.add(offer.sentences[0])
    assert bill.tokens == 34


def test_what_is_required_is_paid_first(offer: Make, query: Make) -> None:
    offers = [offer("a", 0, "x.", required=True, tokens=4), offer("b", 0, "y.")]
    assert bill_of(offers, query(header=2)).tokens == 6


def test_a_usual_header_by_bytes() -> None:
    assert header_tokens(ByteTokenizer()) == len("[1] 0123456789\n") + 1


@given(st.permutations(range(6)), st.integers(0, 9))
def test_the_sum_does_not_depend_on_the_order(order: list[int], header: int) -> None:
    sentences = [
        Sentence(item=str(i), follows=str(i - 1) if i else None, tokens=i, required=False) for i in range(8)
    ]
    query: Any = type("Query", (), {"header_tokens": header, "header_each": False})
    bill = Bill(sentences, query)
    for i in order:
        bill.add(sentences[i])
    assert bill.tokens == sum(range(6)) + header  # 0..5 are one run
