from __future__ import annotations

import pytest

from bench.evidence.support import judge

MILL = "The mill of Alby was built in 1901 by Lars and grinds 40 tons of rye a year."
DAM = "Its dam is fed by the river Orn."


@pytest.mark.parametrize(
    ("claim", "status", "confidence_bp"),
    [
        (" The mill of Alby was built in 1901 ", "supported", 10_000),  # verbatim but for its ends
        ("Lars built the mill of Alby in 1901.", "supported", 10_000),
        ("In 1901 Lars built the mill of Alby, fed by the Orn.", "supported", 10_000),  # of both spans
        ("Lars built the mill of Alby.", "supported", 10_000),
        ("Olaf built the mill of Alby.", "unsupported", 0),  # 3 of 4 terms
        ("Lars built the mill of Alby in 1911.", "contradicted", 0),
        ("The mill of Alby does not grind rye.", "contradicted", 0),
        ("The mill of Alby has 7 stones.", "unsupported", 0),
        ("Gulls nest on the pier.", "unsupported", 0),
        ("", "unsupported", 0),
    ],
)
def test_support_by_rule(claim: str, status: str, confidence_bp: int) -> None:
    found = judge(claim, [MILL, DAM], 8000)
    assert (found.status, found.confidence_bp) == (status, confidence_bp)


def test_the_share_that_is_asked_for() -> None:
    claim = "Olaf built the mill of Alby."
    assert judge(claim, [MILL], 7500).status == "supported"
    assert judge(claim, [MILL], 7500).confidence_bp == 7500
    assert judge(claim, [MILL], 7501).status == "unsupported"


def test_a_contradiction_names_the_span_and_the_kind() -> None:
    found = judge("The mill of Alby was built in 1911.", [DAM, MILL], 8000)
    assert (found.status, found.conflicts) == ("contradicted", ((1, "date"),))


def test_no_span_supports_nothing() -> None:
    assert judge("Gulls nest.", [], 1).status == "unsupported"


@pytest.mark.parametrize(
    "claim", ["Gulls nest 7 times.", "Gulls nest at times in 1901.", "Gulls never nest at times."]
)
def test_a_number_a_date_and_a_denial_must_be_the_span_s_too(claim: str) -> None:
    spans = ["Gulls nest at times.", "Terns do."]
    assert judge("At times, gulls nest.", spans, 8000).status == "supported"
    assert judge(claim, spans, 8000).status != "supported"


def test_a_number_that_no_span_has_is_unsupported_and_no_contradiction() -> None:
    assert judge("Gulls nest 7 times.", ["Gulls nest at times."], 8000).status == "unsupported"
