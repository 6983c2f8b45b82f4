"""Explanations: complete over every field of both records, and readable where it matters."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.diff.explain import Explanation, explain

Pair = tuple[dict[str, Any], list[dict[str, Any]]]
NUMBER = st.integers(0, 1_000_000)
FIXED = settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])


def told(explanation: Explanation) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for section in explanation.sections:
        found.setdefault(section.title, []).extend(section.lines)
    return found


def leaves(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(entry, (*at, key))
    elif value is not None:
        yield at


def edited(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    result = copy.deepcopy(value)
    node = result
    for name in place[:-1]:
        node = node[name]
    node[place[-1]] = new
    return result


def other(value: Any) -> Any:
    return not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else value + "~"


@FIXED
@given(NUMBER, NUMBER)
def test_any_change_of_any_field_is_told_in_exactly_one_section(
    capsules: list[Pair], which: int, where: int
) -> None:
    prompt, evidence = capsules[which % len(capsules)]
    whole = {"prompt": prompt, "evidence": evidence}
    places = list(leaves(whole))
    place = places[where % len(places)]
    node = whole
    for name in place:
        node = node[name]
    changed = edited(whole, place, other(node))
    found = explain(prompt, changed["prompt"], evidence, changed["evidence"])
    assert found.changes
    titles = [section.title for section in found.sections]
    assert len(titles) == len(set(titles))
    assert all(section.lines for section in found.sections)
    if place[-1] != "capsule_id":
        assert len(titles) == 1


def test_a_capsule_and_itself_have_nothing_to_tell(capsules: list[Pair]) -> None:
    for prompt, evidence in capsules:
        found = explain(prompt, prompt, evidence, evidence)
        assert (found.sections, found.changes) == ((), ())
        assert set(found.spans) == {"kept"}


def test_a_dropped_span_is_told_with_the_reason_of_the_side_that_omits_it(capsules: list[Pair]) -> None:
    prompt, evidence = copy.deepcopy(capsules[0])
    gone = evidence[0]["exact_spans"].pop(0)
    omission = {
        "item": gone["span_id"], "stage": "budget", "reason": "budget.limit",
        "tokens": 9, "required": False, "count": 1,
    }  # fmt: skip
    prompt["omissions"].insert(0, omission)
    found = explain(capsules[0][0], prompt, capsules[0][1], evidence)
    name = evidence[0]["capsule_id"].rpartition(":")[2]
    spans = told(found)[f"evidence {name}: spans"]
    assert spans[0].endswith("1 gone")
    assert spans[1] == f'gone: "{gone["exact"]}" ({gone["span_id"]}); B omits it (budget.limit)'
    assert told(found)["omissions"] == [
        f"{gone['span_id']}: only B has an omission (budget.limit, 9 tokens); A does not omit it"
    ]
    back = explain(prompt, capsules[0][0], evidence, capsules[0][1])
    assert told(back)[f"evidence {name}: spans"][1].startswith("new: ")
    assert "; A omits it (budget.limit)" in told(back)[f"evidence {name}: spans"][1]
    alone = explain(capsules[0][1][0], evidence[0])
    assert told(alone)["spans"][1] == f'gone: "{gone["exact"]}" ({gone["span_id"]})'


def reworded(constraint: dict[str, Any], old: str, new: str) -> None:
    constraint["text"] = constraint["text"].replace(old, new)


EDITS = {
    "constraints": (
        lambda p: p["constraints"][0].update(
            text=p["constraints"][0]["text"].replace("short quote", "long quote")
        ),
        ['constraints[instruction].text, from character 27: " short" in A, " long" in B'],
    ),
    "budget": (
        lambda p: p["token_budget"].update(evidence_limit=7),
        ["token_budget.evidence_limit: 1024 in A, 7 in B"],
    ),
    "output contract": (
        lambda p: p["output_contract"].update(name="pointer"),
        ['output_contract.name: "quote" in A, "pointer" in B'],
    ),
    "authority": (
        lambda p: p["authority"]["providers"].append("other"),
        ['authority.providers[other]: only B has "other"'],
    ),
    "identity": (lambda p: p.update(task="t"), ['task: "synthetic" in A, "t" in B']),
    "surface snippet": (
        lambda p: p.update(surface_snippet={"text": "x", "derived_from": [], "level": "public"}),
        ['surface_snippet: nothing in A, {"derived_from":[],"level":"public","text":"x"} in B'],
    ),
}


@pytest.mark.parametrize("title", EDITS)
def test_fields_of_a_prompt_are_told_in_words(title: str, capsules: list[Pair]) -> None:
    edit, lines = EDITS[title]
    prompt = copy.deepcopy(capsules[0][0])
    edit(prompt)
    assert told(explain(capsules[0][0], prompt)) == {title: lines}


def test_order_is_told(capsules: list[Pair]) -> None:
    prompt = copy.deepcopy(capsules[0][0])
    prompt["constraints"].reverse()
    assert told(explain(capsules[0][0], prompt)) == {
        "constraints": ["constraints: the same entries in another order"]
    }


def test_claims_contradictions_and_gaps_are_told(capsules: list[Pair]) -> None:
    left = copy.deepcopy(capsules[0][1][0])
    one, two = (span["span_id"] for span in left["exact_spans"][:2])
    claim = {"claim_id": "claim-1", "text": "It is so.", "span_ids": [one], "method": "rule"}
    left["claim_candidates"] = [{**claim, "status": "supported", "confidence_bp": 10000}]
    right = copy.deepcopy(left)
    right["claim_candidates"][0].update(status="contradicted", confidence_bp=1)
    right["contradictions"] = [{"between": [one, two], "kind": "numeric", "resolution": None}]
    right["missing_evidence"] = [{"query": "how high?", "stage": "retrieval", "why": "no document"}]
    right["freshness"]["expires_at"] = "2027-01-01T00:00:00Z"
    found = told(explain(left, right))
    assert found["claims"] == [
        "claim_candidates[claim-1].confidence_bp: 10000 in A, 1 in B",
        'claim_candidates[claim-1].status: "supported" in A, "contradicted" in B',
    ]
    (clash,) = found["contradictions"]
    assert clash.startswith('contradictions[entry 0]: only B has {"between":["')
    assert found["missing evidence"] == ['missing_evidence[entry 0]: only B has "how high?"']
    assert found["freshness"] == ['freshness.expires_at: nothing in A, "2027-01-01T00:00:00Z" in B']


def test_evidence_that_only_one_side_has_is_told_with_its_spans(capsules: list[Pair]) -> None:
    prompt, evidence = capsules[0]
    found = explain(prompt, prompt, evidence, [])
    names = [f"evidence {one['capsule_id'].rpartition(':')[2]}" for one in evidence]
    assert [section.title for section in found.sections] == names
    assert found.sections[0].lines[0] == "only A has it"
    assert len(found.sections[0].lines) == 1 + len(evidence[0]["exact_spans"])
    assert found.spans == {"gone": sum(len(one["exact_spans"]) for one in evidence)}
