"""The form of a pointer answer, and what a pointer resolves to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.build.base import ShownSource
from bench.scorers.edits import check_edits
from bench.scorers.judge import Judge
from bench.scorers.pointers import parse_pointers
from bench.specs import ContractSpec

TEXT = "Zinc 5 mg. Iron 7 mg. Lead none."
ITEMS = tuple(
    ShownSource(number=n, doc_id="d", source="d", ranges=(span,))
    for n, span in enumerate(((0, 10), (11, 21), (22, 32)), 1)
)
POINTER = ContractSpec(name="pointer")
UNKNOWN, MALFORMED, UNFINISHED = (
    ("contract.number_unknown",),
    ("contract.pointer_malformed",),
    ("contract.unfinished",),
)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (" [2]", [(2, ())]),
        ("[2][3]", [(2, ()), (3, ())]),
        ("[2, 3]", [(2, ()), (3, ())]),
        ("[1-3]", [(1, ()), (2, ()), (3, ())]),
        ("It is [2]. And [2].", [(2, ())]),  # each number once
        ("[4]", [(None, UNKNOWN)]),
        ("[0] [1]", [(None, UNKNOWN), (1, ())]),
        ("[1.2]", [(None, MALFORMED)]),
        ("[3-1] [2]", [(None, MALFORMED), (2, ())]),
        ("[Source 1]", [(None, MALFORMED)]),
        (" [1", [(None, UNFINISHED)]),
        ("[2] [1", [(2, ()), (None, UNFINISHED)]),
        ("2", []),
        ("", []),
        ("<q>Iron 7 mg.</q> [2]", [(2, ())]),
    ],
)
def test_forms(answer: str, expected: list[tuple[int | None, tuple[str, ...]]]) -> None:
    found = parse_pointers(answer, ITEMS)
    assert [(p.shown.number if p.shown else None, p.codes) for p in found] == expected


def test_a_pointer_resolves_to_its_span() -> None:
    (judged,) = Judge({"d": TEXT}.__getitem__).answer(" [2]", ITEMS, ("d",), POINTER)
    assert (judged.text, judged.source, judged.span, judged.span_id) == (
        "Iron 7 mg.",
        "d",
        (11, 21),
        "d:11-21",
    )
    assert (judged.match, judged.place, judged.exact, judged.unique) == ("raw_exact", "cited", True, True)
    assert (judged.finished, judged.pointer, judged.reason) == (True, True, None)


def test_a_pointer_that_leads_nowhere_is_not_exact() -> None:
    judge = Judge({"d": TEXT}.__getitem__)
    for answer, reason, finished in (
        ("[9]", "contract.number_unknown", True),
        ("[1", "contract.unfinished", False),
        ("[1.2]", "contract.pointer_malformed", True),
    ):
        (judged,) = judge.answer(answer, ITEMS, ("d",), POINTER)
        assert (judged.exact, judged.reason, judged.finished, judged.span_id) == (
            False,
            reason,
            finished,
            None,
        )


def test_pointers_hold_nothing_to_edit() -> None:
    judge = Judge({"d": TEXT}.__getitem__)
    assert check_edits(judge, judge.answer("[2]", ITEMS, ("d",), POINTER)).edits == 0
    quoted = judge.answer("<q>Iron 7 mg.</q> [2]", ITEMS, ("d",), ContractSpec())
    assert check_edits(judge, quoted).edits > 0  # the same place, quoted: it is edited


@given(st.text("[]1234,-. <q>\n", max_size=40))
def test_every_attempt_is_counted_once_and_nothing_raises(answer: str) -> None:
    found = parse_pointers(answer, ITEMS)
    known = [p.shown.number for p in found if p.shown]
    assert len(set(known)) == len(known)
    assert all(p.codes for p in found if p.shown is None)


def test_scores_of_pointers(world: Any) -> None:
    """Three items of two documents; the gold evidence is the first sentence of the pump."""
    pump, tank = world.ids["pump"], world.ids["tank"]
    shown = (
        ShownSource(number=1, doc_id="pump", source=pump, ranges=((0, 26),)),
        ShownSource(number=2, doc_id="pump", source=pump, ranges=((27, 59),)),
        ShownSource(number=3, doc_id="tank", source=tank, ranges=((0, 27),)),
    )

    def values(answer: str) -> list[float | None]:
        rows = world.score(answer, builds=[world.build(shown=shown)], contract={"capsule": POINTER})
        names = ("exact_citation", "exact_unique", "answer_in_quote", "right_source")
        return [rows[name].value for name in names]

    assert values("[1]") == [1, 1, 1, 1]
    assert values("[2]") == [1, 1, 0, 1]  # the right document, the wrong sentence
    assert values("[3]") == [1, 1, 0, 0]
    assert values("[1][3]") == [1, 1, 1, 0.5]
    assert values("[1][7]") == [0.5, 0.5, 1, 0.5]
    assert values("none") == [None] * 4
