"""Construction: an instance that exists is valid. Rules, orders and laws, worked out by hand."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from typing import Any

import pytest

from capsules.authority import Authority
from capsules.claim import ClaimCandidate, Contradiction
from capsules.content_id import content_id
from capsules.errors import SchemaError
from capsules.evidence import EvidenceCapsule, Freshness, QuotePolicy
from capsules.omission import DroppedRange
from capsules.prompt import Constraint, EvidenceRef, PromptCapsule
from capsules.shape import Record
from capsules.source import SourceRef
from capsules.visibility import Visibility

S = content_id(b"source")
SPAN = f"{S}:10-20"


def refusal(make: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(SchemaError) as caught:
        make()
    return caught.value.code, caught.value.at


def all_records(cls: type[Record] = Record) -> list[type[Record]]:
    """The record classes as their modules hold them (making slots leaves an unused twin behind)."""
    direct = [
        sub for sub in cls.__subclasses__() if getattr(sys.modules[sub.__module__], sub.__name__) is sub
    ]
    return [each for sub in direct for each in (sub, *all_records(sub))]


def test_records_are_frozen_slotted_and_keyword_only() -> None:
    assert len(all_records()) >= 23
    for cls in all_records():
        assert is_dataclass(cls)
        assert "__slots__" in vars(cls)
        assert all(field.kw_only for field in fields(cls))


def test_a_record_cannot_be_changed() -> None:
    label = Visibility(level="public", project="demo")
    with pytest.raises(FrozenInstanceError):
        label.level = "restricted"  # type: ignore[misc]


class Level(enum.StrEnum):
    PUBLIC = "public"


WRONG_TYPES: dict[str, tuple[Callable[[], object], tuple[str, str]]] = {
    "a bool is no integer": (
        lambda: QuotePolicy(mode="verbatim", norm_id="raw/1", min_chars=True, max_chars=2, unique=True),
        ("schema.field.type", "/min_chars"),
    ),
    "an integer is no bool": (
        lambda: EvidenceRef(id=S, required=1),  # type: ignore[arg-type]
        ("schema.field.type", "/required"),
    ),
    "a float is no integer": (
        lambda: QuotePolicy(
            mode="verbatim",
            norm_id="raw/1",
            min_chars=1.0,  # type: ignore[arg-type]
            max_chars=2,
            unique=True,
        ),
        ("schema.field.type", "/min_chars"),
    ),
    "an enum is no string": (
        lambda: Visibility(level=Level.PUBLIC, project="demo"),
        ("schema.field.type", "/level"),
    ),
    "bytes are no string": (
        lambda: Visibility(level="public", project=b"demo"),  # type: ignore[arg-type]
        ("schema.field.type", "/project"),
    ),
    "a list is no tuple": (
        lambda: Contradiction(between=["a", "b"], kind="date", resolution=None),  # type: ignore[arg-type]
        ("schema.field.type", "/between"),
    ),
    "a dict is no record": (
        lambda: SourceRef(
            source=S,
            bytes=1,
            media_type="text/plain",
            origin={"dataset": "d", "row": "r"},  # type: ignore[arg-type]
            license="CC0-1.0",
            title=None,
            retrieved_as_of=None,
        ),
        ("schema.field.type", "/origin"),
    ),
    "another record is no Origin": (
        lambda: SourceRef(
            source=S,
            bytes=1,
            media_type="text/plain",
            origin=Visibility(level="public", project="demo"),  # type: ignore[arg-type]
            license="CC0-1.0",
            title=None,
            retrieved_as_of=None,
        ),
        ("schema.field.type", "/origin"),
    ),
    "null only where shown": (
        lambda: Freshness(as_of=None, expires_at=None, policy="hard"),  # type: ignore[arg-type]
        ("schema.field.type", "/as_of"),
    ),
}


@pytest.mark.parametrize(("make", "expected"), WRONG_TYPES.values(), ids=WRONG_TYPES.keys())
def test_types_are_exact(make: Callable[[], object], expected: tuple[str, str]) -> None:
    assert refusal(make) == expected


@pytest.mark.parametrize("number", [2**53, -(2**53), 10**5_000], ids=["2^53", "-2^53", "10^5000"])
def test_integers_stay_below_2_53(number: int) -> None:
    def make() -> QuotePolicy:
        return QuotePolicy(mode="verbatim", norm_id="raw/1", min_chars=1, max_chars=number, unique=True)

    assert refusal(make) == ("json.number.range", "/max_chars")


def test_the_first_failure_is_raised_and_the_others_counted() -> None:
    with pytest.raises(SchemaError, match=r"Visibility: expected .*\(and 1 more\)") as caught:
        Visibility(level="secret", project="")
    assert (caught.value.code, caught.value.at) == ("schema.word", "/level")


def test_span_ids_have_one_spelling() -> None:
    for bad in (
        f"{S}:010-20",
        f"{S}:10-020",
        f"{S}:10-0",
        f"{S}:-1-20",
        f"{S}:10-20\n",
        f"{S}:10",
        f"{S[:-1]}:1-2",
    ):
        assert refusal(lambda bad=bad: DroppedRange(item=bad, start=10, end=11)) == ("id.malformed", "/item")
    assert DroppedRange(item=f"{S}:0-1", start=0, end=1).end == 1


def test_references_inside_an_evidence_capsule_resolve(example: Any, make_evidence: Any) -> None:
    spans, refs = example.evidence.exact_spans, example.evidence.source_refs
    claim = example.evidence.claim_candidates[0]
    no_spans = {"exact_spans": (), "claim_candidates": (), "contradictions": ()}
    assert make_evidence(**no_spans).exact_spans == ()
    assert refusal(lambda: make_evidence(source_refs=refs[1:])) == ("source.missing", "/exact_spans/0/source")
    assert refusal(lambda: make_evidence(exact_spans=spans[:2])) == (
        "schema.reference",
        "/claim_candidates/0/span_ids/0",
    )
    unknown = (Contradiction(between=("c1", "c9"), kind="date", resolution=None),)
    assert refusal(lambda: make_evidence(contradictions=unknown)) == (
        "schema.reference",
        "/contradictions/0/between/1",
    )
    known = (Contradiction(between=(spans[0].span_id, spans[1].span_id), kind="labelled", resolution=None),)
    assert make_evidence(contradictions=known).contradictions == known
    empty = replace(claim, claim_id="c3", span_ids=())  # denied at validation, not by the shape
    assert (
        make_evidence(claim_candidates=(*example.evidence.claim_candidates, empty)).claim_candidates[2]
        is empty
    )


def test_evidence_is_in_order_and_without_repetition(example: Any, make_evidence: Any) -> None:
    evidence = example.evidence
    assert refusal(lambda: make_evidence(source_refs=evidence.source_refs[::-1])) == (
        "schema.order",
        "/source_refs/1",
    )
    assert refusal(lambda: make_evidence(exact_spans=evidence.exact_spans[::-1])) == (
        "schema.order",
        "/exact_spans/1",
    )
    claims = evidence.claim_candidates
    renamed = (claims[0], replace(claims[1], claim_id="c2"))
    assert refusal(lambda: make_evidence(claim_candidates=renamed)) == (
        "schema.duplicate",
        "/claim_candidates/1",
    )
    assert make_evidence(claim_candidates=claims[::-1]).claim_candidates == claims[::-1]


def test_a_thing_does_not_contradict_itself() -> None:
    make = lambda: Contradiction(between=("c1", "c1"), kind="numeric", resolution=None)  # noqa: E731
    assert refusal(make) == ("schema.duplicate", "/between/1")


def test_a_claim_names_a_span_once() -> None:
    def make() -> ClaimCandidate:
        return ClaimCandidate(
            claim_id="c",
            text="t",
            span_ids=(SPAN, SPAN),
            status="supported",
            method="rule",
            confidence_bp=1,
        )

    assert refusal(make) == ("schema.duplicate", "/span_ids/1")


def test_a_quote_policy_has_room() -> None:
    def make(least: int, most: int) -> QuotePolicy:
        return QuotePolicy(mode="elided", norm_id="compat/1", min_chars=least, max_chars=most, unique=True)

    assert make(5, 5).max_chars == 5
    assert refusal(lambda: make(6, 5)) == ("schema.limit", "/max_chars")


def test_grants_are_sorted(example: Any) -> None:
    authority: Authority = example.prompt.authority
    assert refusal(lambda: replace(authority, operations=("b", "a"))) == ("schema.order", "/operations/1")
    assert refusal(lambda: replace(authority, providers=("a", "a"))) == ("schema.order", "/providers/1")
    # by code point, not by UTF-16 unit: U+F8FF before U+1D11E
    assert replace(authority, providers=("\uf8ff", "\U0001d11e")).providers[0] == "\uf8ff"


def test_protected_fields_exist_in_a_prompt(example: Any, make_prompt: Any) -> None:
    budget = example.prompt.token_budget
    for name in PromptCapsule.__dataclass_fields__:
        assert make_prompt(token_budget=replace(budget, protected=(name,))).token_budget.protected == (name,)
    misspelt = replace(budget, protected=("authority", "constrants"))
    assert refusal(lambda: make_prompt(token_budget=misspelt)) == (
        "schema.word",
        "/token_budget/protected/1",
    )


@pytest.mark.parametrize("tokenizer_id", ["hf:google/gemma", "hf:local", "tiktoken:cl100k_base"])
def test_tokenizer_ids(example: Any, tokenizer_id: str) -> None:
    assert replace(example.prompt.token_budget, tokenizer_id=tokenizer_id).tokenizer_id == tokenizer_id


@pytest.mark.parametrize("tokenizer_id", ["", "hf:", "gpt2", "HF:x", "hf:a b", "hf:x\n", "tiktoken:\u00e9"])
def test_what_is_no_tokenizer_id(example: Any, tokenizer_id: str) -> None:
    budget = example.prompt.token_budget
    assert refusal(lambda: replace(budget, tokenizer_id=tokenizer_id)) == ("id.malformed", "/tokenizer_id")


def test_constraints_and_refs_bear_order_and_do_not_repeat(example: Any, make_prompt: Any) -> None:
    constraints = example.prompt.constraints
    assert make_prompt(constraints=constraints[::-1]).constraints == constraints[::-1]
    repeated = (*constraints, Constraint(id="task", kind="style", text="Short."))
    assert refusal(lambda: make_prompt(constraints=repeated)) == ("schema.duplicate", "/constraints/3")
    refs = (EvidenceRef(id=S, required=True), EvidenceRef(id=S, required=False))
    assert refusal(lambda: make_prompt(evidence_capsule_refs=refs)) == (
        "schema.duplicate",
        "/evidence_capsule_refs/1",
    )


def test_an_array_holds_at_most_10_000_items(make_prompt: Any) -> None:
    refs = tuple(EvidenceRef(id=content_id(b"%d" % index), required=False) for index in range(10_001))
    assert len(make_prompt(evidence_capsule_refs=refs[:-1]).evidence_capsule_refs) == 10_000
    assert refusal(lambda: make_prompt(evidence_capsule_refs=refs)) == (
        "schema.limit",
        "/evidence_capsule_refs",
    )


def test_construction_knows_its_schema_id(make_evidence: Any) -> None:
    assert refusal(lambda: make_evidence(schema_id="evidence-capsule/2")) == (
        "schema.major.unsupported",
        "/schema_id",
    )
    assert refusal(lambda: make_evidence(schema_id="prompt-capsule/1")) == (
        "object.type.mismatch",
        "/schema_id",
    )


def test_equal_records_are_one_value(example: Any) -> None:
    evidence: EvidenceCapsule = example.evidence
    assert replace(evidence) == evidence
    assert hash(replace(evidence)) == hash(evidence)
