"""Equivalence contracts: what may be ignored, what a key depends on, what a projection is.

The per-field tests are generated from the dataclasses: every leaf of both capsules is changed in every way
that its shape knows, so a new field is covered on the day that it appears.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsules.canonical import canonical_bytes
from capsules.codec import digest_of, preimage, read_stored, to_value
from capsules.content_id import content_id, derived_key
from capsules.equivalence import (
    NEVER_IGNORED,
    PROJECTIONS,
    SUBJECTS,
    USES,
    EquivalenceContract,
    class_key,
    field_paths,
    is_protected,
    projected,
    revoked,
    without_fields,
)
from capsules.errors import SchemaError
from capsules.evidence import EvidenceCapsule
from capsules.member import Member
from capsules.prompt import EvidenceRef, PromptCapsule
from capsules.shape import Array, Nested, Nullable, Record, shape_of
from capsules.visibility import LEVELS, Visibility

PROMPT, EVIDENCE = "prompt-capsule/1", "evidence-capsule/1"
IGNORABLE = {
    subject: [path for path in field_paths(cls) if not is_protected(subject, path)]
    for subject, cls in SUBJECTS.items()
}


def contract(subject: str = PROMPT, *ignores: str, **changes: Any) -> EquivalenceContract:
    made = EquivalenceContract(
        schema_id="equivalence-contract/1",
        contract_id="same-question",
        version=1,
        relation="the same question over the same evidence",
        subject=subject,
        projection="fields/1",
        ignores=tuple(sorted(ignores)),
        uses=("group", "inspect", "substitute"),
        project="demo",
        salt=0,
        expires_at="2025-06-01T00:00:00Z",
    )
    return replace(made, **changes)


def refusal(make: Any) -> tuple[str, str]:
    with pytest.raises(SchemaError) as refused:
        make()
    return refused.value.code, refused.value.at


def member(example: Any, subject: str) -> Member:
    if subject == EVIDENCE:
        return Member(capsule=example.evidence)
    return Member(capsule=example.prompt, evidence=(example.evidence,))


# --- what may be ignored ---


def test_paths_are_all_fields_of_the_dataclasses() -> None:
    paths = field_paths(PromptCapsule)
    assert len(paths) == len(set(paths)) == 58
    assert {"capsule_id", "authority", "authority.expires_at", "rewrites.dropped.start"} <= set(paths)
    assert len(field_paths(EvidenceCapsule)) == 55


@pytest.mark.parametrize("subject", SUBJECTS)
def test_what_may_never_be_ignored_is_refused_with_all_that_holds_it(subject: str) -> None:
    for kept in NEVER_IGNORED[subject]:
        parts = kept.split(".")
        holders = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
        inside = {path for path in field_paths(SUBJECTS[subject]) if path.startswith(f"{kept}.")}
        for path in holders | inside:
            assert refusal(lambda path=path: contract(subject, path)) == (
                "alias.ignore.protected",
                "/ignores/0",
            )


def test_the_six_things_that_are_never_ignorable() -> None:
    protected = {path for path in field_paths(PromptCapsule) if is_protected(PROMPT, path)}
    assert protected == {
        *("schema_id", "project"),
        *("authority", "authority.principal", "authority.project", "authority.operations"),
        *("authority.providers", "authority.max_level"),
        *(
            "output_contract",
            "output_contract.name",
            "output_contract.max_quotes",
            "output_contract.min_chars",
        ),
        *("token_budget", "token_budget.tokenizer_id", "token_budget.tokenizer_digest"),
        *("surface_snippet", "surface_snippet.level"),
    }
    protected = {path for path in field_paths(EvidenceCapsule) if is_protected(EVIDENCE, path)}
    assert protected == {"schema_id", "visibility", "visibility.level", "visibility.project"}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_all_else_may_be_ignored_one_by_one_and_together(subject: str) -> None:
    for path in IGNORABLE[subject]:
        assert contract(subject, path).ignores == (path,)
    assert contract(subject, *IGNORABLE[subject])


def test_other_refusals() -> None:
    assert refusal(lambda: contract(PROMPT, "capsule-id")) == ("schema.word", "/ignores/0")
    assert refusal(lambda: contract(PROMPT, "exact_spans")) == ("schema.word", "/ignores/0")
    assert refusal(lambda: contract(ignores=("task", "capsule_id"))) == ("schema.order", "/ignores/1")
    assert refusal(lambda: contract("alias/1")) == ("schema.word", "/subject")
    assert refusal(lambda: contract(projection="text/1")) == ("schema.word", "/projection")
    for use in ("evidence", "kv", "tokens", "anything"):
        assert refusal(lambda use=use: contract(uses=(use,))) == ("alias.use.denied", "/uses/0")
        assert use not in USES


def test_a_contract_is_hashed_like_a_capsule() -> None:
    made = contract(PROMPT, "capsule_id")
    assert read_stored(preimage(made), EquivalenceContract) == made
    assert digest_of(made) == content_id(canonical_bytes(to_value(made)))


# --- the projection ---


def test_fields_are_left_out_by_path_through_arrays() -> None:
    value = {"a": {"b": 1, "c": [{"d": 2, "e": 3}, {"d": 4}]}, "b": [1, "a"], "ab": None}
    assert without_fields(value, ("a.c.d", "b")) == {"a": {"b": 1, "c": [{"e": 3}, {}]}, "ab": None}
    assert without_fields(value, ("a",)) == {"b": [1, "a"], "ab": None}
    assert without_fields(value, ()) == value
    assert value["b"] == [1, "a"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


@given(JSON, st.lists(st.sampled_from(["a", "b", "c", "a.b", "b.a", "a.a.c", "c.b"]), max_size=4))
@settings(max_examples=200, deadline=None)
def test_a_projection_is_idempotent_and_pure(value: Any, ignores: list[str]) -> None:
    before = canonical_bytes(value)
    for projection in PROJECTIONS.values():
        once = projection(value, tuple(ignores))
        assert projection(once, tuple(ignores)) == once
        assert canonical_bytes(value) == before


@given(st.sampled_from([PROMPT, EVIDENCE]), st.data())
@settings(max_examples=40, deadline=None)
def test_a_projection_of_a_capsule_is_idempotent(example: Any, subject: str, data: st.DataObject) -> None:
    made = contract(subject, *data.draw(st.sets(st.sampled_from(IGNORABLE[subject]), max_size=6)))
    once = projected(made, to_value(member(example, subject).capsule))
    assert projected(made, once) == once


# --- per-field mutation, generated from the dataclasses ---


def mutations(cls: type[Record], value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(dotted path, the whole value with one thing changed) for every field of a record class."""
    for name, node in shape_of(cls).nodes.items():
        here = f"{path}.{name}" if path else name
        for where, changed in node_mutations(node, value[name], here):
            yield where, {**value, name: changed}


def node_mutations(node: Any, value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(node, Nullable):
        if value is not None:
            yield path, None
            yield from node_mutations(node.inner, value, path)
        else:
            yield path, filler(node.inner)
    elif isinstance(node, Array):
        yield path, [*value, filler(node.item)]
        if value:
            yield path, value[:-1]
        if len(value) > 1 and value[0] != value[1]:
            yield path, [value[1], value[0], *value[2:]]
        for index, item in enumerate(value):
            for where, changed in node_mutations(node.item, item, path):
                yield where, [*value[:index], changed, *value[index + 1 :]]
    elif isinstance(node, Nested):
        yield from mutations(node.cls, value, path)
    elif isinstance(value, bool):
        yield path, not value
    elif isinstance(value, int):
        yield path, value + 1
    else:
        yield path, f"{value}x"
        yield path, f"X{value[1:]}"


def filler(node: Any) -> Any:
    """Some value of a shape; a projection does not ask whether it is valid."""
    if isinstance(node, Nullable):
        return None
    if isinstance(node, Array):
        return []
    if isinstance(node, Nested):
        return {name: filler(inner) for name, inner in shape_of(node.cls).nodes.items()}
    return "filler"


def key_of(made: EquivalenceContract, value: Any, level: str = "internal") -> str:
    """The formula, written out once more."""
    parts = (digest_of(made), made.project, level)
    return derived_key(
        "alias/v1", *(part.encode() for part in parts), canonical_bytes(projected(made, value))
    )


def covers(path: str, ignored: str) -> bool:
    return path == ignored or path.startswith(f"{ignored}.")


def leaves(cls: type[Record], path: str = "") -> set[str]:
    """The dotted paths that hold no record."""
    return {
        path
        for path in field_paths(cls)
        if not any(other.startswith(f"{path}.") for other in field_paths(cls))
    }


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_field_that_is_not_ignored_is_in_the_key(example: Any, subject: str) -> None:
    """With nothing ignored, and with each ignorable field ignored: 100 % of the mutations, one by one."""
    capsule = member(example, subject).capsule
    value = to_value(capsule)
    changed = list(mutations(type(capsule), value))
    assert {path for path, _ in changed} >= leaves(type(capsule))
    made = contract(subject)
    assert key_of(made, value) == class_key(made, member(example, subject))
    keys = [key_of(made, value), *(key_of(made, other) for _, other in changed)]
    assert keys.count(keys[0]) == 1
    for ignored in IGNORABLE[subject]:
        made = contract(subject, ignored)
        base = projected(made, value)
        for path, other in changed:
            seen = projected(made, other)
            if covers(path, ignored):
                assert seen == base, (ignored, path)
            else:
                assert seen != base, (ignored, path)


def test_every_protected_field_is_in_the_key_whatever_is_ignored(example: Any) -> None:
    for subject in SUBJECTS:
        made = contract(subject, *IGNORABLE[subject])
        capsule = member(example, subject).capsule
        value = to_value(capsule)
        for path, other in mutations(type(capsule), value):
            protected = any(covers(path, kept) or covers(kept, path) for kept in NEVER_IGNORED[subject])
            assert (key_of(made, other) != key_of(made, value)) == protected, path


# --- class keys of real capsules ---


def variants(example: Any) -> dict[str, Member]:
    """Valid prompts that differ from the example in one thing each."""
    prompt = example.prompt

    def made(**changes: Any) -> Member:
        return Member(capsule=replace(prompt, **changes), evidence=(example.evidence,))

    def with_evidence(**changes: Any) -> Member:
        evidence = replace(example.evidence, **changes)
        refs = (EvidenceRef(id=digest_of(evidence), required=True),)
        return Member(capsule=replace(prompt, evidence_capsule_refs=refs), evidence=(evidence,))

    budget, authority = prompt.token_budget, prompt.authority
    return {
        "example": made(),
        "capsule_id": made(capsule_id="a:b:c:d"),
        "task": made(task="other"),
        "text": made(active_object=replace(prompt.active_object, text="How much iron a day?")),
        "ref": made(active_object=replace(prompt.active_object, ref="q-2")),
        "snippet": made(surface_snippet=replace(prompt.surface_snippet, text="A leaflet.")),
        "snippet level": made(surface_snippet=replace(prompt.surface_snippet, level="confidential")),
        "constraints": made(constraints=prompt.constraints[:1]),
        "principal": made(authority=replace(authority, principal="reader-2")),
        "operations": made(authority=replace(authority, operations=("answer",))),
        "providers": made(authority=replace(authority, providers=("cloud", "local"))),
        "max_level": made(authority=replace(authority, max_level="restricted")),
        "not_before": made(authority=replace(authority, not_before="2024-01-02T00:00:00Z")),
        "expires_at": made(authority=replace(authority, expires_at="2026-01-02T00:00:00Z")),
        "contract": made(output_contract=replace(prompt.output_contract, max_quotes=4)),
        "tokenizer": made(token_budget=replace(budget, tokenizer_digest=content_id(b"other"))),
        "tokenizer name": made(token_budget=replace(budget, tokenizer_id="hf:other")),
        "window": made(token_budget=replace(budget, window=4_096)),
        "omissions": made(omissions=prompt.omissions[:-1]),
        "rewrites": made(rewrites=()),
        "evidence": with_evidence(confidence=replace(example.evidence.confidence, bp=1)),
        "evidence level": with_evidence(visibility=Visibility(level="public", project="demo")),
        "evidence level up": with_evidence(visibility=Visibility(level="restricted", project="demo")),
    }


def test_no_negative_pair_shares_a_key(example: Any) -> None:
    made = variants(example)
    keys = {name: class_key(contract(), each) for name, each in made.items()}
    assert sum(keys[a] == keys[b] for a, b in combinations(keys, 2)) == 0
    keys = {
        name: class_key(contract(PROMPT, "active_object.ref", "capsule_id"), each)
        for name, each in made.items()
    }
    same = {name for name in keys if keys[name] == keys["example"]}
    assert same == {"example", "capsule_id", "ref"}
    assert len(set(keys.values())) == len(keys) - 2


def test_the_label_is_derived_and_in_the_key(example: Any) -> None:
    """Two prompts that differ in nothing that the contract sees, but in the level of their evidence."""
    made = contract(PROMPT, "evidence_capsule_refs")
    keys = set()
    for level in LEVELS:
        evidence = replace(example.evidence, visibility=Visibility(level=level, project="demo"))
        refs = (EvidenceRef(id=digest_of(evidence), required=True),)
        prompt = replace(example.prompt, evidence_capsule_refs=refs)
        each = Member(capsule=prompt, evidence=(evidence,))
        keys.add(class_key(made, each))
        joined = max("internal", level, key=LEVELS.index)
        assert class_key(made, each) == key_of(made, to_value(prompt), joined)
    assert len(keys) == 3  # the snippet is internal, so public evidence gives internal too


def test_equivalence_does_not_carry_over_to_another_contract(example: Any) -> None:
    """a ~ b under the first, b ~ c under the second; no key of the one is a key of the other."""
    made = variants(example)
    first, second = contract(PROMPT, "capsule_id"), contract(PROMPT, "active_object.ref")
    a, b, c = made["capsule_id"], made["example"], made["ref"]
    assert class_key(first, a) == class_key(first, b) != class_key(first, c)
    assert class_key(second, a) != class_key(second, b) == class_key(second, c)
    assert {class_key(first, each) for each in (a, b, c)}.isdisjoint(
        class_key(second, each) for each in (a, b, c)
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"contract_id": "other"},
        {"version": 2},
        {"relation": "something else"},
        {"uses": ()},
        {"salt": 1},
        {"expires_at": "2025-06-02T00:00:00Z"},
    ],
)
def test_any_other_contract_gives_another_key(example: Any, changes: dict[str, Any]) -> None:
    each = member(example, PROMPT)
    assert class_key(contract(**changes), each) != class_key(contract(), each)


def test_a_revoked_contract_gives_another_key(example: Any) -> None:
    each = member(example, EVIDENCE)
    made = contract(EVIDENCE)
    assert revoked(made) == replace(made, salt=1)
    assert class_key(revoked(made), each) != class_key(made, each)


def test_capsules_that_a_contract_does_not_cover(example: Any) -> None:
    assert refusal(lambda: class_key(contract(EVIDENCE), member(example, PROMPT))) == (
        "object.type.mismatch",
        "/schema_id",
    )
    other = contract(project="other")
    assert refusal(lambda: class_key(other, member(example, PROMPT)))[0] == "scope.project.mismatch"
    bare = Member(capsule=replace(example.prompt, evidence_capsule_refs=(), surface_snippet=None))
    assert refusal(lambda: class_key(contract(), bare))[0] == "label.undetermined"
