"""A private text in any string field of a capsule never comes back in a report, a summary or an error."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from capsules.canonical import canonical_bytes
from capsules.cli_verify import summary
from capsules.codec import check_value, from_value, to_value
from capsules.content_id import content_id, require_content_id
from capsules.described import described, described_schema_id
from capsules.equivalence import EquivalenceContract
from capsules.errors import CapsuleError
from capsules.evidence import EvidenceCapsule
from capsules.policy import read_policy
from capsules.prompt import PromptCapsule
from capsules.report_json import report_bytes
from capsules.shape import Array, Nested, Nullable, Record, shape_of
from capsules.timestamp import parse_time
from capsules.validation import Given, require_valid, validate

CANARY = "zebrafinch7"
# In a shape that most patterns refuse, and in those of the fields with a pattern of their own.
FORMS = (
    f"Private {CANARY} text",
    CANARY,
    f"hf:{CANARY}",
    f"demo:vectors:{CANARY}:prompt",
    f"{CANARY}/1 ",
    f"{CANARY}\n",
)
NOW = "2024-06-01T12:00:00Z"

Place = tuple[str, ...]


def string_places(cls: type[Record], at: Place = ()) -> Iterator[Place]:
    """The places of all strings of a record class; ``*`` stands for every item of an array."""
    for name, shape in shape_of(cls).nodes.items():
        node, place = shape, (*at, name)
        while isinstance(node, Nullable | Array):
            place += ("*",) * isinstance(node, Array)
            node = node.inner if isinstance(node, Nullable) else node.item
        if isinstance(node, Nested):
            yield from string_places(node.cls, place)
        elif node.rule.schema().get("type") == "string" or {"enum", "const"} & node.rule.schema().keys():
            yield place


def put(value: Any, place: Place, text: str) -> int:
    """Put a text wherever a place leads; returns at how many spots."""
    name, *rest = place
    keys = range(len(value)) if name == "*" else (name,)
    if rest:
        return sum(put(value[key], tuple(rest), text) for key in keys if value[key] is not None)
    for key in keys:
        value[key] = text
    return len(keys)


@pytest.fixture(scope="module")
def full(kit: Any) -> Callable[[], Any]:
    """A sealed world in which every array and every object that may be null holds something."""

    def make() -> Any:
        world = kit.World()
        spans = world.public["exact_spans"]
        world.public["contradictions"] = [
            {"between": [spans[0]["span_id"], "valve-1"], "kind": "date", "resolution": "The later one."}
        ]
        world.seal()
        first = spans[0]
        world.prompt["rewrites"] = [
            {
                "items": [first["span_id"]],
                "text": "The valve shut.",
                "compressor": "words",
                "dropped": [{"item": first["span_id"], "start": first["start"], "end": first["start"] + 3}],
                "tokens_before": 9,
                "tokens_sent": 4,
            }
        ]
        return world

    return make


PLACES = [("prompt", place) for place in string_places(PromptCapsule)] + [
    ("public", place) for place in string_places(EvidenceCapsule)
]


def said(call: Callable[[], Any]) -> str:
    """All that an error says."""
    with pytest.raises(CapsuleError) as caught:
        call()
    error = caught.value
    return f"{error!r} {error} {error.at} {error.message}"


def outputs(data: bytes, given: Given, expect: str | None) -> Iterator[str]:
    report = validate(data, given, expect=expect)
    yield report_bytes(report).decode()
    yield summary(report)
    if not report.valid or report.authorized is False:
        yield said(lambda: require_valid(data, given, expect=expect))


def test_the_places_are_those_of_all_strings_of_both_records() -> None:
    prompt, evidence = ([place for of, place in PLACES if of == name] for name in ("prompt", "public"))

    assert len(prompt) == len(set(prompt)) == 32
    assert len(evidence) == len(set(evidence)) == 35
    assert ("rewrites", "*", "dropped", "*", "item") in prompt
    assert ("claim_candidates", "*", "span_ids", "*") in evidence
    assert {field.name for field in dataclasses.fields(PromptCapsule)} >= {place[0] for place in prompt}


@pytest.mark.parametrize(
    ("of", "place"), PLACES, ids=lambda part: part if isinstance(part, str) else ".".join(part)
)
def test_no_canary_comes_back(
    kit: Any, full: Callable[[], Any], stored_in: Callable[[Any], Any], tokenizer: Any, of: str, place: Place
) -> None:
    policy = read_policy(kit.stored(kit.policy()))
    for form in FORMS:
        world = full()
        assert put(getattr(world, of), place, form) > 0
        if of == "public":
            new = content_id(canonical_bytes(world.public))
            world.objects[new] = canonical_bytes(world.public)
            world.prompt["evidence_capsule_refs"][0]["id"] = new
        store = stored_in(world)
        given = Given(
            now=NOW, store=store, project="demo", policy=policy, provider="local", tokenizer=tokenizer
        )
        for record in (world.prompt, world.public):
            expect = content_id(canonical_bytes(record))
            for some in (
                given,
                replace(given, project="other", provider="cloud"),
                Given(now=NOW, store=store),
            ):
                for text in outputs(kit.wire(record), some, None):
                    assert CANARY not in text
            for text in outputs(kit.stored(record), given, expect):
                assert CANARY not in text


@pytest.mark.parametrize(
    ("of", "place"), PLACES, ids=lambda part: part if isinstance(part, str) else ".".join(part)
)
def test_a_record_that_cannot_be_read_does_not_say_why_in_its_own_words(
    full: Callable[[], Any], of: str, place: Place
) -> None:
    value = copy.deepcopy(getattr(full(), of))
    put(value, place, FORMS[0])
    cls: type[Record] = PromptCapsule if of == "prompt" else EvidenceCapsule
    if not check_value(cls, value):
        assert to_value(from_value(cls, value)) == value  # free text: nothing is wrong with it
        return
    assert CANARY not in said(lambda: from_value(cls, value))


def test_the_helpers_and_contracts_do_not_either() -> None:
    contract = EquivalenceContract(
        schema_id="equivalence-contract/1",
        contract_id="c",
        version=1,
        relation="the same",
        subject="prompt-capsule/1",
        projection="fields/1",
        ignores=(),
        uses=("inspect",),
        project="demo",
        salt=0,
        expires_at="2025-01-01T00:00:00Z",
    )
    calls: list[Callable[[], Any]] = [
        lambda: require_content_id(CANARY, "/expect"),
        lambda: parse_time(CANARY, "/now"),
        lambda: read_policy(canonical_bytes({"schema_id": f"{CANARY} private"})),
        lambda: replace(contract, ignores=(CANARY,)),
        lambda: replace(contract, uses=(CANARY,)),
        lambda: from_value(EquivalenceContract, to_value(contract) | {"subject": CANARY}),
    ]

    for call in calls:
        assert CANARY not in said(call)


@pytest.mark.parametrize(
    ("value", "words", "as_schema"),
    [
        ("b3:short", "text of 8 characters", "text of 8 characters"),
        ("", "text of 0 characters", "text of 0 characters"),
        ("🧪", "text of 1 characters", "text of 1 characters"),
        (7, "int", "int"),
        ("prompt-capsule/2", "text of 16 characters", "prompt-capsule/2"),
        ("a/123456", "text of 8 characters", "a/123456"),
        ("a/1234567", "text of 9 characters", "text of 9 characters"),
        ("a/1\n", "text of 4 characters", "text of 4 characters"),
        ("A/1", "text of 3 characters", "text of 3 characters"),
        (f"{'a' * 41}/1", "text of 43 characters", f"{'a' * 41}/1"),
        (f"{'a' * 42}/1", "text of 44 characters", "text of 44 characters"),
    ],
)
def test_what_is_said_of_a_value(value: object, words: str, as_schema: str) -> None:
    assert (described(value), described_schema_id(value)) == (words, as_schema)
