"""Vectors of ``verify``: references, projects, labels and age."""

from __future__ import annotations

from collections.abc import Iterator

import kit
from kit import IDS, World, span, stored
from recipes import Vector
from verify_recipe import put, verify

from capsules.content_id import content_id


def cases() -> Iterator[Vector]:
    """All of them."""
    yield from _other_objects()
    yield from _order_of_evidence()
    yield from _projects()
    yield from _age()
    yield from _undetermined()
    yield from _snippets()


def _other_objects() -> Iterator[Vector]:
    """A reference to something else than the evidence that it was made for."""
    for name, late, code, why in (
        (
            "resealed",
            _resealed,
            "evidence.ref.missing",
            "evidence changed and sealed anew is not what the prompt refers to",
        ),
        ("type", _prompt_as_evidence, "object.type.mismatch", "a prompt where evidence is expected"),
        ("source", _source_as_evidence, "json.bom", "a source where evidence is expected"),
    ):
        yield verify(f"verify-evidence-{name}_fail", why, None, (code,), late=late)
    yield verify(
        "verify-evidence-shape_fail",
        "evidence with a field too many",
        put("public/note", "x"),
        ("schema.field.unknown",),
    )


def _resealed(world: World) -> None:
    world.public["confidence"]["bp"] = 1
    world.objects[content_id(stored(world.public))] = stored(world.public)
    world.prompt["evidence_capsule_refs"][0]["id"] = content_id(b"what it was before")


def _prompt_as_evidence(world: World) -> None:
    data = stored(kit.prompt())
    world.objects[content_id(data)] = data
    world.prompt["evidence_capsule_refs"][1]["id"] = content_id(data)


def _source_as_evidence(world: World) -> None:
    world.prompt["evidence_capsule_refs"][1]["id"] = IDS["notes"]


def _order_of_evidence() -> Iterator[Vector]:
    """One capsule a level, the lower levels first."""
    yield verify(
        "verify-evidence-order_fail",
        "a higher level before a lower one",
        None,
        ("schema.order",),
        late=lambda world: world.prompt["evidence_capsule_refs"].reverse(),
    )
    yield verify(
        "verify-evidence-two-of-level_fail",
        "two capsules of one level",
        put("internal/visibility/level", "public"),
        ("schema.order",),
    )
    yield verify(
        "verify-evidence-ref-twice_fail",
        "the same capsule twice",
        None,
        ("schema.duplicate",),
        late=_public_twice,
    )


def _public_twice(world: World) -> None:
    world.prompt["evidence_capsule_refs"][1]["id"] = content_id(stored(world.public))


def _projects() -> Iterator[Vector]:
    codes = ("scope.project.mismatch",)
    yield verify("verify-project-asked_fail", "another project was asked for", None, codes, project="other")
    yield verify("verify-project-case_fail", "projects are compared exactly", None, codes, project="Demo")
    yield verify(
        "verify-project-evidence_fail",
        "evidence of another project",
        put("internal/visibility/project", "other"),
        codes,
    )
    yield verify(
        "verify-project-authority_fail",
        "an authority of another project",
        put("prompt/authority/project", "other"),
        codes,
    )
    yield verify(
        "verify-project-evidence-asked_fail",
        "evidence by itself, another project asked for",
        None,
        codes,
        of="public",
        project="other",
    )


def _age() -> Iterator[Vector]:
    codes, end = ("freshness.expired",), "2024-07-01T00:00:00Z"
    why = "the second at which the evidence expires"
    yield verify("verify-freshness_fail", why, None, codes, now=end)
    why = "the same, evidence by itself"
    yield verify("verify-freshness-evidence_fail", why, None, codes, now=end, of="internal")


SNIPPET = "prompt/surface_snippet/derived_from"


def _undetermined() -> Iterator[Vector]:
    """What names no span has no label."""
    codes = ("label.undetermined",)
    claim = put("public/claim_candidates/0/span_ids", [])
    yield verify("verify-claim-undetermined_fail", "a claim that names no span", claim, codes, of="public")
    yield verify("verify-snippet-undetermined_fail", "a snippet that names no span", put(SNIPPET, []), codes)


def _snippets() -> Iterator[Vector]:
    """A public snippet needs public spans, which must be kept."""
    lamp = span("notes", "the lamp 🧪 was on.")["span_id"]
    valve = span("valve", "The valve shut at 5 bar.")["span_id"]
    crew = span("valve", "The crew left at noon.")["span_id"]
    for name, spans, code, why in (
        ("lower", [lamp], "label.flow.denied", "a public snippet from internal evidence"),
        ("join", [valve, lamp], "label.flow.denied", "the join of its spans counts, not the lowest"),
        ("dangling", [crew], "schema.reference", "a snippet from a span that is not kept"),
    ):
        yield verify(f"verify-snippet-{name}_fail", why, put(SNIPPET, spans), (code,))
