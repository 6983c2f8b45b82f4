from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.evidence.answerability import assess

ALMA = "The ferry Alma was built in 1931."


@pytest.mark.parametrize(
    ("question", "sentences", "score_bp", "missing"),
    [
        ("Who painted the ferry Alma?", [ALMA], (2 + 2) * 10_000 // 6, ("painted",)),
        ("Who painted the ferry Alma?", [ALMA, "Lars painted it."], (2 + 3) * 10_000 // 6, ()),
        ("Who painted the ferry Alma?", ["Gulls nest."], 0, ("alma", "ferry", "painted")),
        ("Who painted the ferry Alma?", [], 0, ("alma", "ferry", "painted")),
        ("Who?", [ALMA], 0, ()),
    ],
)
def test_coverage(question: str, sentences: list[str], score_bp: int, missing: tuple[str, ...]) -> None:
    found = assess(question, sentences)
    assert (found.score_bp, found.missing) == (score_bp, missing)
    assert (found.scope, found.in_scope) == (None, None)


@pytest.mark.parametrize(
    ("years", "score_bp", "in_scope"),
    [
        ("1990 and 1995", 10_000, True),  # coverage 1, both ends, inside
        ("1990", (10_000 + (5000 + 10_000) // 2) // 2, True),
        ("1992", (10_000 + 5000) // 2, True),  # inside, neither end
        ("1989", 5000, False),
    ],
)
def test_a_question_about_a_time_needs_evidence_of_that_time(
    years: str, score_bp: int, in_scope: bool
) -> None:
    found = assess("Who owned the ferry from 1990 to 1995?", [f"Lars owned the ferry in {years}."])
    assert (found.score_bp, found.scope, found.in_scope) == (score_bp, (1990, 1995), in_scope)


@given(st.text(max_size=40), st.lists(st.text(max_size=40), max_size=4), st.text(max_size=40))
def test_the_score_is_a_share_and_more_evidence_never_lowers_it(
    question: str, sentences: list[str], more: str
) -> None:
    score = assess(question, sentences).score_bp
    assert 0 <= score <= assess(question, [*sentences, more]).score_bp <= 10_000
