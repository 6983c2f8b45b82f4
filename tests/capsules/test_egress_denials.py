"""Everything that stands against a send, what raises included; and the one exemption."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from capsules.content_id import content_id
from capsules.decision import DeniedError
from capsules.egress import authorize, exempt, release
from capsules.omission import REASONS


def put(path: str, value: Any) -> Callable[[Any], None]:
    """Sets a value of a world: ``prompt/authority/max_level``."""

    def edit(world: Any) -> None:
        name, *keys, last = path.split("/")
        place = getattr(world, name)
        for key in keys:
            place = place[int(key) if key.isdigit() else key]
        place[last] = value

    return edit


DENIED: dict[str, tuple[dict[str, Any], dict[str, Any], set[str]]] = {
    "a provider that no rule lists": ({}, {"provider": "far"}, {"provider.unauthorized"}),
    "a provider that the authority does not list": (
        {"authority": {"providers": ["cloud"]}}, {}, {"provider.unauthorized"}),
    "an operation that neither lists": (
        {}, {"operation": "train"}, {"authority.scope_exceeded", "provider.unauthorized"}),
    "an operation that the authority does not cover": (
        {"authority": {"operations": ["inspect"]}}, {}, {"authority.scope_exceeded"}),
    "another project": ({}, {"project": "other"}, {"scope.project.mismatch"}),
    "evidence of another project": (
        {"edit": put("internal/visibility/project", "other")}, {}, {"scope.project.mismatch"}),
    "a project that the policy does not list": (
        {"projects": ["other"]}, {}, {"scope.project.mismatch"}),
    "evidence above the authority": (
        {"authority": {"max_level": "public"}}, {}, {"authority.scope_exceeded"}),
    "examples above the authority": (
        {}, {"level": "confidential"}, {"authority.scope_exceeded", "label.flow.denied"}),
    "a snippet of no origin (38)": (
        {"edit": put("prompt/surface_snippet/derived_from", [])}, {}, {"label.undetermined"}),
    "a claim of no origin (38)": (
        {"edit": put("internal/claim_candidates/0/span_ids", [])}, {}, {"label.undetermined"}),
    "a snippet below its origin": (
        {"edit": lambda w: (put("prompt/surface_snippet/derived_from",
                                [w.internal["exact_spans"][0]["span_id"]])(w))}, {}, {"label.flow.denied"}),
    "a schema that the policy does not support": (
        {"supported_schemas": ["prompt-capsule/1"]}, {}, {"schema.major.unsupported"}),
    "a runtime that the policy does not have": ({"runtime": "0.9"}, {}, {"runtime.unsupported"}),
    "a field of another shape": ({"edit": put("prompt/task", 7)}, {}, {"schema.field.type"}),
    "no capsule": ({}, {"capsule": None}, {"authority.missing"}),
}  # fmt: skip


@pytest.mark.parametrize("case", DENIED)
def test_each_reason_denies_with_its_codes(routing: Any, case: str) -> None:
    changes, asked, expected = DENIED[case]
    s = routing.scene(**changes)

    made = authorize(s.ask(**asked), s.gate)

    assert set(routing.codes(made)) == expected
    assert made.evaluated
    with pytest.raises(DeniedError) as caught:
        made.require()
    assert (caught.value.decision, caught.value.capsule) == (made.id, asked.get("capsule", s.capsule))
    assert caught.value.code == min(expected)


@pytest.mark.parametrize("which", ["capsule", "evidence", "source", "another"])
def test_what_was_revoked_is_not_sent(routing: Any, which: str) -> None:
    s = routing.scene()
    ids = {
        "capsule": s.capsule,
        "evidence": content_id(routing.kit.stored(routing.kit.World().seal().internal)),
        "source": routing.kit.IDS["notes"],
        "another": content_id(b"another"),
    }
    denied = dataclasses.replace(s.policy, revoked=(ids[which],))

    made = authorize(s.ask(), dataclasses.replace(s.gate, policy=denied))

    assert routing.codes(made) == (() if which == "another" else ("authority.revoked",))


@pytest.mark.parametrize("projects", [*itertools.product(("p", "q", "r"), repeat=3)], ids="".join)
def test_three_projects_never_mix(routing: Any, projects: tuple[str, str, str]) -> None:
    asked, prompt, evidence = projects

    def edit(world: Any) -> None:
        world.prompt["project"] = world.prompt["authority"]["project"] = prompt
        world.public["visibility"]["project"] = world.internal["visibility"]["project"] = evidence

    everywhere = routing.provider("local", projects=["p", "q", "r"])
    s = routing.scene([everywhere], edit=edit, projects=["p", "q", "r"])

    made = authorize(s.ask(project=asked), s.gate)

    assert routing.codes(made) == (() if len(set(projects)) == 1 else ("scope.project.mismatch",))


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_no_reason_excuses_required_evidence_that_is_missing(routing: Any, reason: str) -> None:
    kit = routing.kit
    item = None if reason == "visibility.denied" else kit.span("valve", "The tank held 40 litres.")["span_id"]
    tokens = 7
    if reason == "retrieval.outside_pool":
        item, tokens = content_id(b"[]"), None
    gone = kit.omission(item, reason, tokens, required=True)

    def edit(world: Any) -> None:
        spans = len(world.public["exact_spans"]) + len(world.internal["exact_spans"])
        items = spans + 3 + (reason != "retrieval.outside_pool")
        world.prompt |= {"omissions": [gone], "candidates": {"items": items, "tokens": 120}}

    s = routing.scene(edit=edit)

    assert "evidence.required.omitted" in routing.codes(authorize(s.ask(), s.gate))


@pytest.mark.parametrize("lost", ["capsule", "evidence", "source"])
def test_what_is_not_in_the_store_is_not_sent(routing: Any, lost: str) -> None:
    s = routing.scene()
    kit = routing.kit
    named = {
        "capsule": (s.capsule, "object.missing"),
        "evidence": (content_id(kit.stored(kit.World().seal().public)), "evidence.ref.missing"),
        "source": (kit.IDS["valve"], "source.missing"),
    }
    gone, code = named[lost]
    s.store._objects.pop(gone)

    assert routing.codes(authorize(s.ask(), s.gate)) == (code,)


def test_with_a_tokenizer_the_rendered_prompt_must_be_plain_and_fit(routing: Any) -> None:
    class Letters:
        tokenizer_id = "hf:example"
        tokenizer_digest = content_id(b"a tokenizer")
        bos_id: int | None = None
        control_ids = frozenset({ord("W")})  # "When did the valve shut?" begins with it

        def encode(self, text: str) -> list[int]:
            return [ord(letter) for letter in text]

        def decode(self, ids: Any) -> str:
            return "".join(map(chr, ids))

    s = routing.scene()
    made = authorize(s.ask(), dataclasses.replace(s.gate, tokenizer=Letters()))

    assert routing.codes(made) == ("render.control_token",)
    assert made.record.levels == ("public", "internal")


# ---- no capsule: the exemption


@pytest.mark.parametrize(
    ("providers", "asked", "expected"),
    [
        ({}, {}, set()),
        ({"max_level": "public"}, {}, set()),
        ({"endpoint": "http://127.0.0.1:1"}, {}, {"label.undetermined"}),
        ({"operations": []}, {}, {"provider.unauthorized"}),
        ({"projects": []}, {}, {"provider.unauthorized"}),
        ({}, {"provider": "cloud"}, {"label.undetermined", "provider.unauthorized"}),
        ({}, {"project": "else"}, {"provider.unauthorized", "scope.project.mismatch"}),
        ({}, {"route": ("cloud",)}, {"provider.route.unlisted"}),
        ({}, {"capsule": content_id(b"one")}, {"label.undetermined"}),
    ],
)
def test_a_body_without_a_capsule_goes_to_this_machine_alone(
    routing: Any, providers: dict[str, Any], asked: dict[str, Any], expected: set[str]
) -> None:
    s = routing.scene([routing.provider("local", **providers)])

    made = exempt(s.ask(**({"capsule": None} | asked)), s.gate)

    assert set(routing.codes(made)) == expected
    assert made.record.exemption == "unlabelled"
    if not expected:
        assert release(made.require(), s.body, s.clock).endpoint is None


def test_a_listed_provider_that_is_not_local_takes_nothing_without_a_label(routing: Any) -> None:
    s = routing.scene([routing.provider("cloud", "restricted")])
    assert routing.codes(exempt(s.ask("cloud", capsule=None), s.gate)) == ("label.undetermined",)
