"""Vectors of ``verify``: references, projects, labels and age."""

from __future__ import annotations

from collections.abc import Iterator

import kit
from kit import IDS, World, span, stored
from recipes import Vector
from verify_recipe import Change, put, verify

from capsules.content_id import content_id


def cases() -> Iterator[Vector]:
    """All of them."""

    def level(name: str, value: str) -> Change:
        return put(f"{name}/visibility/level", value)

    def swapped_refs(world: World) -> None:
        world.prompt["evidence_capsule_refs"].reverse()

    def prompt_as_evidence(world: World) -> None:
        data = stored(kit.prompt())
        world.objects[content_id(data)] = data
        world.prompt["evidence_capsule_refs"][1]["id"] = content_id(data)

    def source_as_evidence(world: World) -> None:
        world.prompt["evidence_capsule_refs"][1]["id"] = IDS["notes"]

    def resealed(world: World) -> None:
        world.public["confidence"]["bp"] = 1
        world.objects[content_id(stored(world.public))] = stored(world.public)
        world.prompt["evidence_capsule_refs"][0]["id"] = content_id(b"what it was before")

    def twice(world: World) -> None:
        ref = dict(world.prompt["evidence_capsule_refs"][1], id=content_id(stored(world.public)))
        world.prompt["evidence_capsule_refs"] = [world.prompt["evidence_capsule_refs"][0], ref]

    expired = "2024-07-01T00:00:00Z"
    snippet = "prompt/surface_snippet/derived_from"
    lamp = span("notes", "the lamp 🧪 was on.")["span_id"]
    yield verify(
        "verify-evidence-resealed_fail",
        "evidence changed and sealed anew is not what the prompt refers to",
        None,
        ("evidence.ref.missing",),
        late=resealed,
    )
    yield verify(
        "verify-evidence-type_fail",
        "a prompt where evidence is expected",
        None,
        ("object.type.mismatch",),
        late=prompt_as_evidence,
    )
    yield verify(
        "verify-evidence-source_fail",
        "a source where evidence is expected",
        None,
        ("json.bom",),
        late=source_as_evidence,
    )
    yield verify(
        "verify-evidence-shape_fail",
        "evidence with a field too many",
        put("public/note", "x"),
        ("schema.field.unknown",),
    )
    yield verify(
        "verify-evidence-order_fail",
        "a higher level before a lower one",
        None,
        ("schema.order",),
        late=swapped_refs,
    )
    yield verify(
        "verify-evidence-two-of-level_fail",
        "two capsules of one level",
        level("internal", "public"),
        ("schema.order",),
    )
    yield verify(
        "verify-evidence-ref-twice_fail", "the same capsule twice", None, ("schema.duplicate",), late=twice
    )
    yield verify(
        "verify-project-asked_fail",
        "another project was asked for",
        None,
        ("scope.project.mismatch",),
        project="other",
    )
    yield verify(
        "verify-project-case_fail",
        "projects are compared exactly",
        None,
        ("scope.project.mismatch",),
        project="Demo",
    )
    yield verify(
        "verify-project-evidence_fail",
        "evidence of another project",
        put("internal/visibility/project", "other"),
        ("scope.project.mismatch",),
    )
    yield verify(
        "verify-project-authority_fail",
        "an authority of another project",
        put("prompt/authority/project", "other"),
        ("scope.project.mismatch",),
    )
    yield verify(
        "verify-project-evidence-asked_fail",
        "evidence by itself, another project asked for",
        None,
        ("scope.project.mismatch",),
        of="public",
        project="other",
    )
    yield verify(
        "verify-freshness_fail",
        "the second at which the evidence expires",
        None,
        ("freshness.expired",),
        now=expired,
    )
    yield verify(
        "verify-freshness-evidence_fail",
        "the same, evidence by itself",
        None,
        ("freshness.expired",),
        now=expired,
        of="internal",
    )
    yield verify(
        "verify-claim-undetermined_fail",
        "a claim that names no span",
        put("public/claim_candidates/0/span_ids", []),
        ("label.undetermined",),
        of="public",
    )
    yield verify(
        "verify-snippet-undetermined_fail",
        "a snippet that names no span",
        put(snippet, []),
        ("label.undetermined",),
    )
    yield verify(
        "verify-snippet-lower_fail",
        "a public snippet from internal evidence",
        put(snippet, [lamp]),
        ("label.flow.denied",),
    )
    yield verify(
        "verify-snippet-join_fail",
        "the join of its spans counts, not the lowest",
        put(snippet, [span("valve", "The valve shut at 5 bar.")["span_id"], lamp]),
        ("label.flow.denied",),
    )
    yield verify(
        "verify-snippet-dangling_fail",
        "a snippet from a span that is not kept",
        put(snippet, [span("valve", "The crew left at noon.")["span_id"]]),
        ("schema.reference",),
    )
