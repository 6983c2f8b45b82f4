"""What a compressed text lost, with the values of the field cases A18 and A20."""

from __future__ import annotations

import pytest

from capsules.loss import Loss, loss, names_of, negations_of, numbers_of

NONE = Loss(numbers_lost=(), numbers_added=(), negations_lost=(), names_lost=(), broken=0)


def test_a18_a_negation_and_a_number() -> None:
    original = "Do not give drug K to patients under 12; the limit is 2.5 mg, never 25 mg."
    found = loss(original, "give drug K patients under 12 limit 25 mg never 25 mg")
    assert numbers_of(original) == ["12", "2.5", "25"]
    assert found.negations_lost == ("not",)  # "never" was kept
    assert (found.numbers_lost, found.numbers_added) == (("2.5",), ("25",))
    assert found.codes == ("compression.negation.lost", "compression.number.added", "compression.number.lost")


def test_a20_broken_characters() -> None:
    source, text = "試験は失敗した。", "試\ufffdは失敗した。"
    assert loss(source, text) == Loss(
        numbers_lost=(), numbers_added=(), negations_lost=(), names_lost=(), broken=1
    )
    assert loss(source, text).codes == ("compression.character.broken",)
    assert loss(text, text) == NONE  # a source that really holds one
    assert loss(text, source).codes == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It isn't so, and it isn’t there. Nobody NEVER knows.", ["n't", "n't", "nobody", "never"]),
        ("Nothing is notable without notes.", ["nothing", "without"]),
        ("这不是没有用的。", ["不", "没"]),
        ("ไม่ใช่", ["ไม่"]),
        ("यह नहीं है, मत जाओ।", ["नहीं", "मत"]),
        ("هذا ليس صحيحا ولا", ["ليس"]),
    ],
)
def test_negations(text: str, found: list[str]) -> None:
    assert negations_of(text) == found


def test_names_are_capitalised_inside_a_sentence() -> None:
    text = "Panthers lineman Mario Addison left. Fellow Kawann Short stayed."
    assert names_of(text) == ["Mario", "Addison", "Kawann", "Short"]
    assert loss(text, "Mario Short left, Kawann").names_lost == ("Addison",)
    assert loss(text, "mario addison kawann short").codes == ("compression.name.lost",)


def test_marks_of_sources_are_no_numbers() -> None:
    assert loss("It was 308.", "[1] It was 308.") == NONE
    assert loss("It was 308 [2].", "It was 308.") == NONE
    assert loss("It was 308.", "[1] It was 30.").numbers_added == ("30",)
