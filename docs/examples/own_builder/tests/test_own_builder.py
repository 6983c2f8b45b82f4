"""What a golden file cannot say: why the selector and the builder are right."""

from __future__ import annotations

from own_builder.build import RULES
from own_builder.select import most_words, words

from bench.retrieval.base import Passage, Query


def passage(text: str) -> Passage:
    return Passage(doc_id="d", start=0, end=len(text), text=text)


def test_words_that_say_nothing_do_not_count() -> None:
    assert words("When was the ferry Alma built?") == {"was", "ferry", "alma", "built"}


def test_the_passage_that_shares_more_words_comes_first_and_one_that_shares_none_never() -> None:
    found = [
        passage("The ferry sails."),
        passage("Gulls nest."),
        passage("The ferry Alma was built in 1931."),
    ]
    assert most_words(Query(question="When was the ferry Alma built?", k=3), found) == [2, 0]
    assert most_words(Query(question="When was the ferry Alma built?", k=1), found) == [2]


def test_the_rules_ask_for_the_form_that_is_scored() -> None:
    assert "<q>quote</q> [number]" in RULES[-1].text
