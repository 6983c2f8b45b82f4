from __future__ import annotations

from bench.selection.unmet import unmet_needs


def test_what_is_found_and_not_kept_in_the_order_of_the_question() -> None:
    candidates = ["The ferry Alma was built in 1931.", "Her horn is loud.", "Gulls nest on piers."]
    asked = "When did the gulls of Alma build a lighthouse, and which horn has she?"
    assert unmet_needs(asked, candidates, candidates[:1]) == (
        "gulls",
        "horn",
    )  # no candidate has a lighthouse
    assert unmet_needs(asked, candidates, candidates) == ()


def test_longer_words_meet_by_their_first_letters_and_function_words_are_never_unmet() -> None:
    texts = ["He surrendered.", "And who was it?"]
    assert unmet_needs("What did they surrender?", texts, texts[:1]) == ()
    assert unmet_needs("Who was it and why?", texts, []) == ()
    assert unmet_needs("", texts, []) == ()
