"""Equivalence contracts: what may be ignored, what a key depends on, what a projection is.

The per-field tests are generated from the dataclasses: every leaf of both capsules is changed in every way
that its shape knows, so a new field is covered on the day that it appears.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsules.canonical import canonical_bytes
from capsules.codec import digest_of, preimage, read_stored, to_value
from capsules.content_id import content_id
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
    without_fields,
)
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule
from capsules.shape import Array, Nested, Nullable, Record, shape_of

PROMPT, EVIDENCE = "prompt-capsule/1", "evidence-capsule/1"


IGNORABLE = {
    subject: [path for path in field_paths(cls) if not is_protected(subject, path)]
    for subject, cls in SUBJECTS.items()
}


def test_paths_are_all_fields_of_the_dataclasses() -> None:
    paths = field_paths(PromptCapsule)
    assert len(paths) == len(set(paths)) == 58
    assert {"capsule_id", "authority", "authority.expires_at", "rewrites.dropped.start"} <= set(paths)
    assert len(field_paths(EvidenceCapsule)) == 55


@pytest.mark.parametrize("subject", SUBJECTS)
def test_what_may_never_be_ignored_is_refused_with_all_that_holds_it(eq: Any, subject: str) -> None:
    for kept in NEVER_IGNORED[subject]:
        parts = kept.split(".")
        holders = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
        inside = {path for path in field_paths(SUBJECTS[subject]) if path.startswith(f"{kept}.")}
        for path in holders | inside:
            assert eq.refusal(lambda path=path: eq.contract(subject, path)) == (
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
def test_all_else_may_be_ignored_one_by_one_and_together(eq: Any, subject: str) -> None:
    for path in IGNORABLE[subject]:
        assert eq.contract(subject, path).ignores == (path,)
    assert eq.contract(subject, *IGNORABLE[subject])


def test_other_refusals(eq: Any) -> None:
    assert eq.refusal(lambda: eq.contract(PROMPT, "capsule-id")) == (
        "schema.word",
        "/ignores/0",
    )
    assert eq.refusal(lambda: eq.contract(PROMPT, "exact_spans")) == (
        "schema.word",
        "/ignores/0",
    )
    assert eq.refusal(lambda: eq.contract(ignores=("task", "capsule_id"))) == (
        "schema.order",
        "/ignores/1",
    )
    assert eq.refusal(lambda: eq.contract("alias/1")) == ("schema.word", "/subject")
    assert eq.refusal(lambda: eq.contract(projection="text/1")) == (
        "schema.word",
        "/projection",
    )
    for use in ("evidence", "kv", "tokens", "anything"):
        assert eq.refusal(lambda use=use: eq.contract(uses=(use,))) == (
            "alias.use.denied",
            "/uses/0",
        )
        assert use not in USES


def test_a_contract_is_hashed_like_a_capsule(eq: Any) -> None:
    made = eq.contract(PROMPT, "capsule_id")
    assert read_stored(preimage(made), EquivalenceContract) == made
    assert digest_of(made) == content_id(canonical_bytes(to_value(made)))


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
def test_a_projection_of_a_capsule_is_idempotent(
    eq: Any, example: Any, subject: str, data: st.DataObject
) -> None:
    made = eq.contract(subject, *data.draw(st.sets(st.sampled_from(IGNORABLE[subject]), max_size=6)))
    once = projected(made, to_value(eq.member(example, subject).capsule))
    assert projected(made, once) == once


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
def test_every_field_that_is_not_ignored_is_in_the_key(eq: Any, example: Any, subject: str) -> None:
    """With nothing ignored, and with each ignorable field ignored: 100 % of the mutations, one by one."""
    capsule = eq.member(example, subject).capsule
    value = to_value(capsule)
    changed = list(mutations(type(capsule), value))
    assert {path for path, _ in changed} >= leaves(type(capsule))
    made = eq.contract(subject)
    assert eq.key_of(made, value) == class_key(made, eq.member(example, subject))
    keys = [eq.key_of(made, value), *(eq.key_of(made, other) for _, other in changed)]
    assert keys.count(keys[0]) == 1
    for ignored in IGNORABLE[subject]:
        made = eq.contract(subject, ignored)
        base = projected(made, value)
        for path, other in changed:
            seen = projected(made, other)
            if covers(path, ignored):
                assert seen == base, (ignored, path)
            else:
                assert seen != base, (ignored, path)


def test_every_protected_field_is_in_the_key_whatever_is_ignored(eq: Any, example: Any) -> None:
    for subject in SUBJECTS:
        made = eq.contract(subject, *IGNORABLE[subject])
        capsule = eq.member(example, subject).capsule
        value = to_value(capsule)
        for path, other in mutations(type(capsule), value):
            protected = any(covers(path, kept) or covers(kept, path) for kept in NEVER_IGNORED[subject])
            assert (eq.key_of(made, other) != eq.key_of(made, value)) == protected, path
