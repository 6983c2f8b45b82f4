from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.build.base import BuildError
from bench.evidence.detector import detect, similar
from bench.evidence.detectors import detector
from bench.registry import RegistryError

FERRY = "The ferry Alma crosses the sound in nine minutes."


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        (FERRY, "The ferry Alma crosses the sound in 12 minutes.", "numeric"),
        (FERRY, "The ferry Alma crosses the sound in 9 minutes.", None),
        (FERRY, "The ferry Alma crosses the sound with 40 cars.", None),  # 9 and 40 count different things
        ("The lamp weighs 41.", "The lamp weighs 44 kilograms.", "numeric"),  # no unit: perhaps the same
        ("The lamp weighs 41 tons.", "The lamp weighs 44 kilograms.", None),
        (FERRY, "The ferry Alma never crosses the sound in nine minutes.", "negation"),
        (FERRY, FERRY, None),
        ("The album was released in 2011.", "The album was released on 28 April 2014.", "date"),
        ("The album was released in 2014.", "The album was released on 28 April 2014.", None),
        ("The album was released in March 2014.", "The album was released in April 2014.", "date"),
        ("The mill did not burn in the war.", "The mill did not burn in the war at all.", None),
        ("The northern gate of the town stands.", "The southern gate of the town stands.", "negation"),
        ("The northern and southern gates of the town.", "The southern gate of the town.", None),  # has both
        ("The gate of the town is Roman.", "The gate of the town is Greek.", None),  # names are not seen
    ],
)
def test_what_the_rule_sees(left: str, right: str, kind: str | None) -> None:
    assert detect(left, right) == kind
    assert detect(right, left) == kind


@pytest.mark.parametrize(
    ("left", "right", "at_5000", "at_10000"),
    [
        ("red barn door", "red barn roof", True, False),  # 2 of 3
        ("red barn", "red barn roof tile", True, True),  # 2 of the shorter one's 2
        ("red roof", "barn roof", False, False),  # one term is not enough
        ("red barn door hinge paint", "red barn roof tile moss", False, False),  # 2 of 5
    ],
)
def test_only_similar_sentences_are_compared(left: str, right: str, at_5000: bool, at_10000: bool) -> None:
    assert similar(left, right, 5000) == at_5000
    assert similar(left, right, 10_000) == at_10000


WORDS = "the ferry Alma not opened closed in on 9 12 nine 1931 2014 April May never 3,000"

_text = st.lists(
    st.sampled_from(WORDS.split()),
    max_size=12,
).map(" ".join)


@given(_text, _text)
def test_the_order_of_two_sentences_means_nothing(left: str, right: str) -> None:
    assert detect(left, right) == detect(right, left)


@given(st.text(max_size=60))
def test_no_sentence_contradicts_itself(text: str) -> None:
    assert detect(text, text) is None


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ("The Alby mill grinds 4 tons.", "The Alby mill grinds 5 tons.", "numeric"),
        ("The Alby mill grinds 4 tons.", "The Orn mill grinds 5 tons.", None),  # two mills
        ("The Alby mill grinds 4 tons.", "The mill grinds 5 tons, says Lars.", None),
        ("The Alby mill grinds 4 tons.", "The mill grinds 5 tons.", "numeric"),  # one side adds a name
        ("The mill closed in May 1901 .", "The mill closed in June 1901 .", "date"),  # months are no names
    ],
)
def test_sentences_that_each_name_something_else_are_apart(left: str, right: str, kind: str | None) -> None:
    assert detector("rule_named")([(left, right), (right, left)]) == [kind, kind]


def test_a_detector_is_a_name_or_a_module() -> None:
    assert detector("rule")([(FERRY, FERRY.replace("nine", "ten"))]) == ["numeric"]
    with pytest.raises(
        RegistryError,
        match=r"'rules': expected one of rule, rule_named, nli@MODEL \(MODEL: a folder, or ORG/NAME@<40 hex>"
        r"\), or module:attribute",
    ):
        detector("rules")
    with pytest.raises(RegistryError, match=r"ORG/NAME@<40 hex>\), none, or module:attribute"):
        detector("rules", optional=True)


@pytest.mark.parametrize("answer", [[], ["numeric", None], ["wrong"], [True]])
def test_answers_of_a_detector_are_checked(monkeypatch: pytest.MonkeyPatch, answer: list[object]) -> None:
    monkeypatch.setattr("bench.evidence.detectors.DETECTORS", {"mine": lambda pairs: answer})
    with pytest.raises(BuildError) as caught:
        detector("mine")([("a", "b")])
    assert caught.value.code == "stage.indexes"
