"""One-character edits: what they are, and that the check sees every one of them."""

from __future__ import annotations

from typing import Any

from bench.scorers.edits import EditCounts, check_edits, one_character_edits
from bench.scorers.judge import Judge
from bench.specs import ContractSpec


def test_the_nine_edits_of_a_quote() -> None:
    assert one_character_edits("abcd") == (
        "xbcd",
        "bcd",
        "abxd",
        "abd",
        "abcx",
        "abc",
        "xabcd",
        "abxcd",
        "abcdx",
    )
    assert one_character_edits("x") == ("y", "", "xx")


def counts(world: Any, answer: str) -> EditCounts:
    judge = Judge(world.texts.__getitem__)
    sources = tuple(world.ids.values())
    return check_edits(judge, judge.answer(answer, world.build().shown, sources, ContractSpec()))


def test_no_edit_is_accepted_at_its_place(world: Any) -> None:
    found = counts(world, "<q>must not run dry</q> [1]")
    assert (found.quotes, found.edits, found.accepted, found.folded) == (1, 9, 0, 0)
    # "ust not run dry" and "must not run dr" stand in the source, shorter and at another range
    assert (found.elsewhere, found.refused) == (2, 7)


def test_an_edit_that_a_normalization_folds_is_counted_apart(world: Any) -> None:
    """The middle of "a  b" is a space of two: deleting it gives an equal text under quote/1."""
    found = counts(world, "<q>not  run</q> [1]")
    assert (found.quotes, found.folded, found.accepted) == (1, 1, 0)
    assert found.edits == found.refused + found.elsewhere + found.folded + found.accepted


def test_only_exact_quotes_are_edited(world: Any) -> None:
    assert counts(world, "<q>nothing of it</q> [1] <q>run dry") == EditCounts()


def test_an_ambiguous_quote_is_checked_at_its_first_place(world: Any) -> None:
    assert counts(world, "<q>5 mg</q> [2]").accepted == 0


def test_a_broken_check_is_seen(world: Any, monkeypatch: Any) -> None:
    """A check that accepts anything of about the right length makes false accepts, not silence."""
    monkeypatch.setattr(Judge, "holds_at", lambda self, source, quote, span: True)
    assert counts(world, "<q>must not run dry</q> [1]").accepted == 9
    monkeypatch.setattr(Judge, "holds_at", lambda self, source, quote, span: False)
    monkeypatch.setattr(Judge, "occurs", lambda self, source, quote: True)
    assert counts(world, "<q>must not run dry</q> [1]").accepted == 7
