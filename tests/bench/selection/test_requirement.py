"""Vocabulary, mentions, relevance and requirement, by hand."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import pytest

from bench.selection.mentions import mentioned, opening_name
from bench.selection.relevance import Relevance, relevance_of
from bench.selection.requirement import TERMS, find_requirement
from bench.selection.vocabulary import coverage, naming_words, question_words, stem, stems, weights

Make = Callable[..., Any]


def test_stems() -> None:
    assert stem("surrendered") == stem("surrender") == "surre"
    assert [stem(word) for word in ("gate", "1234567", "größer", "поезд1", "中文")] == [
        "gate",
        "1234567",
        "größer",
        "поезд1",
        "中文",
    ]
    assert stems("The Gates, the gate.") == {"the", "gates", "gate"}


def test_words_of_a_question() -> None:
    assert question_words("Which builder did the builders sue?") == {
        "which": "which",
        "build": "builder",
        "did": "did",
        "the": "the",
        "sue": "sue",
    }
    assert naming_words("Which builder did the builders sue?") == {"build": "builder", "sue": "sue"}
    assert naming_words("Who was it?") == {}
    assert naming_words("谁建造了它") != {}  # no list for this language: the weights decide


def test_weights_are_those_of_bm25_and_absent_words_have_none() -> None:
    texts = [{"red"}, {"red", "barn"}, {"red"}]
    found = weights(["red", "barn", "mill"], texts)
    assert found == {"red": log(1 + 0.5 / 3.5), "barn": log(1 + 2.5 / 1.5)}
    assert coverage(found, {"barn"}) == pytest.approx(found["barn"] / (found["red"] + found["barn"]))
    assert coverage({}, {"barn"}) == 0


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Shirley Temple Black was an actress.", "Shirley Temple Black"),
        ("The University of Oslo is old.", "University of Oslo"),
        ("The ferry", ""),
        ("1984 Olympics were held.", "1984 Olympics"),
        ("Alma (ferry) sails.", "Alma"),
        ("the Alma", ""),
        ("", ""),
    ],
)
def test_the_name_that_a_text_opens_with(text: str, name: str) -> None:
    assert opening_name(text) == name


def test_a_document_is_mentioned_as_strongly_as_the_best_passage_that_names_it(
    offer: Make, source: Any
) -> None:
    offers = [
        offer("a", 0, "The film stars Shirley Temple and Jo Ek.", title="Kiss and Tell"),
        offer("b", 0, "She was an envoy.", title="Shirley Temple (actress)"),
        offer("c", 0, "Jo Ek sang of Shirley Temple.", title="Jo Ek"),
        offer("d", 0, "Kiss and Tell is a film.", title="Tell"),
    ]
    found = mentioned("Who directed Kiss and Tell?", offers, [0.4, 0.1, 0.9, 0.3])
    assert found == {source("a"): 0.0, source("b"): 0.9, source("c"): 0.4, source("d"): 0.0}
    #  a and d: the question names them; a passage of c itself does not count for c


def test_relevance_is_of_the_best_and_reads_titles(offer: Make) -> None:
    offers = [
        offer("a", 0, "She sailed in May.", title="Ferry Alma", score_bp=0),
        offer("b", 0, "The gulls nest.", title="Birds", score_bp=0),
    ]
    found = relevance_of("When was the ferry Alma built?", offers)
    # the, ferry and alma weigh the same. a: 80 * 2/3 (title) + 10 (opening) = 63.3, and 0.05 of that more, as
    # the question has a word of its title. b: 10 * 1/3 (own) + 20 (of all chunks' words the question has
    # only "the") + 10 (opening) = 33.3; 33.3 / 63.3 / 1.05 = 0.5013
    assert found.bp == (10_000, 5_013)
    assert set(found.weights) == {"the", "ferry", "alma"}  # "was" and "built" stand nowhere


def relevance(bp: list[int], texts: list[str], **more: Any) -> Relevance:
    held = [stems(text) for text in texts]
    given = {"title_stems": tuple(frozenset[str]() for _ in bp), "mentions": {}, **more}
    return Relevance(bp=tuple(bp), stems=tuple(held), weights=weights(more.pop("words", ()), held), **given)


def test_needs_and_their_witnesses(offer: Make, query: Make, source: Any) -> None:
    texts = ["alpha beta", "alpha", "gamma", "beta gamma", "other"]
    offers = [offer("abcde"[i], 0, text) for i, text in enumerate(texts)]
    held = [stems(text) for text in texts]
    known = Relevance(
        bp=(10_000, 9_600, 3_000, 2_900, 6_500),
        stems=tuple(held),
        title_stems=tuple(frozenset[str]() for _ in texts),
        weights=weights(["alpha", "beta", "gamma"], held),
        mentions={source("c"): 0.8, source("d"): 0.4},
    )
    found = find_requirement(query("What alpha, beta, gamma, delta?"), offers, known)
    assert {need.name: set(need.witnesses) for need in found.needs} == {
        "lead": {0},  # the best alone
        "term:alpha": {0, 1},  # 9,600 is at least 95 % of 10,000
        "term:beta": {0},  # 2,900 is not
        "term:gamma": {2, 3},  # 2,900 is at least 95 % of 3,000
        f"bridge:{source('c')}": {2},
        f"voice:{source('a')}": {0},
        f"voice:{source('b')}": {1},
        f"voice:{source('e')}": {4},
    }
    assert found.needs[0].name == "lead"
    assert (found.unmet, found.left_out, found.named) == (("term:delta",), (), True)
    few = find_requirement(query("What alpha, beta, gamma, delta?", needs=2), offers, known)
    assert [need.name for need in few.needs] == [need.name for need in found.needs][:2]
    assert len(few.left_out) == 6


def test_a_title_meets_a_word_and_long_questions_are_cut_at_the_lightest(offer: Make, query: Make) -> None:
    words = ["kappa", "lambd", "omega", "sigma", "theta", "zetas", "alpha"]
    texts = [" ".join(words[: i + 1]) for i in range(len(words))]  # kappa in all of them: the lightest
    offers = [offer("abcdefg"[i], 0, text, title="Rhodo") for i, text in enumerate(texts)]
    known = relevance_of(" ".join([*words, "rhodo"]), offers)
    found = find_requirement(query(" ".join([*words, "rhodo"])), offers, known)
    names = [need.name for need in found.needs]
    assert len([name for name in names if name.startswith("term:")]) == TERMS
    assert found.left_out == ("term:kappa", "term:rhodo")  # the title has it everywhere
    assert found.unmet == ()
    titled = [offer("a", 0, "rhodo"), offer("b", 0, "x", title="Rhodo")]
    both = find_requirement(query("rhodo?", witness_bp=1), titled, relevance_of("rhodo?", titled))
    assert {n.name: set(n.witnesses) for n in both.needs}["term:rhodo"] == {0, 1}


def test_nothing_offered_and_nothing_named(offer: Make, query: Make) -> None:
    empty = find_requirement(query("Which alma?"), [], relevance_of("Which alma?", []))
    assert (empty.needs, empty.unmet, empty.named) == ((), ("term:alma",), True)
    offers = [offer("a", 0, "Gulls."), offer("b", 0, "Terns.")]
    bare = find_requirement(query("Who was it?"), offers, relevance_of("Who was it?", offers))
    assert bare.named is False
    assert bare.needs[0].name == "lead"
